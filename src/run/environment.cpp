#include "run/environment.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdlib>

#include "device/torch_types.hpp"
#include "image/jpeg.hpp"

namespace driftgate {
namespace {

// The largest k for which the device's matmul still tells 1 + 2^-(k-1) from 1: the significant bits it keeps of an operand.
int observed_bits(Device device, c10::ScalarType dtype) {
  constexpr int kSize = 64;
  const at::Tensor left = at::zeros({kSize, kSize}, c10::kFloat);
  const at::Tensor right = at::zeros({kSize, kSize}, c10::kFloat);
  right[0].fill_(1.0F);
  for (int k = 0; k < kSize; ++k) left[k][0] = 1.0F + (k < 24 ? std::ldexp(1.0F, -k) : 0.0F);
  const c10::Device where = torch_device(device);
  const at::Tensor product = at::mm(left.to(where, dtype), right.to(where, dtype)).to(c10::kCPU, c10::kFloat);
  int bits = 1;
  for (int k = 1; k < 24; ++k)
    if (product[k][k].item<float>() == 1.0F + std::ldexp(1.0F, -k)) bits = k + 1;
  return bits;
}

Json probes(Device device) {
  Json observed = Json::object();
  const std::pair<const char*, c10::ScalarType> policies[] = {{"fp32", c10::kFloat}, {"fp16", c10::kHalf}, {"bf16", c10::kBFloat16}};
  for (const auto& [policy, dtype] : policies) {
    try {
      observed[policy] = observed_bits(device, dtype);
    } catch (const std::exception&) {
      observed[policy] = nullptr;                       // the device has no such matmul
    }
  }
  return observed;
}

Json check(const char* name, bool ok, const std::string& detail) { return Json{{"name", name}, {"ok", ok}, {"detail", detail}}; }

bool adds_right(Device device) {
  const at::Tensor a = at::arange(1, 257, c10::kFloat).to(torch_device(device));
  const at::Tensor sum = (a * 3.0F + 1.0F).sum();
  synchronize(device);
  return sum.item<float>() == 3.0F * 32896.0F + 256.0F;
}

}  // namespace

Json open_device(Device device, bool tf32) {
  Json environment = describe(device);
  environment["jpeg"] = jpeg_library();
  const bool here = available(device);
  Json checks = Json::array({check("available", here, here ? "a tensor was made on it" : "no such device on this host")});
  if (here) {
    environment["flags"] = set_numeric_flags(tf32);
    environment["probes"] = probes(device);
    checks.push_back(check("arithmetic", adds_right(device), "3x + 1 over 256 whole numbers, summed"));
    if (device == Device::mps) {
      const char* fallback = std::getenv("PYTORCH_ENABLE_MPS_FALLBACK");
      const bool off = !fallback || std::string(fallback) == "0";
      checks.push_back(check("fallback_off", off, "PYTORCH_ENABLE_MPS_FALLBACK must be 0: an operator on the CPU is no evidence"));
      const bool native = !environment["host"].value("translated", false);
      checks.push_back(check("native_arm64", native, "the process must not run under Rosetta"));
    }
  }
  environment["gate"] = Json{{"available", here}, {"checks", checks}};
  return environment;
}

}  // namespace driftgate
