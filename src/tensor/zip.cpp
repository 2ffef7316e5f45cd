#include "tensor/zip.hpp"

#include <array>
#include <cstring>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

constexpr std::uint64_t kMostBytes = 0xFFFFFFFE;        // one more stands for a zip64 size
constexpr std::size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30, kLongestComment = 0xFFFF;
constexpr std::uint32_t kEnd = 0x06054b50, kEntry = 0x02014b50, kLocal = 0x04034b50;
constexpr std::uint64_t kEncrypted = 1;

bool is_safe(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string::npos || name.find('\0') != std::string::npos) return false;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    if (name.compare(start, end - start, "..") == 0) return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

ZipArchive ZipArchive::open(const std::filesystem::path& file) { return ZipArchive(read_text(file, kMostBytes), file.string()); }

void ZipArchive::bad(const std::string& problem) const { throw Error("bad_zip", where_, problem, "the archive is damaged, or was not written by torch.export.save"); }

std::uint64_t ZipArchive::number(std::size_t offset, int bytes) const {
  std::uint64_t value = 0;
  if (offset + static_cast<std::size_t>(bytes) > bytes_.size()) bad("it ends inside of a header");
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes_[offset + static_cast<std::size_t>(i)]);
  return value;
}

// The last record that reaches to the end of the file with its comment.
std::size_t ZipArchive::find_end() const {
  if (bytes_.size() < kEndSize) bad("it is too short for a zip archive");
  const std::size_t last = bytes_.size() - kEndSize, first = last > kLongestComment ? last - kLongestComment : 0;
  for (std::size_t at = last + 1; at-- > first;)
    if (number(at, 4) == kEnd && at + kEndSize + number(at + 20, 2) == bytes_.size()) return at;
  bad("no end of the directory: it is cut short, or no zip archive");
}

ZipArchive::ZipArchive(std::string bytes, std::string where) : bytes_(std::move(bytes)), where_(std::move(where)) {
  const std::size_t end = find_end();
  const std::uint64_t count = number(end + 10, 2), size = number(end + 12, 4), directory = number(end + 16, 4);
  if (number(end + 4, 2) != 0 || number(end + 6, 2) != 0 || number(end + 8, 2) != count) bad("it is one part of several");
  if (count == 0xFFFF || size == 0xFFFFFFFF || directory == 0xFFFFFFFF) throw Error("unsupported_zip", where_, "zip64 sizes: 4 GiB or 65,535 entries and more");
  if (directory + size > end) bad("its directory lies outside of it");
  std::map<std::size_t, std::size_t> extents;           // start of each entry -> its end
  std::size_t at = directory;
  for (std::uint64_t i = 0; i < count; ++i) read_entry(at, directory, extents);
  if (at != directory + size) bad("its directory is longer or shorter than it says");
  std::size_t reached = 0;
  for (const auto& [start, stop] : extents) {
    if (start < reached) bad("two entries overlap");
    reached = stop;
  }
}

void ZipArchive::read_entry(std::size_t& at, std::size_t directory, std::map<std::size_t, std::size_t>& extents) {
  if (number(at, 4) != kEntry) bad("an entry of the directory has no signature");
  const std::uint64_t flags = number(at + 8, 2), method = number(at + 10, 2), packed = number(at + 20, 4), size = number(at + 24, 4);
  const std::size_t name_size = number(at + 28, 2), local = number(at + 42, 4);
  const auto crc = static_cast<std::uint32_t>(number(at + 16, 4));
  const std::size_t next = at + kEntrySize + name_size + number(at + 30, 2) + number(at + 32, 2);
  if (next > bytes_.size()) bad("it ends inside of its directory");
  const std::string name = bytes_.substr(at + kEntrySize, name_size);
  if (!is_safe(name)) bad("an entry has the name '" + name + "'");
  if ((flags & kEncrypted) != 0) bad("'" + name + "' is encrypted");
  if (size == 0xFFFFFFFF || packed == 0xFFFFFFFF || local == 0xFFFFFFFF) throw Error("unsupported_zip", where_, "'" + name + "' has a zip64 size");
  if (method != 0) throw Error("unsupported_zip", where_, "'" + name + "' is compressed", "torch.export.save stores entries as they are: write the archive with it");
  if (packed != size) bad("'" + name + "' is stored with two sizes");
  if (number(local, 4) != kLocal) bad("'" + name + "' points to no entry");
  const std::size_t local_name = number(local + 26, 2), content = local + kLocalSize + local_name + number(local + 28, 2);
  if (local_name != name_size || bytes_.compare(local + kLocalSize, local_name, name) != 0) bad("'" + name + "' has another name where it is stored");
  if (content + size > directory) bad("'" + name + "' lies outside of the archive");
  if (!entries_.emplace(name, Entry{content, size, crc}).second) bad("'" + name + "' is there twice");
  if (!extents.emplace(local, content + size).second) bad("two entries overlap");
  at = next;
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

std::string_view ZipArchive::read(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) throw Error("missing_entry", where_, "has no entry '" + name + "'");
  const std::string_view content = std::string_view(bytes_).substr(found->second.offset, found->second.size);
  if (crc32(content) != found->second.crc) bad("'" + name + "' is damaged: its checksum differs");
  return content;
}

}  // namespace driftgate
