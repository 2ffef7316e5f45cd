#include "run/prepared.hpp"

#include <algorithm>

#include "device/torch_types.hpp"
#include "error.hpp"

namespace driftgate {

Prepared prepare(const Case& c) {
  Prepared prepared{c, c.input_key(), std::make_shared<BoundOperator>(c), {}, {}, false};
  const DType policy = dtype_of(c.policy), computed = computed_dtype(c.policy);
  std::string digests;
  for (const TensorSlot& slot : prepared.op->slots()) {
    PreparedInput input;
    input.name = slot.name;
    input.fill = slot.spec->fill;
    const DType dtype = slot.spec->dtype.value_or(policy);
    input.buffer = fill_tensor(slot.spec->fill, slot.spec->dtype.value_or(computed), slot.spec->shape, prepared.key + "/" + slot.name);
    if (input.buffer.dtype != dtype) input.buffer = from_doubles(dtype, input.buffer.shape, to_doubles(input.buffer));   // autocast loses nothing
    input.floating = is_float(dtype) || is_complex(dtype);
    const auto named = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), slot.name.substr(0, slot.name.find('.'))) != names.end();
    };
    input.as_it_is = named(c.row->as_it_is);
    input.on_host = named(c.row->host);
    const auto& grad = c.row->grad;
    input.differentiable = input.floating &&
                           (grad ? named(*grad)
                                 : !slot.spec->dtype.has_value() || slot.spec->dtype == policy);
    input.differentiated = input.differentiable && c.direction == Direction::backward;
    digests += hex(digest(input.buffer));
    prepared.inputs.push_back(std::move(input));
  }
  prepared.digest = digest(digests);
  if (c.direction == Direction::backward &&
      std::none_of(prepared.inputs.begin(), prepared.inputs.end(), [](const PreparedInput& i) { return i.differentiated; }))
    throw Error("bad_argument", c.row->file + ": " + c.id(), "nothing to differentiate", "give \"grad\" or a floating tensor");
  return prepared;
}

}  // namespace driftgate
