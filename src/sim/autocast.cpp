// Autocast of the simulated device: the operators that CUDA lists, which are nearly those that MPS does.
#include "sim/autocast.hpp"

#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace driftgate {
namespace {

using namespace at::autocast;                           // NOLINT: the names in LibTorch's own macros

#define DRIFTGATE_LOW(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define DRIFTGATE_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define DRIFTGATE_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)
void add_lists(torch::Library& m) {
  AT_FORALL_LOWER_PRECISION_FP(DRIFTGATE_LOW)
  AT_FORALL_FP32(DRIFTGATE_FP32)
  AT_FORALL_PROMOTE(DRIFTGATE_PROMOTE)
  // Of CUDA's third list, those without a dtype argument in use here: CUDA gives them one, MPS runs them in fp32.
  KERNEL_PRIVATEUSEONE(softmax, int, fp32)
  KERNEL_PRIVATEUSEONE(log_softmax, int, fp32)
  KERNEL_PRIVATEUSEONE(sum, fp32)
  KERNEL_PRIVATEUSEONE(prod, fp32)
  KERNEL_PRIVATEUSEONE(cumsum, fp32)
}

}  // namespace

void register_autocast() {
  static torch::Library others(torch::Library::IMPL, "_", c10::DispatchKey::AutocastPrivateUse1, __FILE__, __LINE__);
  static torch::Library listed(torch::Library::IMPL, "aten", c10::DispatchKey::AutocastPrivateUse1, __FILE__, __LINE__);
  others.fallback(torch::CppFunction::makeFallthrough());
  add_lists(listed);
}

}  // namespace driftgate
