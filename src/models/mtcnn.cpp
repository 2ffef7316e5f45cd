// The three convolutional nets of the face detector MTCNN with their published weights, each on images of noise: class
// probabilities, box offsets, and of the last net landmarks.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <array>

#include "models/model.hpp"
#include "models/models.hpp"
#include "models/weights.hpp"

namespace driftgate::models {
namespace {

constexpr std::array<const char*, 3> kNets = {"pnet", "rnet", "onet"};
constexpr std::array<std::int64_t, 3> kSizes = {24, 24, 48};

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch");
  std::vector<ProgramInput> made;
  for (std::size_t i = 0; i < kNets.size(); ++i) made.push_back(data(std::string(kNets[i]) + ".images", {batch, 3, kSizes[i], kSizes[i]}, "uniform(low=-1, high=1)"));
  for (const auto& [name, value] : weights("mtcnn").tensors) made.push_back(given(name, value));
  return made;
}

at::Tensor activated(const Tensors& t, const std::string& net, const char* number, const at::Tensor& x) { return at::prelu(x, t.at(net + ".prelu" + number + ".weight")); }

at::Tensor convolved(const Tensors& t, const std::string& net, const char* number, const at::Tensor& x) {
  return activated(t, net, number, convolution(t, net + ".conv" + number, x, 1, 0));
}

at::Tensor pooled(const at::Tensor& x, std::int64_t kernel) { return at::max_pool2d(x, kernel, 2, 0, 1, /*ceil_mode=*/true); }

// Channels last and flat: the weights come from a framework that stored them so.
at::Tensor flattened(const at::Tensor& x) { return x.permute({0, 3, 2, 1}).contiguous().flatten(1); }

// Under autocast a softmax comes in fp32 on CUDA and in half on the CPU: in fp32, then.
at::Tensor probabilities(const at::Tensor& scores) {
  const at::Tensor made = scores.softmax(1);
  return at::autocast::is_autocast_enabled(scores.device().type()) ? made.to(c10::kFloat) : made;
}

void proposals(const Tensors& t, std::vector<NamedTensor>& outputs) {
  at::Tensor x = pooled(convolved(t, "pnet", "1", t.at("pnet.images")), 2);
  x = convolved(t, "pnet", "3", convolved(t, "pnet", "2", x));
  outputs.push_back({"pnet.faces", probabilities(convolution(t, "pnet.conv4_1", x, 1, 0))});
  outputs.push_back({"pnet.boxes", convolution(t, "pnet.conv4_2", x, 1, 0)});
}

void refined(const Tensors& t, std::vector<NamedTensor>& outputs) {
  at::Tensor x = pooled(convolved(t, "rnet", "1", t.at("rnet.images")), 3);
  x = convolved(t, "rnet", "3", pooled(convolved(t, "rnet", "2", x), 3));
  x = activated(t, "rnet", "4", linear(t, "rnet.dense4", flattened(x)));
  outputs.push_back({"rnet.faces", probabilities(linear(t, "rnet.dense5_1", x))});
  outputs.push_back({"rnet.boxes", linear(t, "rnet.dense5_2", x)});
}

void landmarks(const Tensors& t, std::vector<NamedTensor>& outputs) {
  at::Tensor x = pooled(convolved(t, "onet", "1", t.at("onet.images")), 3);
  x = pooled(convolved(t, "onet", "2", x), 3);
  x = convolved(t, "onet", "4", pooled(convolved(t, "onet", "3", x), 2));
  x = activated(t, "onet", "5", linear(t, "onet.dense5", flattened(x)));
  outputs.push_back({"onet.faces", probabilities(linear(t, "onet.dense6_1", x))});
  outputs.push_back({"onet.boxes", linear(t, "onet.dense6_2", x)});
  outputs.push_back({"onet.landmarks", linear(t, "onet.dense6_3", x)});
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  std::vector<NamedTensor> outputs;
  proposals(t, outputs);
  refined(t, outputs);
  landmarks(t, outputs);
  return outputs;
}

}  // namespace

Program mtcnn() { return make_model("model::mtcnn", inputs, forward); }

}  // namespace driftgate::models
