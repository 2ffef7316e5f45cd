#include "sim/metal_winograd.hpp"

#include <vector>

#include "sim/metal_gemm.hpp"

namespace driftgate {
namespace {

struct Transforms {
  at::Tensor input, filter, output;                     // B^T, G, A^T
};

at::Tensor matrix(const std::vector<float>& values, std::int64_t columns) {
  return at::tensor(values, at::kFloat).reshape({-1, columns});
}

Transforms transforms_of(int m) {
  if (m == 2)
    return {matrix({1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1}, 4), matrix({1, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f, -0.5f, 0.5f, 0, 0, 1}, 3),
            matrix({1, 1, 1, 0, 0, 1, -1, -1}, 4)};
  const float sixth = 1.0f / 6, twelfth = 1.0f / 12, last = 1.0f / 24;
  return {matrix({4, 0, -5, 0, 1, 0, 0, -4, -4, 1, 1, 0, 0, 4, -4, -1, 1, 0, 0, -2, -1, 2, 1, 0, 0, 2, -1, -2, 1, 0, 0, 4, 0, -5, 0, 1}, 6),
          matrix({0.25f, 0, 0, -sixth, -sixth, -sixth, -sixth, sixth, -sixth, last, twelfth, sixth, last, -twelfth, sixth, 0, 0, 1}, 3),
          matrix({1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0, 0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1}, 6)};
}

// left · tiles · left^T for tiles [n, t, t].
at::Tensor both_sides(const at::Tensor& left, const at::Tensor& tiles) {
  const at::Tensor wide = left.expand({tiles.size(0), left.size(0), left.size(1)});
  return gemm(gemm(wide, tiles), wide.transpose(1, 2));
}

}  // namespace

at::Tensor winograd3x3(const at::Tensor& input, const at::Tensor& weight, std::int64_t padding, int m) {
  const Transforms t = transforms_of(m);
  const std::int64_t samples = input.size(0), channels = input.size(1), filters = weight.size(0), tile = m + 2;
  const std::int64_t height = input.size(2) + 2 * padding - 2, width = input.size(3) + 2 * padding - 2;
  const std::int64_t down = (height + m - 1) / m, across = (width + m - 1) / m, tiles = samples * down * across;
  const at::Tensor padded =
      at::constant_pad_nd(input, {padding, across * m + 2 - input.size(3) - padding, padding, down * m + 2 - input.size(2) - padding}).contiguous();
  const at::Tensor windows = padded.as_strided({channels, samples, down, across, tile, tile},
                                               {padded.stride(1), padded.stride(0), padded.stride(2) * m, m, padded.stride(2), 1});
  const at::Tensor u = both_sides(t.filter, weight.reshape({-1, 3, 3})).reshape({filters, channels, tile * tile});
  const at::Tensor v = both_sides(t.input, windows.reshape({-1, tile, tile})).reshape({channels, tiles, tile * tile});
  const at::Tensor products = gemm(u.permute({2, 0, 1}), v.permute({2, 0, 1}));
  const at::Tensor blocks = both_sides(t.output, products.permute({1, 2, 0}).reshape({-1, tile, tile}));
  const at::Tensor image = blocks.reshape({filters, samples, down, across, m, m}).permute({1, 0, 2, 4, 3, 5}).reshape({samples, filters, down * m, across * m});
  return image.slice(2, 0, height).slice(3, 0, width).contiguous();
}

}  // namespace driftgate
