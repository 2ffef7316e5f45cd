#pragma once
// Kernel families of the Metal-like profiles. Each adds its operators to a profile; what a family cannot do (complex, integers, float64)
// goes to the CPU's own kernel.
#include <map>
#include <string>

#include "sim/metal_math.hpp"
#include "sim/profile.hpp"

namespace driftgate {

using Kernels = std::map<std::string, Kernel, std::less<>>;

struct MatmulOptions {
  bool tf32 = false;                                    // fp32 operands rounded to 11 significant bits
  int winograd = 0;                                     // 2 or 4: F(2,3) or F(4,3) for 3x3 convolutions of stride 1; 0: none
};

void add_pointwise_kernels(const MetalMath& math, Kernels& into);
void add_reduction_kernels(Kernels& into);
void add_softmax_kernels(const MetalMath& math, Kernels& into);
void add_norm_kernels(bool layer_norm_onepass, Kernels& into);
void add_matmul_kernels(const MatmulOptions& options, Kernels& into);
void add_convolution_kernels(const MatmulOptions& options, Kernels& into);
void add_scatter_kernels(Kernels& into);

}  // namespace driftgate
