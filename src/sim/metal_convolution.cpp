// Convolutions of one to three spatial dims as matrix products over unfolded windows, with both gradients; Winograd where the profile has it.
#include "sim/kernel_call.hpp"
#include "sim/metal_gemm.hpp"
#include "sim/metal_kernels.hpp"
#include "sim/metal_winograd.hpp"

namespace driftgate {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Geometry {
  Sizes stride, padding, dilation;
  std::int64_t groups = 1;
};

// [N, C, spatial…] padded, as windows [N, outputs…, C, kernel…].
at::Tensor windows_of(const at::Tensor& input, const Sizes& kernel, const Geometry& g, const Sizes& outputs) {
  Sizes pad;
  for (std::size_t d = kernel.size(); d-- > 0;) {
    const std::int64_t needed = (outputs[d] - 1) * g.stride[d] + (kernel[d] - 1) * g.dilation[d] + 1;
    pad.insert(pad.end(), {g.padding[d], needed - input.size(static_cast<std::int64_t>(d) + 2) - g.padding[d]});
  }
  const at::Tensor padded = at::constant_pad_nd(input, pad).contiguous();
  Sizes sizes = {padded.size(0)}, strides = {padded.stride(0)};
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    sizes.push_back(outputs[d]);
    strides.push_back(padded.stride(static_cast<std::int64_t>(d) + 2) * g.stride[d]);
  }
  sizes.push_back(padded.size(1));
  strides.push_back(padded.stride(1));
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    sizes.push_back(kernel[d]);
    strides.push_back(padded.stride(static_cast<std::int64_t>(d) + 2) * g.dilation[d]);
  }
  return padded.as_strided(sizes, strides);
}

Sizes spatial(const at::Tensor& tensor) { return Sizes(tensor.sizes().begin() + 2, tensor.sizes().end()); }

at::Tensor channels_second(const at::Tensor& rows, std::int64_t samples, const Sizes& outputs) {
  Sizes shape = {samples};
  shape.insert(shape.end(), outputs.begin(), outputs.end());
  shape.push_back(rows.size(1));
  return rows.reshape(shape).movedim(-1, 1);
}

class Convolver {
 public:
  explicit Convolver(const MatmulOptions& options) : options_(options) {}

  // input [N, C, …] and weight [O, C / groups, kernel…] as fp32; an output of the given spatial sizes.
  at::Tensor forward(const at::Tensor& input, const at::Tensor& weight, const Geometry& g, const Sizes& outputs) const {
    if (winograd_fits(input, weight, g, outputs)) return winograd3x3(input, weight, g.padding[0], options_.winograd);
    std::vector<at::Tensor> parts;
    const std::vector<at::Tensor> inputs = input.chunk(g.groups, 1), weights = weight.chunk(g.groups, 0);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor rows = windows_of(inputs[i], spatial(weight), g, outputs).reshape({-1, weights[i].numel() / weights[i].size(0)});
      parts.push_back(channels_second(gemm(rows, weights[i].flatten(1).t()), input.size(0), outputs));
    }
    return at::cat(parts, 1);
  }

  // The input's gradient: the output's, spread by the stride, under the flipped kernel with channels exchanged.
  at::Tensor transposed(const at::Tensor& gradient, const at::Tensor& weight, const Geometry& g, const Sizes& inputs) const {
    Sizes spread_sizes = {gradient.size(0), gradient.size(1)};
    Geometry dense = g;
    Sizes flipped;
    for (std::size_t d = 0; d < inputs.size(); ++d) {
      const std::int64_t dim = static_cast<std::int64_t>(d) + 2;
      spread_sizes.push_back((gradient.size(dim) - 1) * g.stride[d] + 1);
      dense.stride[d] = 1;
      dense.padding[d] = g.dilation[d] * (weight.size(dim) - 1) - g.padding[d];
      flipped.push_back(dim);
    }
    const at::Tensor spread = at::zeros(spread_sizes, at::kFloat);
    at::Tensor places = spread;
    for (std::size_t d = 0; d < inputs.size(); ++d) places = places.slice(static_cast<std::int64_t>(d) + 2, 0, c10::nullopt, g.stride[d]);
    places.copy_(gradient);
    std::vector<at::Tensor> exchanged;
    for (const at::Tensor& part : weight.chunk(g.groups, 0)) exchanged.push_back(part.transpose(0, 1).flip(flipped));
    return forward(spread, at::cat(exchanged, 0).contiguous(), dense, inputs);
  }

  at::Tensor weight_gradient(const at::Tensor& gradient, const at::Tensor& input, const Geometry& g, const at::Tensor& weight) const {
    std::vector<at::Tensor> parts;
    const std::vector<at::Tensor> inputs = input.chunk(g.groups, 1), gradients = gradient.chunk(g.groups, 1);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor windows = windows_of(inputs[i], spatial(weight), g, spatial(gradient));
      const at::Tensor rows = windows.reshape({-1, inputs[i].size(1) * weight.numel() / (weight.size(0) * weight.size(1))});
      const at::Tensor columns = gradients[i].transpose(0, 1).flatten(1);
      parts.push_back(gemm(columns, rows));
    }
    return at::cat(parts, 0).reshape(weight.sizes());
  }

 private:
  bool winograd_fits(const at::Tensor& input, const at::Tensor& weight, const Geometry& g, const Sizes& outputs) const {
    if (options_.winograd == 0 || outputs.size() != 2 || g.groups != 1 || input.size(1) % 32 != 0 || spatial(weight) != Sizes{3, 3}) return false;
    return g.stride == Sizes{1, 1} && g.dilation == Sizes{1, 1} && g.padding[0] == g.padding[1] && g.padding[0] >= 0 &&
           outputs[0] == input.size(2) + 2 * g.padding[0] - 2 && outputs[1] == input.size(3) + 2 * g.padding[1] - 2;
  }

  MatmulOptions options_;
};

Geometry geometry_of(const KernelCall& call, std::size_t dims) {
  const auto all = [&](const char* name) {
    Sizes values = call.integers(name);
    if (values.size() == 1) values.resize(dims, values[0]);
    return values;
  };
  return {all("stride"), all("padding"), all("dilation"), call.integer("groups")};
}

Kernel forward_kernel(const MatmulOptions& options) {
  return [options](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor input = call.tensor("input"), bias = call.tensor("bias");
    const at::Tensor x = gemm_operand(input, options.tf32), w = gemm_operand(call.tensor("weight"), options.tf32);
    const std::size_t dims = static_cast<std::size_t>(input.dim()) - 2;
    const Geometry g = geometry_of(call, dims);
    const bool transposed = call.flag("transposed", false);
    Sizes extra = call.integers("output_padding"), outputs = spatial(x);
    if (extra.size() == 1) extra.resize(dims, extra[0]);
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t reach = g.dilation[d] * (w.size(static_cast<std::int64_t>(d) + 2) - 1) + 1;
      TORCH_CHECK(g.stride[d] > 0 && g.dilation[d] > 0 && g.padding[d] >= 0, "stride and dilation must be positive, padding not negative");
      TORCH_CHECK(transposed ? extra[d] < std::max(g.stride[d], g.dilation[d]) : reach <= outputs[d] + 2 * g.padding[d],
                  "the kernel is larger than the padded input, or the output padding than the step");
      outputs[d] = transposed ? (outputs[d] - 1) * g.stride[d] - 2 * g.padding[d] + reach + extra[d] : (outputs[d] + 2 * g.padding[d] - reach) / g.stride[d] + 1;
    }
    const Convolver convolver(options);
    at::Tensor result = (transposed ? convolver.transposed(x, w, g, outputs) : convolver.forward(x, w, g, outputs)).contiguous();
    if (bias.defined()) {
      Sizes shape(static_cast<std::size_t>(input.dim()), 1);
      shape[1] = bias.numel();
      result.add_(as_float(bias).reshape(shape));
    }
    call.finish({stored(result, input.scalar_type())});
  };
}

Kernel backward_kernel(const MatmulOptions& options) {
  return [options](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor input = call.tensor("input");
    const at::Tensor x = gemm_operand(input, options.tf32), w = gemm_operand(call.tensor("weight"), options.tf32);
    const at::Tensor gradient = gemm_operand(call.tensor("grad_output"), options.tf32);
    const Geometry g = geometry_of(call, static_cast<std::size_t>(input.dim()) - 2);
    const bool transposed = call.flag("transposed", false);
    const std::vector<bool> wanted = call.flags("output_mask");
    const Convolver convolver(options);
    at::Tensor results[3];
    if (wanted[0]) results[0] = transposed ? convolver.forward(gradient, w, g, spatial(x)) : convolver.transposed(gradient, w, g, spatial(x));
    if (wanted[1]) results[1] = transposed ? convolver.weight_gradient(x, gradient, g, w) : convolver.weight_gradient(gradient, x, g, w);
    if (wanted[2]) results[2] = as_float(call.tensor("grad_output")).transpose(0, 1).flatten(1).sum(1);
    for (at::Tensor& result : results)
      if (result.defined()) result = stored(result.contiguous(), input.scalar_type());
    call.finish({results[0], results[1], results[2]});
  };
}

}  // namespace

void add_convolution_kernels(const MatmulOptions& options, Kernels& into) {
  into["aten::convolution_overrideable"] = into["aten::convolution"] = forward_kernel(options);
  into["aten::convolution_backward_overrideable"] = into["aten::convolution_backward"] = backward_kernel(options);
}

}  // namespace driftgate
