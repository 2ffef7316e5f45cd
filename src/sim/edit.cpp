#include "sim/edit.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/torch_types.hpp"

namespace driftgate {
namespace {

struct Bits {
  c10::ScalarType integer;
  std::int64_t precision;  // significant bits
  double smallest_normal;
};

std::optional<Bits> bits_of(c10::ScalarType type) {
  switch (type) {
    case c10::kFloat:
      return Bits{c10::kInt, 24, 0x1p-126};
    case c10::kHalf:
      return Bits{c10::kShort, 11, 0x1p-14};
    case c10::kBFloat16:
      return Bits{c10::kShort, 8, 0x1p-126};
    case c10::kDouble:
      return Bits{c10::kLong, 53, 0x1p-1022};
    default:
      return std::nullopt;
  }
}

// Works on the real components of complex tensors too.
template <class Change>
at::Tensor on_reals(const at::Tensor& value, Change change) {
  if (!value.is_complex()) return change(value.contiguous());
  return at::view_as_complex(change(at::view_as_real(value.resolve_conj()).contiguous()));
}

// Moves the magnitude by `steps` units in the last place; what is not finite stays.
at::Tensor moved(const at::Tensor& value, const at::Tensor& steps) {
  return on_reals(value, [&](const at::Tensor& x) {
    const auto bits = bits_of(x.scalar_type());
    if (!bits) return x;
    const at::Tensor by = steps.dim() == 0 ? steps : steps.reshape(-1).slice(0, 0, x.numel()).reshape(x.sizes());
    const at::Tensor next = (x.view(bits->integer) + by.to(bits->integer)).view(x.scalar_type());
    return at::where(at::isfinite(x), next, x);
  });
}

// Reproducible, and another at every activation: a hash of the element and the activation, from -4 to 4.
at::Tensor noise(const at::Tensor& like, std::int64_t activation) {
  const std::int64_t count = like.numel() * (like.is_complex() ? 2 : 1);
  const at::Tensor hash = (at::arange(count, c10::kLong) + activation * 7919) * 2654435761LL;
  return at::remainder(at::bitwise_right_shift(hash, 13), 9) - 4;
}

at::Tensor wrong_at(const at::Tensor& value, std::int64_t index, bool and_behind) {
  at::Tensor flat = value.contiguous().view(-1).clone();
  if (index < 0) index += flat.numel();
  if (index < 0 || index >= flat.numel()) return value;
  at::Tensor part = flat.slice(0, index, and_behind ? flat.numel() : index + 1);
  if (value.scalar_type() == c10::kBool)
    part.logical_not_();
  else if (value.is_floating_point() || value.is_complex())
    part.copy_(at::where(at::isnan(part), at::zeros_like(part), part + part.abs() + 1));
  else
    part.add_(1);
  return flat.view(value.sizes());
}

at::Tensor transposed(const at::Tensor& value) {
  if (value.dim() < 2) return value.dim() == 1 ? value.flip(0) : value;
  return value.transpose(-1, -2).contiguous().view(value.sizes());
}

at::Tensor with_top2_swapped(const at::Tensor& value) {
  if (value.dim() == 0 || value.size(-1) < 2) return value;
  at::Tensor swapped = value.clone();
  swapped.select(-1, 0).copy_(value.select(-1, 1));
  swapped.select(-1, 1).copy_(value.select(-1, 0));
  return swapped;
}

at::Tensor wrapped(const at::Tensor& value, std::int64_t bits) {
  if (!at::isIntegralType(value.scalar_type(), /*includeBool=*/false)) return value;
  const std::int64_t shift = 64 - bits;
  return at::bitwise_right_shift(at::bitwise_left_shift(value.to(c10::kLong), shift), shift).to(value.scalar_type());
}

at::Tensor filled(const at::Tensor& value, double with) {
  if (value.is_floating_point() || value.is_complex()) return at::full_like(value, with);
  return value;
}

at::Tensor replaced(const at::Tensor& value, const at::Tensor& where, double with) {
  return value.is_floating_point() || value.is_complex() ? at::where(where, at::full_like(value, with), value) : value;
}

at::Tensor jittered(const at::Tensor& value, std::int64_t activation) {
  if (value.is_floating_point() || value.is_complex()) return moved(value, noise(value, activation));
  return value.numel() == 0 ? value : wrong_at(value, activation % value.numel(), false);
}

// As if they had been through a float of so many significant bits.
at::Tensor rounded_integers(const at::Tensor& value, std::int64_t bits) {
  const auto [fraction, exponent] = at::frexp(value.to(c10::kDouble));
  const at::Tensor whole = at::ldexp(fraction, at::scalar_tensor(bits, c10::kLong)).round();
  return at::ldexp(whole, exponent - bits).to(value.scalar_type());
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

at::Tensor edited(const Effect& effect, const at::Tensor& value, std::int64_t activation) {
  switch (effect.kind) {
    case EffectKind::scale:
      return value.scalar_type() == c10::kBool ? value : (value * effect.by).to(value.scalar_type());
    case EffectKind::add_ulps:
      return moved(value, at::scalar_tensor(effect.amount, c10::kLong));
    case EffectKind::round_output:
      return rounded(value, effect.amount);
    case EffectKind::zero_output:
      return at::zeros_like(value);
    case EffectKind::nan_output:
      return filled(value, kNaN);
    case EffectKind::wrong_element:
      return wrong_at(value, effect.amount, effect.from_index);
    case EffectKind::transpose_output:
      return transposed(value);
    case EffectKind::swap_top2:
      return with_top2_swapped(value);
    case EffectKind::nan_to_zero:
      return replaced(value, at::isnan(value), 0);
    case EffectKind::zero_to_nan:
      return replaced(value, value.eq(0), kNaN);
    case EffectKind::flush_subnormals:
      return flushed(value);
    case EffectKind::int_wrap:
      return wrapped(value, effect.amount);
    case EffectKind::nondeterministic:
      return jittered(value, activation);
    default:
      return value;
  }
}

at::Tensor rounded(const at::Tensor& value, std::int64_t bits) {
  if (value.scalar_type() == c10::kBool) return value;
  if (!value.is_floating_point() && !value.is_complex()) return rounded_integers(value, bits);
  return on_reals(value, [&](const at::Tensor& x) {
    const auto format = bits_of(x.scalar_type());
    if (!format || bits >= format->precision) return x;
    const std::int64_t drop = format->precision - bits;
    const at::Tensor raw = x.view(format->integer).to(c10::kLong);
    const at::Tensor odd = at::bitwise_and(at::bitwise_right_shift(raw, drop), 1);
    const at::Tensor kept = at::bitwise_and(raw + odd + ((std::int64_t{1} << (drop - 1)) - 1), -(std::int64_t{1} << drop));
    return at::where(at::isfinite(x), kept.to(format->integer).view(x.scalar_type()), x);
  });
}

at::Tensor flushed(const at::Tensor& value) {
  if (!value.is_floating_point() && !value.is_complex()) return value;
  return on_reals(value, [](const at::Tensor& x) {
    const auto format = bits_of(x.scalar_type());
    if (!format) return x;
    return at::where(x.abs().to(c10::kDouble).lt(format->smallest_normal), x * 0, x);  // x * 0 keeps the sign
  });
}

at::Tensor truncated_to(const at::Tensor& wide, c10::ScalarType dtype) {
  const at::Tensor nearest = wide.to(dtype);
  const auto format = bits_of(dtype);
  if (!format) return nearest;
  const at::Tensor outside = at::logical_and(at::isfinite(nearest), nearest.to(wide.scalar_type()).abs().gt(wide.abs()));
  return at::where(outside, moved(nearest, at::scalar_tensor(-1, c10::kLong)), nearest);
}

at::Tensor reinterpreted(const at::Tensor& value, c10::ScalarType dtype) {
  const at::Tensor from = value.contiguous();
  at::Tensor to = at::zeros(value.sizes(), from.options().dtype(dtype));
  if (from.numel() > 0) std::memcpy(to.data_ptr(), from.data_ptr(), std::min(from.nbytes(), to.nbytes()));
  return to;
}

}  // namespace driftgate
