#include "sim/detection.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "case/case.hpp"
#include "error.hpp"
#include "evidence/evidence.hpp"
#include "run/worker_process.hpp"
#include "sim/detection_worker.hpp"
#include "tensor/digest.hpp"

namespace driftgate {
namespace {

// What a worker said about one case.
struct Verdict {
  std::string state = "fail", reason, repeat = "skip";
  std::int64_t micros = 0, activations = 0;
  std::vector<int> matched, prepared;

  bool sound() const { return state == "pass" && repeat != "fail"; }
  // A case that passed otherwise does not pass now, and the fault is the reason. A skip would be no alarm to anybody.
  bool alarming(const Fault& fault) const {
    if (state == "fail" || state == "error" || repeat == "fail") return true;
    return state == "untrusted" && reason == "cpu_fallback" && fault.effect.kind == EffectKind::cpu_fallback;
  }
};

Json to_json(const Verdict& v) {
  return {{"state", v.state}, {"reason", v.reason}, {"repeat", v.repeat}, {"micros", v.micros}, {"activations", v.activations},
          {"matched", v.matched}, {"prepared", v.prepared}};
}

Verdict read_verdict(const Json& line, const std::string& where) {
  ObjectReader reader(line, where);
  Verdict v;
  v.state = reader.string("state");
  v.reason = reader.string("reason");
  v.repeat = reader.string("repeat");
  v.micros = reader.integer("micros");
  v.activations = reader.integer("activations");
  for (const Json& index : reader.array("matched")) v.matched.push_back(index.get<int>());
  for (const Json& index : reader.array("prepared")) v.prepared.push_back(index.get<int>());
  reader.finish();
  return v;
}

// One worker process, asked one case at a time, started again when it dies.
class Asker {
 public:
  explicit Asker(const DetectOptions& options) : options_(options) {}

  Verdict ask(const std::string& id, int fault) {
    if (!process_) start();
    const Json order = {{"case", id}, {"fault", fault}};
    Verdict verdict;
    const auto line = process_->send(order.dump() + "\n") ? receive(options_.timeout_seconds) : std::nullopt;
    if (line) return read_verdict(parse_json(*line, "worker"), "worker");
    verdict.reason = timed_out_ ? "timed_out" : "crashed";
    verdict.activations = 1;
    process_.reset();
    return verdict;
  }

 private:
  void start() {
    static std::mutex one_at_a_time;                    // a pipe end must not be inherited by another's child
    const std::lock_guard lock(one_at_a_time);
    process_ = std::make_unique<WorkerProcess>(options_.worker, options_.out / "worker.log");
    if (receive(120)) return;
    throw Error("worker_failed", options_.worker.program, "the worker ends before its first case", "see " + (options_.out / "worker.log").string());
  }

  std::optional<std::string> receive(double seconds) {
    timed_out_ = false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (true) {
      if (auto line = process_->next_line()) return line;
      pollfd waiting{process_->result_fd(), POLLIN, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) {
        timed_out_ = true;
        return std::nullopt;
      }
      if (!process_->receive()) return std::nullopt;
    }
  }

  const DetectOptions& options_;
  std::unique_ptr<WorkerProcess> process_;
  bool timed_out_ = false;
};

// Runs task(asker, index) for every index, on as many workers as `jobs`. The first exception is thrown on.
void in_parallel(const DetectOptions& options, const char* what, std::size_t count, const std::function<void(Asker&, std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto shown = std::chrono::steady_clock::now();
  const auto work = [&] {
    Asker asker(options);
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        task(asker, i);
        const std::lock_guard lock(mutex);
        const auto now = std::chrono::steady_clock::now();
        if (now - shown < std::chrono::seconds(10) && i + 1 < count) continue;
        shown = now;
        std::fprintf(stderr, "%s: %zu of %zu\n", what, std::min(next.load(), count), count);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min<std::size_t>(static_cast<std::size_t>(std::max(1, options.jobs)), count);
  for (std::size_t t = 0; t < wanted; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::optional<std::vector<Verdict>> read_index(const std::filesystem::path& file, const std::string& key, std::size_t count) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const Json document = read_json(file);
  if (!document.is_object() || document.value("key", "") != key || document["cases"].size() != count) return std::nullopt;
  std::vector<Verdict> index;
  for (const Json& item : document["cases"]) index.push_back(read_verdict(item, file.string() + ": cases"));
  return index;
}

std::string index_key(const DetectOptions& options, const std::vector<Fault>& faults) {
  std::string text = options.key + plan_digest(options.plan);
  for (const Fault& fault : faults) text += fault.name + "\n";
  return hex(digest(text));
}

std::vector<Verdict> make_index(const DetectOptions& options, const std::vector<Fault>& faults) {
  const std::filesystem::path file = options.out / "index.json";
  const std::string key = index_key(options, faults);
  if (auto known = read_index(file, key, options.plan.size())) return std::move(*known);
  std::vector<Verdict> index(options.plan.size());
  in_parallel(options, "index", options.plan.size(), [&](Asker& asker, std::size_t i) { index[i] = asker.ask(options.plan[i], kLookForAll); });
  Json cases = Json::array();
  for (const Verdict& verdict : index) cases.push_back(to_json(verdict));
  write_text(file, Json{{"key", key}, {"cases", std::move(cases)}}.dump() + "\n");
  return index;
}

// Cheap cases first, but in turn from every op, direction and twin, and within those from every argument set. Canonical cases and twins
// take turns too: a twin is judged by the device itself, so what the device computes too coarsely shows in canonical cases alone.
std::vector<std::size_t> in_order(std::vector<std::size_t> cases, const DetectOptions& options, const std::vector<Verdict>& index) {
  std::sort(cases.begin(), cases.end(), [&](std::size_t a, std::size_t b) { return index[a].micros < index[b].micros; });
  std::map<std::string, std::size_t> of_set, of_group;
  std::vector<std::tuple<std::size_t, std::size_t, bool, std::size_t>> ranked;
  const auto turn = [&](std::map<std::string, std::size_t>& seen, const std::string& word) { return seen[word]++; };
  for (const std::size_t c : cases) {
    const CaseId id = parse_case_id(options.plan[c]);
    const std::string group = id.op + "/" + std::string(name(id.direction)) + "/" + id.twin;
    const std::size_t in_set = turn(of_set, group + "/" + id.arguments);
    ranked.emplace_back(turn(of_group, group + "#" + std::to_string(in_set)), in_set, id.twin == "canonical", c);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::make_pair(std::get<0>(a), std::get<1>(a)) < std::make_pair(std::get<0>(b), std::get<1>(b));
  });
  std::vector<std::size_t> canonical, twins, order;
  for (const auto& [place, in_set, plain, c] : ranked) (plain ? canonical : twins).push_back(c);
  for (std::size_t i = 0; i < std::max(canonical.size(), twins.size()); ++i) {
    if (i < canonical.size()) order.push_back(canonical[i]);
    if (i < twins.size()) order.push_back(twins[i]);
  }
  return order;
}

struct Candidates {
  std::vector<std::size_t> touched;                     // sound cases with a call that the fault can change
  std::vector<std::size_t> preludes;                    // cases that call its after_op
  bool any = false;                                     // some case is touched, sound or not
};

// Memory that a call keeps is counted where calls are repeated.
bool counts_memory(const std::string& id) {
  const std::string twin = parse_case_id(id).twin;
  return twin == "repeat" || twin == "batch";
}

std::vector<Candidates> candidates_of(const DetectOptions& options, const std::vector<Fault>& faults, const std::vector<Verdict>& index) {
  std::vector<Candidates> all(faults.size());
  for (std::size_t c = 0; c < index.size(); ++c) {
    for (const int f : index[c].matched) {
      Candidates& candidates = all.at(static_cast<std::size_t>(f));
      candidates.any = true;
      if (index[c].sound()) candidates.touched.push_back(c);
    }
    for (const int f : index[c].prepared) all.at(static_cast<std::size_t>(f)).preludes.push_back(c);
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    Candidates& candidates = all[f];
    if (faults[f].effect.kind == EffectKind::leak) std::erase_if(candidates.touched, [&](std::size_t c) { return !counts_memory(options.plan[c]); });
    candidates.touched = in_order(std::move(candidates.touched), options, index);
    if (candidates.touched.size() > kMostCases) candidates.touched.resize(kMostCases);
    candidates.preludes = in_order(std::move(candidates.preludes), options, index);
    if (candidates.preludes.size() > 2) candidates.preludes.resize(2);
  }
  return all;
}

struct Attempt {
  std::vector<std::size_t> by, tried;
  bool activated = false;
};

Attempt attempt_on(Asker& asker, const DetectOptions& options, const Fault& fault, int number, const Candidates& candidates) {
  Attempt attempt;
  for (const std::size_t c : candidates.preludes) asker.ask(options.plan[c], number);
  for (const std::size_t c : candidates.touched) {
    const Verdict verdict = asker.ask(options.plan[c], number);
    attempt.tried.push_back(c);
    attempt.activated = attempt.activated || verdict.activations > 0;
    if (verdict.alarming(fault)) attempt.by.push_back(c);
    if (attempt.by.size() == kEnough || verdict.reason == "timed_out") break;             // a hang is not waited for twice
  }
  return attempt;
}

}  // namespace

std::string_view name(Detected state) {
  return state == Detected::caught ? "caught" : state == Detected::missed ? "missed" : "not_exercised";
}

std::int64_t Detection::count(Detected state) const {
  return std::count_if(faults.begin(), faults.end(), [&](const FaultResult& result) { return result.state == state; });
}

Detection detect(const DetectOptions& options, const std::vector<Fault>& faults) {
  ::signal(SIGPIPE, SIG_IGN);
  std::filesystem::create_directories(options.out);
  write_text(options.out / "worker.log", "");
  const std::vector<Verdict> index = make_index(options, faults);
  const std::vector<Candidates> candidates = candidates_of(options, faults, index);

  std::vector<Attempt> attempts(faults.size());
  in_parallel(options, "faults", faults.size(),
              [&](Asker& asker, std::size_t f) { attempts[f] = attempt_on(asker, options, faults[f], static_cast<int>(f), candidates[f]); });

  std::set<std::size_t> tried;
  for (const Attempt& attempt : attempts) tried.insert(attempt.tried.begin(), attempt.tried.end());
  const std::vector<std::size_t> controls(tried.begin(), tried.end());
  std::vector<char> sound(options.plan.size(), 0);
  in_parallel(options, "control", controls.size(),
              [&](Asker& asker, std::size_t i) { sound[controls[i]] = asker.ask(options.plan[controls[i]], kNoFault).sound() ? 1 : 0; });

  Detection detection;
  for (const std::size_t c : controls)
    if (!sound[c]) detection.control_alarms.push_back(options.plan[c]);
  for (std::size_t f = 0; f < faults.size(); ++f) {
    FaultResult result{faults[f], Detected::not_exercised, {}};
    for (const std::size_t c : attempts[f].by)
      if (sound[c]) result.by.push_back(options.plan[c]);
    if (!result.by.empty()) result.state = Detected::caught;
    else if (attempts[f].activated || (candidates[f].any && candidates[f].touched.empty())) result.state = Detected::missed;
    detection.faults.push_back(std::move(result));
  }
  return detection;
}

}  // namespace driftgate
