#pragma once
// Arguments of a call replaced by private ones, and memory read or written in the wrong place.
#include "sim/call.hpp"

namespace driftgate {

// Puts private tensors in the place of arguments. What the call wrote to a private one goes to the argument's own memory afterwards,
// and the argument takes its place among the results.
class PrivateOperands {
 public:
  PrivateOperands(const Call& call, Stack& arguments) : call_(call), arguments_(arguments) {}

  void replace(std::size_t position, const std::function<at::Tensor(const at::Tensor&)>& make);
  using Write = std::function<void(at::Tensor& memory, const at::Tensor& value)>;
  void write_back(Stack& results, const Write& write = {});           // without `write`, as a sound device would

 private:
  struct Pair {
    at::Tensor memory, own;
    bool written;
  };
  const Call& call_;
  Stack& arguments_;
  std::vector<Pair> pairs_;
};

// Copies of all tensors, for calls whose effects nobody may see. Equal tensors stay equal.
Stack private_copies(const Call& call, const Stack& arguments);

enum class Misreading : std::uint8_t { strides, offset };
at::Tensor misread(const at::Tensor& tensor, Misreading how);         // memory that is not there reads as zeros
void miswrite(at::Tensor& memory, const at::Tensor& value, Misreading how);
// Changes one element of the storage that does not belong to the view, the nearest behind it if there is one.
void clobber_beside(const at::Tensor& view);

c10::IValue default_of(const c10::Argument& argument);                // its default, else none, zero or empty
bool differs_from_default(const std::string& name, const Call& call);
bool mixes_any_dtypes(const Call& call);                              // among its tensors, or with a dtype argument
bool writes_into_a_part(const Call& call);                            // a written argument is not its whole storage

}  // namespace driftgate
