#pragma once
// No cuDNN while it is alive. cuDNN's recurrent kernels are 14 to 29 times one rounding away from fp64 in fp32, with TF32 off: an H200's
// golden made by them could prove no device. ATen's own cells serve CUDA then.
#include <ATen/Context.h>

namespace driftgate {

class WithoutCudnn {
 public:
  WithoutCudnn() : before_(at::globalContext().userEnabledCuDNN()) { at::globalContext().setUserEnabledCuDNN(false); }
  WithoutCudnn(const WithoutCudnn&) = delete;
  WithoutCudnn& operator=(const WithoutCudnn&) = delete;
  ~WithoutCudnn() { at::globalContext().setUserEnabledCuDNN(before_); }

 private:
  bool before_;
};

}  // namespace driftgate
