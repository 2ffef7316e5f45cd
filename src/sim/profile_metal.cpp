#include "error.hpp"
#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"

namespace driftgate {
namespace {

int winograd_of(const std::string& word) {
  if (word == "none") return 0;
  if (word == "f2") return 2;
  if (word == "f4") return 4;
  throw Error("bad_profile", "--winograd", "'" + word + "' is not known", "use none, f2 or f4");
}

}  // namespace

Profile make_profile(const ProfileOptions& options) {
  const int winograd = winograd_of(options.winograd);
  Profile profile;
  profile.name = options.name;
  if (options.name == "clean") {
    if (options.ln_onepass || winograd != 0) throw Error("bad_profile", "--profile", "clean has no switches", "use metal_like or metal_spec");
    return profile;
  }
  const bool tf32 = options.name == "metal_m5_tf32", spec = tf32 || options.name == "metal_spec";
  if (!spec && options.name != "metal_like")
    throw Error("bad_profile", "--profile", "'" + options.name + "' is not known", "use clean, metal_like, metal_spec or metal_m5_tf32");
  const MetalMath math(spec ? MetalMath::Errors::spec : MetalMath::Errors::mild);
  const MatmulOptions matmul{tf32, winograd};
  add_pointwise_kernels(math, profile.kernels);
  add_reduction_kernels(profile.kernels);
  add_softmax_kernels(math, profile.kernels);
  add_norm_kernels(options.ln_onepass, profile.kernels);
  add_matmul_kernels(matmul, profile.kernels);
  add_convolution_kernels(matmul, profile.kernels);
  add_scatter_kernels(profile.kernels);
  profile.on_input = profile.on_output = flush_subnormals;
  return profile;
}

}  // namespace driftgate
