#include "tensor/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "error.hpp"
#include "json.hpp"
#include "tensor/element.hpp"

namespace driftgate {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 34;
constexpr std::uint64_t kMaxExtent = INT64_MAX;
constexpr std::string_view kMetadata = "__metadata__";
constexpr std::array<std::pair<DType, std::string_view>, 11> kTypes = {{{DType::f16, "F16"},
                                                                        {DType::bf16, "BF16"},
                                                                        {DType::f32, "F32"},
                                                                        {DType::f64, "F64"},
                                                                        {DType::i8, "I8"},
                                                                        {DType::u8, "U8"},
                                                                        {DType::i16, "I16"},
                                                                        {DType::i32, "I32"},
                                                                        {DType::i64, "I64"},
                                                                        {DType::boolean, "BOOL"},
                                                                        {DType::c64, "C64"}}};

[[noreturn]] void fail(const std::string& where, const std::string& problem) { throw Error("bad_safetensors", where, problem); }

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

std::uint64_t natural(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned()) fail(where, "holds something else than whole numbers from 0 up");
  return value.get<std::uint64_t>();
}

DType read_dtype(const Json& value, const std::string& where) {
  for (const auto& [dtype, word] : kTypes) {
    if (value == word) return dtype;
  }
  fail(where, "has the unknown or unsupported dtype " + value.dump());
}

Entry read_entry(const std::string& name, const Json& value, const std::string& where) {
  ObjectReader reader(value, where);
  Entry entry{name, read_dtype(reader.at("dtype"), where), {}};
  std::uint64_t size = size_of(entry.dtype);
  for (const Json& item : reader.array("shape")) {
    const std::uint64_t extent = natural(item, where + ".shape");
    if (extent > kMaxExtent || (extent > 0 && size > kMaxExtent / extent)) fail(where, "has a shape whose size overflows");
    size *= extent;
    entry.shape.push_back(static_cast<std::int64_t>(extent));
  }
  const Json& offsets = reader.array("data_offsets");
  if (offsets.size() != 2) fail(where, "must have two data_offsets");
  entry.begin = natural(offsets[0], where + ".data_offsets");
  entry.end = natural(offsets[1], where + ".data_offsets");
  if (entry.end < entry.begin) fail(where, "ends before it begins");
  if (entry.end - entry.begin != size) {
    fail(where, "spans " + std::to_string(entry.end - entry.begin) + " bytes where its shape needs " + std::to_string(size));
  }
  reader.finish();
  return entry;
}

std::map<std::string, std::string> read_metadata(const Json& object, const std::string& where) {
  if (!object.is_object()) fail(where, "must be an object");
  std::map<std::string, std::string> metadata;
  for (const auto& member : object.items()) {
    if (!member.value().is_string()) fail(where + "." + member.key(), "must be a string");
    metadata[member.key()] = member.value().get<std::string>();
  }
  return metadata;
}

void check_tiling(std::vector<Entry>& entries, std::uint64_t extent, const std::string& where) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (const Entry& entry : entries) {
    const std::string tensor = where + ": " + entry.name;
    if (entry.begin > next) fail(tensor, "begins after a gap of " + std::to_string(entry.begin - next) + " bytes");
    if (entry.begin < next) fail(tensor, "overlaps the tensor before it");
    if (entry.end > extent) fail(tensor, "ends " + std::to_string(entry.end - extent) + " bytes after the end of the file");
    next = entry.end;
  }
  if (next != extent) fail(where, std::to_string(extent - next) + " bytes follow the last tensor");
}

Safetensors parse(std::string_view bytes, const std::string& where) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) fail(where, "is too short for a header");
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (length > kMaxHeader) fail(where, "has a header of more than " + std::to_string(kMaxHeader) + " bytes");
  if (length > bytes.size()) fail(where, "ends inside its header");
  const std::string_view header = bytes.substr(0, static_cast<std::size_t>(length));
  const std::string_view data = bytes.substr(header.size());
  if (header.empty() || header.front() != '{') fail(where, "has a header that does not begin with '{'");

  Safetensors content;
  std::vector<Entry> entries;
  const Json document = parse_json(header, where);
  for (const auto& member : document.items()) {
    const std::string tensor = where + ": " + member.key();
    if (member.key() == kMetadata) {
      content.metadata = read_metadata(member.value(), tensor);
    } else {
      entries.push_back(read_entry(member.key(), member.value(), tensor));
    }
  }
  check_tiling(entries, data.size(), where);
  for (const Entry& entry : entries) {
    Buffer& buffer = content.tensors[entry.name];
    buffer = Buffer(entry.dtype, entry.shape);
    if (!buffer.bytes.empty()) std::memcpy(buffer.bytes.data(), data.data() + entry.begin, buffer.bytes.size());
  }
  return content;
}

std::string_view word(DType dtype, const std::string& where) {
  for (const auto& [type, text] : kTypes) {
    if (type == dtype) return text;
  }
  fail(where, "safetensors has no " + std::string(name(dtype)));
}

}  // namespace

Safetensors parse_safetensors(std::string_view bytes, const std::string& where) {
  try {
    return parse(bytes, where);
  } catch (const Error& error) {
    if (error.name() == "bad_safetensors") throw;
    fail(where, std::string("has a bad header: ") + error.what());
  }
}

Safetensors read_safetensors(const std::filesystem::path& file) { return parse_safetensors(read_text(file, kMaxFile), file.string()); }

std::string to_bytes(const Safetensors& content) {
  std::vector<std::pair<std::string_view, const Buffer*>> order;
  for (const auto& [name, buffer] : content.tensors) {
    if (name == kMetadata) fail(name, "is not a name for a tensor");
    const auto count = static_cast<std::uint64_t>(numel(buffer.shape));
    if (buffer.bytes.size() / size_of(buffer.dtype) != count || buffer.bytes.size() % size_of(buffer.dtype) != 0) {
      fail(name, "has bytes that do not match its shape");
    }
    order.emplace_back(name, &buffer);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return size_of(a.second->dtype) > size_of(b.second->dtype); });

  nlohmann::json header = nlohmann::json::object();
  if (!content.metadata.empty()) header[std::string(kMetadata)] = content.metadata;
  std::uint64_t end = 0;
  for (const auto& [name, buffer] : order) {
    const std::uint64_t begin = std::exchange(end, end + buffer->bytes.size());
    header[std::string(name)] = {{"dtype", word(buffer->dtype, std::string(name))}, {"shape", buffer->shape}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    fail("a safetensors header", "holds a name or metadata that is not UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.reserve(sizeof length + text.size() + end);
  bytes += text;
  for (const auto& [name, buffer] : order) bytes.append(reinterpret_cast<const char*>(buffer->bytes.data()), buffer->bytes.size());
  return bytes;
}

void write_safetensors(const std::filesystem::path& file, const Safetensors& content) { write_text(file, to_bytes(content)); }

}  // namespace driftgate
