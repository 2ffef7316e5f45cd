#include "case/twin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "error.hpp"

namespace driftgate {
namespace {

struct Kind {
  TwinKind kind;
  std::string_view word;
};
constexpr std::array<Kind, 5> kLayouts = {{{TwinKind::permuted, "permuted"}, {TwinKind::step2, "step2"}, {TwinKind::offset, "offset"},
                                           {TwinKind::slice, "slice"}, {TwinKind::channels_last, "channels_last"}}};
constexpr std::string_view kPair = "pair_";
constexpr std::size_t kListed = 2;                       // operands of a tensor list that get layouts of their own
// Fills whose first slice, repeated, is a valid operand still.
constexpr std::array<std::string_view, 6> kFreeFills = {"normal", "uniform", "binades", "binades_pos", "integers", "halves"};

struct Operand {
  std::string name;
  const TensorArgument* tensor;
};

std::vector<Operand> operands(const ArgumentSet& set) {
  std::vector<Operand> found;
  for (const auto& [name, argument] : set.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) found.push_back({name, tensor});
    if (const auto* list = std::get_if<std::vector<TensorArgument>>(&argument))
      for (std::size_t i = 0; i < std::min(list->size(), kListed); ++i) found.push_back({fmt::format("{}.{}", name, i), &(*list)[i]});
  }
  return found;
}

std::string id_word(std::string text) {
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

bool floating(const TensorArgument& tensor) { return !tensor.dtype || is_float(*tensor.dtype) || is_complex(*tensor.dtype); }

bool has_layout(TwinKind kind, const Shape& shape) {
  const auto wide = std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n > 1; });
  if (numel(shape) == 0) return false;
  if (wide == 0) return kind == TwinKind::offset;
  if (kind == TwinKind::permuted) return wide >= 2;
  if (kind == TwinKind::channels_last) return shape.size() == 4 && shape[1] > 1 && shape[2] * shape[3] > 1;
  return kind != TwinKind::slice || shape.size() >= 2;
}

// In-place and fused operators and out= overloads: aten::add_.Tensor, aten::_fused_adam_, aten::eye.m_out.
bool writes_operands(std::string_view op) {
  const std::size_t end = op.find('.');
  return op.substr(0, end).back() == '_' || op.substr(op.size() - 3) == "out";
}

bool differentiated(const Row& row, const Operand& operand) {
  if (!floating(*operand.tensor)) return false;
  if (!row.grad) return !operand.tensor->dtype;
  return std::find(row.grad->begin(), row.grad->end(), operand.name.substr(0, operand.name.find('.'))) != row.grad->end();
}

class Maker {
 public:
  void add(TwinKind kind, std::string_view word, const std::string& argument = "") {
    twins_.push_back({kind, argument, argument.empty() ? std::string(word) : fmt::format("{}_{}", word, id_word(argument))});
  }
  std::vector<Twin> take() { return std::move(twins_); }

 private:
  std::vector<Twin> twins_ = {Twin{}};
};

void add_layouts(const std::vector<Operand>& operands, bool written, Maker& make) {
  for (const auto& [name, tensor] : operands) {
    for (const auto& [kind, word] : kLayouts)
      if (has_layout(kind, tensor->shape)) make.add(kind, word, name);
    const bool mask = tensor->dtype == DType::boolean && tensor->fill.domain == "bernoulli";
    const bool free = floating(*tensor) && std::find(kFreeFills.begin(), kFreeFills.end(), tensor->fill.domain) != kFreeFills.end();
    if ((free || mask) && !written && !tensor->shape.empty() && tensor->shape[0] > 1 && numel(tensor->shape) > 0)
      make.add(TwinKind::expanded, "expanded", name);
  }
}

void add_gradients(const Row& row, const std::vector<Operand>& operands, Maker& make) {
  std::vector<std::string> names;
  for (const Operand& operand : operands)
    if (differentiated(row, operand)) names.push_back(operand.name);
  if (names.size() > 1) {
    for (const std::string& name : names) make.add(TwinKind::grads, "grads", name);
    if (names.size() > 2)
      for (const std::string& name : names) make.add(TwinKind::not_grads, "not_grads", name);
  }
  make.add(TwinKind::upstream_strided, "upstream_strided");
  make.add(TwinKind::upstream_expanded, "upstream_expanded");
}

void add_roads(const std::vector<std::string>& roads, Maker& make) {
  for (const std::string& road : roads) {
    if (road == "inplace") {
      make.add(TwinKind::inplace, "inplace");
      make.add(TwinKind::inplace_strided, "inplace_strided");
    } else if (road == "out") {
      make.add(TwinKind::out, "out");
    } else if (road == "batch") {
      make.add(TwinKind::batch, "batch");
    } else if (road.rfind(kPair, 0) == 0) {
      make.add(TwinKind::pair, "pair", road.substr(kPair.size()));
    }
  }
}

bool is_road(const std::string& word) { return word == "inplace" || word == "out" || word == "batch" || word.rfind(kPair, 0) == 0; }

}  // namespace

bool has_road(Policy policy, TwinKind kind) {
  return !is_amp(policy) || (kind != TwinKind::inplace && kind != TwinKind::inplace_strided && kind != TwinKind::out);
}

Forms read_forms(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kFormsFile;
  Forms forms;
  if (!std::filesystem::exists(file)) return forms;
  std::istringstream text(read_text(file));
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string key;
    words >> key;
    std::vector<std::string>& roads = forms[key];
    for (std::string road; words >> road; roads.push_back(road))
      if (!is_road(road))
        throw Error("bad_forms", fmt::format("{}:{}", file.generic_string(), number), fmt::format("'{}' is not a road", road),
                    "make the file again with `driftgate docs --forms`");
  }
  return forms;
}

std::vector<DeviceLimit> read_device_limits(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kDeviceLimitsFile;
  std::vector<DeviceLimit> limits;
  if (!std::filesystem::exists(file)) return limits;
  std::istringstream text(read_text(file));
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::size_t first = line.find('\t'), second = first == std::string::npos ? first : line.find('\t', first + 1);
    if (second == std::string::npos || first == 0 || second == first + 1 || second + 1 == line.size())
      throw Error("bad_limit", fmt::format("{}:{}", file.generic_string(), number), "not 'device<tab>glob<tab>why'");
    limits.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return limits;
}

std::string to_text(const Forms& forms) {
  std::string text = "# Roads of each operator and argument set beside the functional call. Made by `driftgate docs --forms`.\n";
  for (const auto& [key, roads] : std::map<std::string, std::vector<std::string>>(forms.begin(), forms.end()))
    text += fmt::format("{}\t{}\n", key, fmt::join(roads, " "));
  return text;
}

std::vector<Twin> twins_of(const Row& row, std::string_view op, const ArgumentSet& set, Direction direction, const std::vector<std::string>& roads) {
  Maker make;
  if (set.raises || set.law) return make.take();         // nothing to compare
  const std::vector<Operand> all = operands(set);
  add_layouts(all, writes_operands(op), make);
  if (direction == Direction::forward) {
    add_roads(roads, make);
    if (!writes_operands(op)) make.add(TwinKind::inputs_kept, "inputs_kept");
    const bool gradients = std::any_of(all.begin(), all.end(), [&](const Operand& operand) { return differentiated(row, operand); }) &&
                           std::find(row.directions.begin(), row.directions.end(), Direction::backward) != row.directions.end();
    if (gradients) make.add(TwinKind::grad_mode, "grad_mode");
  } else {
    add_gradients(row, all, make);
  }
  make.add(TwinKind::repeat, "repeat");
  make.add(TwinKind::poisoned, "poisoned");
  return make.take();
}

}  // namespace driftgate
