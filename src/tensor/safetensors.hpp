#pragma once
// safetensors files (huggingface/safetensors, README "Format"): an 8-byte little-endian length, a JSON header, one buffer.
//
// The reader is strict because goldens and weights come from other people: the header starts with '{', is at most
// 100,000,000 bytes and holds no duplicate keys; offsets tile the buffer from 0 to the end of the file with no gap or
// overlap; shape times size equals the extent, overflow checked. Anything else is Error `bad_safetensors`, naming the
// file and the tensor. The writer sorts by element size, then name, and pads the header to 8 bytes: equal content gives
// equal bytes.
#include <filesystem>
#include <map>
#include <string>

#include "tensor/buffer.hpp"

namespace driftgate {

struct Safetensors {
  std::map<std::string, Buffer> tensors;
  std::map<std::string, std::string> metadata;
};

Safetensors read_safetensors(const std::filesystem::path& file);
Safetensors parse_safetensors(std::string_view bytes, const std::string& where);
std::string to_bytes(const Safetensors& content);
void write_safetensors(const std::filesystem::path& file, const Safetensors& content);

}  // namespace driftgate
