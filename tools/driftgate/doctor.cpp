#include <cstdio>

#include "command.hpp"
#include "device/device.hpp"
#include "run/environment.hpp"

namespace driftgate {
namespace {

struct Doctor {
  std::string device;
  bool best = false, json = false;
  Addition addition;

  int run() const {
    const Device where = device.empty() ? best_device() : parse_device(device);
    if (best) {
      std::printf("%s\n", std::string(name(where)).c_str());
      return kSound;
    }
    addition.open(std::string(name(where)));
    const Json environment = open_device(where, false);
    const Json& gate = environment["gate"];
    bool ok = true;
    for (const Json& check : gate["checks"]) ok = ok && check["ok"].get<bool>();
    if (json) {
      std::printf("%s\n", environment.dump(2).c_str());
    } else {
      std::printf("device %s, torch %s\n", std::string(name(where)).c_str(), environment["torch"].get<std::string>().c_str());
      for (const Json& check : gate["checks"])
        std::printf("  %-4s %-14s %s\n", check["ok"].get<bool>() ? "ok" : "FAIL", check["name"].get<std::string>().c_str(),
                    check["detail"].get<std::string>().c_str());
      if (environment.contains("probes"))
        for (const auto& [policy, bits] : environment["probes"].items())
          std::printf("  %s matmul keeps %s significant bits\n", policy.c_str(), bits.dump().c_str());
    }
    if (!gate["available"].get<bool>()) return kSkipped;
    return ok ? kSound : kDrift;
  }
};

}  // namespace

void add_doctor(CLI::App& app, Run& run, const Addition& addition) {
  auto options = std::make_shared<Doctor>();
  options->addition = addition;
  CLI::App* command = app.add_subcommand("doctor", "the device gate and the conditions of the host; exit 77 when the device is absent");
  command->add_option("--device", options->device, "cpu, mps or cuda (default: the best one here)");
  command->add_flag("--best", options->best, "only print the best device here");
  addition.add_options(*command);
  command->add_flag("--json", options->json, "the whole environment as JSON");
  command->footer("Example: driftgate doctor --device mps");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
