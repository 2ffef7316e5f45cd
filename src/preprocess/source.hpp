#pragma once
// What the programs of level preprocess begin with.
#include "models/program.hpp"

namespace driftgate::preprocess {

// Reads "picture" or "shape" and declares the input "levels", u8 [n, channels, height, width].
ProgramInput levels_input(ObjectReader& settings);
// The bytes of a JPEG file of tests/data/jpeg as an input, and its golden pixels [height, width, channels]. Error `unknown_picture`.
ProgramInput jpeg_input(std::string name, const std::string& picture);
ProgramInput pixels_input(std::string name, const std::string& picture);

at::Tensor decoded(const at::Tensor& jpeg, const std::string& where);     // on the CPU, as jpeg_input's bytes say
at::Tensor to_pictures(const at::Tensor& pixels);       // [height, width, channels] → [1, channels, height, width]

std::vector<std::int64_t> integers(ObjectReader& settings, const std::string& key, std::size_t count);   // count 0: any
std::vector<double> numbers(ObjectReader& settings, const std::string& key, std::size_t count);
at::ScalarType working_dtype(const ProgramCall& call);  // fp64 in the reference, else the policy's

}  // namespace driftgate::preprocess
