// One training step's forward of a denoising diffusion model, and the sample one step less noisy: noise added by a schedule, the time
// embedded by sines and cosines, the noise predicted by convolutions that the time shifts.
#include <ATen/ATen.h>

#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kWidth = 16, kFrequencies = 8;

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), size = settings.integer("size");
  std::vector<ProgramInput> made = {data("image", {batch, 3, size, size}), data("noise", {batch, 3, size, size}),
                                    data("time", {batch, 1}, "uniform(low=0, high=8)"), data("frequency", {1, kFrequencies}, "uniform(low=0.1, high=1)"),
                                    data("signal", {batch, 1, 1, 1}, "uniform(low=0.2, high=0.9)")};
  add_linear(made, "time1", 2 * kFrequencies, 2 * kWidth);
  add_linear(made, "time2", 2 * kWidth, kWidth);
  add_convolution(made, "enter", 3, kWidth, 3, true);
  add_norm(made, "norm", kWidth);
  add_convolution(made, "middle", kWidth, kWidth, 3, true);
  add_convolution(made, "leave", kWidth, 3, 3, true);
  return made;
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  const at::Tensor &signal = t.at("signal"), &noise = t.at("noise");
  const at::Tensor rest = at::rsub(signal, 1);
  const at::Tensor noisy = signal.sqrt().mul(t.at("image")).add(rest.sqrt().mul(noise));
  const at::Tensor angle = t.at("time").mul(t.at("frequency"));
  const at::Tensor time = linear(t, "time2", at::silu(linear(t, "time1", at::cat({angle.sin(), angle.cos()}, 1))));
  at::Tensor x = convolution(t, "enter", noisy, 1, 1).add(time.unsqueeze(-1).unsqueeze(-1));
  x = convolution(t, "middle", at::silu(group_norm(t, "norm", x)), 1, 1).add(x);
  const at::Tensor predicted = convolution(t, "leave", at::silu(x), 1, 1).to(noise.scalar_type());
  const at::Tensor cleaner = noisy.sub(rest.sqrt().mul(predicted)).div(signal.sqrt());
  return {{"predicted", predicted}, {"cleaner", cleaner}, {"loss", at::mse_loss(predicted, noise)}};
}

}  // namespace

Program diffusion() { return make_model("model::diffusion", inputs, forward); }

}  // namespace driftgate::models
