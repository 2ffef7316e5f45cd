#include "sim/reduction.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace driftgate {
namespace {

// Products of two operands along one dim each. `bias` is the argument that is added once.
struct Product {
  std::size_t left, right;
  std::int64_t left_dim, right_dim;
  std::optional<std::size_t> bias;
};

std::string base_name(const Call& call) {
  std::string name = call.op.schema().name().substr(6);
  while (name.size() > 1 && name.back() == '_') name.pop_back();
  return name;
}

std::optional<Product> product_of(const Call& call) {
  static const std::map<std::string, Product> products = {{"mm", {0, 1, -1, -2, std::nullopt}},      {"bmm", {0, 1, -1, -2, std::nullopt}},
                                                          {"mv", {0, 1, -1, -1, std::nullopt}},      {"dot", {0, 1, -1, -1, std::nullopt}},
                                                          {"linear", {0, 1, -1, -1, std::size_t{2}}}, {"addmm", {1, 2, -1, -2, std::size_t{0}}},
                                                          {"addmv", {1, 2, -1, -1, std::size_t{0}}}, {"baddbmm", {1, 2, -1, -2, std::size_t{0}}}};
  const auto found = products.find(base_name(call));
  return found == products.end() ? std::nullopt : std::optional(found->second);
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

double neutral(const std::string& name, const at::Tensor& operand) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "prod" || name == "cumprod") return 1;
  if (!operand.is_floating_point()) return 0;
  if (contains(name, "max") || contains(name, "logsumexp") || contains(name, "logcumsumexp")) return -kInfinity;
  return contains(name, "amin") || name == "min" ? kInfinity : 0;
}

// The dim that an operator reduces: the last of its `dim` argument, else the last of all.
std::int64_t reduced_dim(const Call& call, const Stack& arguments) {
  const auto index = call.op.schema().argumentIndexWithName("dim");
  if (!index) return -1;
  const c10::IValue& dim = arguments[static_cast<std::size_t>(*index)];
  if (dim.isInt()) return dim.toInt();
  if (dim.isIntList() && !dim.toIntVector().empty()) return dim.toIntVector().back();
  return -1;
}

at::Tensor first_result(Stack& stack) {
  for (const c10::IValue& value : stack)
    if (value.isTensor() && value.toTensor().defined()) return value.toTensor();
  return {};
}

// An `out` that is written again and again would lose what was summed: each call gets its own.
Stack with_fresh_outputs(const Call& call, Stack arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (output_only(call.op, i)) arguments[i] = map_tensors(arguments[i], [](const at::Tensor& t) { return at::empty({0}, t.options()); });
  return arguments;
}

void drop_bias(const Call& call, const Product& product, Stack& arguments) {
  if (!product.bias) return;
  const auto beta = call.op.schema().argumentIndexWithName("beta");
  if (beta) arguments[static_cast<std::size_t>(*beta)] = c10::Scalar(0);
  else arguments[*product.bias] = c10::IValue();
}

at::Tensor sum_of_steps(c10::ScalarType dtype, std::int64_t steps, const std::function<at::Tensor(std::int64_t)>& step) {
  at::Tensor sum;
  for (std::int64_t k = 0; k < steps; ++k) {
    const at::Tensor term = step(k);
    sum = sum.defined() ? (sum.to(c10::kFloat) + term.to(c10::kFloat)).to(dtype) : term.to(dtype);
  }
  return sum;
}

at::Tensor product_in(c10::ScalarType dtype, const Product& product, const Call& call, const Stack& arguments, const Compute& inner) {
  const at::Tensor left = arguments[product.left].toTensor(), right = arguments[product.right].toTensor();
  return sum_of_steps(dtype, left.size(product.left_dim), [&](std::int64_t k) {
    Stack step = with_fresh_outputs(call, arguments);
    step[product.left] = left.narrow(product.left_dim, k, 1);
    step[product.right] = right.narrow(product.right_dim, k, 1);
    if (k > 0) drop_bias(call, product, step);
    inner(step);
    return first_result(step);
  });
}

at::Tensor reduction_in(c10::ScalarType dtype, const Call& call, const Stack& arguments, const Compute& inner) {
  const at::Tensor self = arguments[0].toTensor();
  const std::int64_t dim = reduced_dim(call, arguments);
  const at::Tensor sum = sum_of_steps(dtype, self.size(dim), [&](std::int64_t k) {
    Stack step = with_fresh_outputs(call, arguments);
    step[0] = self.narrow(dim, k, 1);
    inner(step);
    return first_result(step);
  });
  return base_name(call) == "mean" ? sum.to(c10::kFloat).div(self.size(dim)).to(dtype) : sum;
}

at::Tensor all_in(c10::ScalarType dtype, const Call& call, Stack arguments, const Compute& inner) {
  arguments = with_fresh_outputs(call, std::move(arguments));
  for (c10::IValue& argument : arguments)
    argument = map_tensors(argument, [&](const at::Tensor& t) { return t.is_floating_point() ? t.to(dtype) : t; });
  inner(arguments);
  return first_result(arguments);
}

}  // namespace

std::optional<LastTerm> without_last_term(const Call& call, const Stack& arguments) {
  const std::string name = base_name(call);
  std::size_t position = 0;
  std::int64_t dim = reduced_dim(call, arguments);
  if (const auto product = product_of(call)) {
    position = product->left;
    dim = product->left_dim;
  } else if (contains(name, "convolution") || contains(name, "conv2d")) {
    dim = 1;                                            // the last input channel
  }
  while (position < arguments.size() && tensors_of(arguments[position]).empty()) ++position;
  if (position >= arguments.size() || !arguments[position].isTensor()) return std::nullopt;
  const at::Tensor operand = arguments[position].toTensor();
  if (operand.numel() == 0 || operand.scalar_type() == c10::kBool) return std::nullopt;
  at::Tensor without = operand.clone();
  if (operand.dim() == 0 || dim >= operand.dim()) dim = -1;
  (operand.dim() == 0 ? without : without.select(dim, -1)).fill_(neutral(name, operand));
  return LastTerm{position, without};
}

at::Tensor accumulated_in(c10::ScalarType dtype, const Call& call, const Stack& arguments, const Compute& inner) {
  if (const auto product = product_of(call)) return product_in(dtype, *product, call, arguments, inner);
  const std::string name = base_name(call);
  const bool plain_sum = name == "sum" || name == "mean";
  if (plain_sum && arguments[0].toTensor().dim() > 0 && arguments[0].toTensor().numel() > 0) return reduction_in(dtype, call, arguments, inner);
  return all_in(dtype, call, arguments, inner);
}

}  // namespace driftgate
