#pragma once
// What is said of a model's output beside its bound. Names: docs/schema/evidence.schema.json.
//   cosine        of the output and the reference, as vectors
//   relative_rms  RMS error over RMS reference
// of "logits", over the last dim:
//   kl_mean, kl_p95, kl_max   KL(softmax of the reference || softmax of the output), in nats
//   top1          share of the rows in which both have their largest value at the same place
#include <map>
#include <span>
#include <string>

namespace driftgate {

using Metrics = std::map<std::string, double>;

// Both as long as the output; a NaN or an infinity makes what it enters NaN. classes: 0, or the size of the last dim of logits.
Metrics measure_output(std::span<const double> candidate, std::span<const double> reference, std::size_t classes);

}  // namespace driftgate
