// A fault planted in one operator of a model: the trace names that operator, and proves it by substitution.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "run/error_trace.hpp"
#include "simulated.hpp"

namespace driftgate {
namespace {

const Suite& suite() {
  static const Suite made = Suite::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/cases");
  return made;
}

std::string base(const std::string& op) {
  const std::string name = op.substr(op.find("::") + 2);
  return name.substr(0, name.find('.'));
}

ErrorTrace trace_of(const std::string& id) {
  sim();
  return trace_error(suite().find(id), Device::sim);
}

TEST(Trace, ASoundDeviceAddsNoError) {
  for (const char* id : {"model.mlp/train/fp32/backward/canonical", "model.vit/train/fp32/backward/canonical", "model.mlp/train/bf16/backward/canonical",
                         "model.vit/train/amp_bf16/backward/canonical"}) {
    const ErrorTrace trace = trace_of(id);
    EXPECT_EQ(trace.stage, "done") << trace.message;
    EXPECT_GT(trace.calls.size(), 10U);
    EXPECT_FALSE(trace.first) << id << ": " << trace.calls[*trace.first].op << " " << trace.calls[*trace.first].local.required;
  }
}

// The trace of the mlp with one of its linear layers scaled: the one whose weight has that size.
ErrorTrace trace_of_scaled_linear(const std::string& size) {
  const PlantedFault fault("aten::linear", R"({"kind": "scale", "by": 1.01})", R"({"arg": 1, "size_equals": )" + size + "}");
  return trace_of("model.mlp/train/fp32/forward/canonical");
}

TEST(Trace, NamesTheLayerAndProvesIt) {
  const ErrorTrace trace = trace_of_scaled_linear(R"({"dim": 0, "size": 10})");
  ASSERT_TRUE(trace.first);
  EXPECT_EQ(base(trace.calls[*trace.first].op), "linear");
  EXPECT_EQ(trace.calls[*trace.first].layer, "head");
  EXPECT_GT(trace.required, 1000);
  EXPECT_LT(trace.substituted, 8);
}

TEST(Trace, TellsAnInheritedErrorFromAnAddedOne) {
  const ErrorTrace trace = trace_of_scaled_linear(R"({"dim": 1, "size": 64})");
  ASSERT_TRUE(trace.first);
  EXPECT_EQ(trace.calls[*trace.first].layer, "first");
  for (std::size_t i = *trace.first + 1; i < trace.calls.size(); ++i)
    EXPECT_FALSE(trace.calls[i].local.required > kMostLocalError) << trace.calls[i].op << " in " << trace.calls[i].layer;
}

struct Planting {
  const char *model, *op, *effect;
};

// Single operators that the models run, each with a fault of another kind.
const Planting kPlantings[] = {
    {"mlp", "linear", R"({"kind": "scale", "by": 1.001})"},
    {"mlp", "linear", R"({"kind": "round_inputs", "bits": 11})"},
    {"mlp", "gelu", R"({"kind": "add_ulps", "ulps": 4096})"},
    {"mlp", "gelu_backward", R"({"kind": "scale", "by": 1.01})"},
    {"mlp", "linear_backward", R"({"kind": "scale", "by": 1.01})"},
    {"mlp", "_log_softmax", R"({"kind": "wrong_element", "from_index": 7})"},
    {"mlp", "nll_loss_backward", R"({"kind": "scale", "by": 1.01})"},
    {"convnet", "convolution", R"({"kind": "scale", "by": 1.001})"},
    {"convnet", "convolution_backward", R"({"kind": "scale", "by": 1.01})"},
    {"convnet", "relu", R"({"kind": "wrong_element", "from_index": 100})"},
    {"vit", "native_layer_norm", R"({"kind": "ignore_argument", "name": "weight"})"},
    {"vit", "native_layer_norm_backward", R"({"kind": "scale", "by": 1.01})"},
    {"vit", "gelu", R"({"kind": "round_output", "bits": 11})"},
    {"vit", "bmm", R"({"kind": "drop_last_term"})"},
    {"unet", "upsample_bilinear2d", R"({"kind": "scale", "by": 1.01})"},
    {"unet", "silu", R"({"kind": "round_output", "bits": 11})"},
    {"unet", "silu_backward", R"({"kind": "scale", "by": 1.01})"},
    {"diffusion", "sin", R"({"kind": "add_ulps", "ulps": 4096})"},
    {"diffusion", "mse_loss_backward", R"({"kind": "scale", "by": 1.01})"},
    {"recommender", "_embedding_bag", R"({"kind": "zero_output", "output": 0})"},
    {"recommender", "bmm", R"({"kind": "scale", "by": 1.001})"},
};

TEST(Trace, NamesThePlantedOperatorInNineteenOfTwenty) {
  int exercised = 0, named = 0;
  for (const Planting& planting : kPlantings) {
    const std::string op = std::string("aten::") + planting.op;
    const PlantedFault fault(op + "|" + op + ".*", planting.effect);
    const ErrorTrace trace = trace_of(std::string("model.") + planting.model + "/train/fp32/backward/canonical");
    if (fault.activations() == 0) {
      ADD_FAILURE() << planting.op << " does not run in " << planting.model;
      continue;
    }
    ++exercised;
    const std::string found = trace.first ? base(trace.calls[*trace.first].op) : "nothing";
    const bool right = found == planting.op;
    named += right;
    if (!right) std::cout << planting.model << " " << planting.op << " " << planting.effect << ": named " << found << "\n";
  }
  EXPECT_GE(exercised, 20);
  EXPECT_GE(named, 0.95 * exercised);
}

}  // namespace
}  // namespace driftgate
