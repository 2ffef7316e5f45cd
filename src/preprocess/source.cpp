#include "preprocess/source.hpp"

#include <ATen/ATen.h>

#include <cstring>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "image/jpeg.hpp"
#include "tensor/safetensors.hpp"
#include "version.hpp"

namespace driftgate::preprocess {
namespace {

std::filesystem::path folder() { return std::filesystem::path(std::string(kSourceDir)) / "tests/data/jpeg"; }

const Buffer& golden_pixels(const std::string& picture) {
  static const Safetensors all = read_safetensors(folder() / "pixels.safetensors");
  const auto found = all.tensors.find(picture);
  if (found == all.tensors.end()) throw Error("unknown_picture", picture, "is not in " + (folder() / "pixels.safetensors").string());
  return found->second;
}

}  // namespace

ProgramInput jpeg_input(std::string name, const std::string& picture) {
  golden_pixels(picture);
  const std::string bytes = read_text(folder() / (picture + ".jpg"));
  Buffer value(DType::u8, {static_cast<std::int64_t>(bytes.size())});
  std::memcpy(value.bytes.data(), bytes.data(), bytes.size());
  return given(std::move(name), std::move(value));
}

ProgramInput pixels_input(std::string name, const std::string& picture) { return given(std::move(name), golden_pixels(picture)); }

ProgramInput levels_input(ObjectReader& settings) {
  if (settings.has("picture")) {
    const std::string picture = settings.string("picture");
    return given("levels", to_buffer(to_pictures(to_tensor(golden_pixels(picture)))));
  }
  ProgramInput input = data("levels", integers(settings, "shape", 4), "integers(low=0, high=255)");
  input.tensor.dtype = DType::u8;
  return input;
}

at::Tensor decoded(const at::Tensor& jpeg, const std::string& where) {
  const Buffer bytes = to_buffer(jpeg);
  return to_tensor(decode_jpeg(bytes.bytes, where));
}

at::Tensor to_pictures(const at::Tensor& pixels) { return pixels.permute({2, 0, 1}).unsqueeze(0); }

std::vector<std::int64_t> integers(ObjectReader& settings, const std::string& key, std::size_t count) {
  std::vector<std::int64_t> values;
  for (const Json& value : settings.array(key)) {
    if (!value.is_number_integer()) throw Error("wrong_type", settings.where(key), "needs whole numbers");
    values.push_back(value.get<std::int64_t>());
  }
  if (values.empty() || (count > 0 && values.size() != count)) throw Error("wrong_type", settings.where(key), "needs " + std::to_string(count) + " whole numbers");
  return values;
}

std::vector<double> numbers(ObjectReader& settings, const std::string& key, std::size_t count) {
  std::vector<double> values;
  for (const Json& value : settings.array(key)) values.push_back(as_number(value, settings.where(key)));
  if (values.size() != count) throw Error("wrong_type", settings.where(key), "needs " + std::to_string(count) + " numbers");
  return values;
}

at::ScalarType working_dtype(const ProgramCall& call) { return call.reference ? c10::kDouble : torch_dtype(dtype_of(call.policy)); }

}  // namespace driftgate::preprocess
