#pragma once
// Golden sets: what a CUDA card computed in the past, with its provenance. golden/<card>_<cuda>_<torch>/ holds
//
//   manifest.json           schema, provenance (card, driver, CUDA, cuDNN, torch, numeric flags), counts. docs/schema/golden.schema.json
//   <family>.json           a case's input digest and, for each output, dtype, shape, digest of the whole, the golden's own
//                           `required` and repeat spread, and those of the tf32 pass
//   <family>.safetensors    "<id>#<output>": the stored sample; "…#tf32": the tf32 pass where it differs; "…#f64": sampled fp64;
//                           "…#mean", "…#spread": of a training case, its ensemble
//   digests.txt             XXH3-128 of each of the files above: a flipped byte anywhere is an Error
//
// An output of at most 1,024 elements is stored whole, of a larger one a sample (sample_positions). Opening a set checks
// every digest; a family is parsed when it is first asked for. Errors: `golden_corrupt` (digest, or a file that is not listed), `golden_schema` (another version), `bad_golden`.
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/ensemble.hpp"
#include "json.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

inline constexpr std::string_view kGoldenSchema = "driftgate.golden/1";
inline constexpr std::int64_t kGoldenSample = 1024;
inline constexpr std::size_t kGoldenDoubles = 16;       // fp64 values stored an output

// The elements of an output that are stored, ascending: all up to 1,024, else every s-th for the smallest s that keeps to 1,024
// and is coprime with the innermost size (so that no column is missed).
std::vector<std::int64_t> sample_positions(const Shape& shape);
// Of those stored, the ones whose fp64 value is kept: at most 16, evenly spread. Indices into the sample.
std::vector<std::size_t> double_positions(std::size_t sample_size);
// The elements at `positions`, as a rank-1 buffer.
Buffer take(const Buffer& whole, const std::vector<std::int64_t>& positions);

struct GoldenOutput {
  std::string name;
  Shape shape;
  Buffer sample;                                        // its dtype is the output's
  std::string digest;                                   // of the whole output
  double required = 0;                                  // of the whole output, in the case's bound
  double spread = 0;                                    // largest `required` of a repeated run against the first
  bool spread_bitwise = true;
  std::optional<Buffer> tf32;                           // where the pass differs in bits
  double tf32_required = kAbsent;
  double half_required = kAbsent;                       // bound ensemble, fp32: of the card's amp_bf16 run
  std::optional<Ensemble> ensemble;                     // bound ensemble: one value an element
  std::vector<double> doubles;                          // components of the fp64 reference at double_positions
};

struct GoldenCase {
  std::string input_digest;
  std::vector<GoldenOutput> outputs;
};

class GoldenSet {
 public:
  static GoldenSet open(const std::filesystem::path& directory);
  const std::string& name() const { return name_; }
  const Json& manifest() const { return manifest_; }
  std::vector<std::string> families() const;
  // The cases of a family by id; empty when the set has none.
  const std::map<std::string, GoldenCase>& family(const std::string& family) const;
  const GoldenCase* find(const std::string& family, const std::string& id) const;

 private:
  std::filesystem::path directory_;
  std::string name_;
  Json manifest_;
  std::map<std::string, std::string> digests_;          // file name -> hex
  mutable std::map<std::string, std::map<std::string, GoldenCase>> families_;
};

// The set below `root` to compare with: the only one, or Error `several_goldens`. nullopt when there is none.
std::optional<std::filesystem::path> find_golden_set(const std::filesystem::path& root);

using GoldenContent = std::map<std::string, std::map<std::string, GoldenCase>>;   // family -> id -> case
// Writes a set to a fresh directory.
void write_golden_set(const std::filesystem::path& directory, const Json& provenance, const GoldenContent& content);

}  // namespace driftgate
