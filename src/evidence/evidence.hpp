#pragma once
// The folder that one run leaves, and the only thing that judging reads beside the tables.
//
//   run.json      environment, flags, plan (counts, digest of the planned ids), finished or not
//   cases.jsonl   one line a case, append-only; a torn last line is dropped on reading and its case run again by --resume
//   tensors/      failing tensors only (safetensors, named after the case with '/' as '.')
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "json.hpp"

namespace driftgate {

inline constexpr std::string_view kEvidenceSchema = "driftgate.evidence/1";

// What one golden output says about the same output of a candidate.
struct GoldenRecord {
  double required = kAbsent;            // the golden against fp64, in the case's bound
  double direct = kAbsent;              // the candidate against the golden (the stored sample), same unit
  double rms_error = kAbsent;           // the golden's, on the stored sample
  double candidate_rms_error = kAbsent; // the candidate's, on the same sample
  double spread = kAbsent;              // repeat to repeat on the golden's card, same unit
  double tf32_required = kAbsent;       // the golden's tf32 pass, where it differs from fp32
  double reference_gap = kAbsent;       // stored fp64 sample against the local reference, in the case's bound
};

struct OutputRecord {
  std::string name;                     // "result", "result1", "grad.self", …
  std::string dtype;
  Shape shape;
  Bound bound = Bound::general;
  Comparison comparison;
  std::optional<GoldenRecord> golden;
  std::map<std::string, double> metrics;  // of a program's output: compare/metrics.hpp, and "floor", the unit of bound ratio
  double repeat = 0;                    // second run against the first, same unit; 0 = equal in bits
  bool repeat_bitwise = true;
};

// Stages of a case. Anything but `done` explains itself in `message`.
//   done · unsupported (the device has no such kernel) · raised (an error) · out_of_memory · wrong_shape (not the reference's shape
//   or dtype) · side_effect (memory was written that is not the result's) · crashed (a signal; message "SIGABRT") · timed_out · no_reference (the fp64 reference itself failed)
struct CaseRecord {
  std::string id;
  std::string stage = "done";
  std::string message;
  std::string input_digest;             // of all inputs
  bool golden_missing = false;          // no golden set, or none for this case
  bool golden_input_differs = false;
  std::vector<std::string> inert;       // inputs on which the reference does not depend
  std::vector<std::string> warnings;    // captured, e.g. a fallback
  // Of a program: how many operators gave results of each floating dtype, and the bits that a matrix product keeps of its inputs.
  std::map<std::string, std::int64_t> observed;
  std::int64_t observed_bits = 0;
  std::vector<OutputRecord> outputs;
  std::array<std::int64_t, 4> micros{}; // fill, reference, run, compare
};

struct RunInfo {
  std::string device;                   // cpu, mps, cuda, sim
  Json environment;                     // torch, host facts, flags, probes: printed, not interpreted, but for `gate`. Nothing that
                                        // differs between two runs on one host (a time, free memory): they could not be merged
  std::string golden;                   // name of the golden set, empty when none
  std::string tool_version;
  std::int64_t planned = 0;             // planned and plan_digest follow from plan: the writer fills them in
  std::string plan_digest;              // of the planned ids, in order
  std::vector<std::string> plan;        // the planned ids
  bool finished = false;
};

struct Evidence {
  RunInfo run;
  std::vector<CaseRecord> cases;        // in plan order; at most one a case (a later line for an id replaces an earlier one)
  bool torn_line = false;
};

std::string to_line(const CaseRecord& record);                               // one JSON line, no newline
CaseRecord parse_line(std::string_view line, const std::string& where);      // Error `bad_evidence`

std::string plan_digest(const std::vector<std::string>& plan);
Json to_json(const RunInfo& run);                                            // run.json
// The first of device, environment key, golden set and tool version in which the runs differ; empty when they may be joined.
std::string difference(const RunInfo& a, const RunInfo& b);

// Error `bad_evidence` (which file, which line), `other_schema`, `foreign_case` (a case that was not planned).
Evidence read_evidence(const std::filesystem::path& directory);
// Joins shards or parts of one device and environment. Error `mixed_evidence` names what differs, or a case that two parts
// planned: to choose between two results of one case is not merging.
Evidence merge(std::vector<Evidence> parts);

class EvidenceWriter {
 public:
  // Creates `directory` (Error `unwritable` before anything is run). resume: keeps finished lines, cutting a torn last one;
  // Error `evidence_exists` when there is evidence and resume is false, `other_plan` when it is of another plan, `mixed_evidence`
  // when it is of another device, environment or golden set.
  EvidenceWriter(const std::filesystem::path& directory, const RunInfo& run, bool resume);
  ~EvidenceWriter();
  EvidenceWriter(const EvidenceWriter&) = delete;
  EvidenceWriter& operator=(const EvidenceWriter&) = delete;

  const std::vector<std::string>& done() const { return done_; }             // ids already on disk
  void append(const std::string& line);                                      // one write(2) a line; Error `unwritable`, and the
                                                                             // file then ends with the line before
  void finish();                                                             // marks run.json finished

 private:
  std::filesystem::path directory_;
  RunInfo run_;
  std::vector<std::string> done_;
  int file_ = -1;
};

}  // namespace driftgate
