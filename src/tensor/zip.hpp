#pragma once
// Reader of zip archives whose entries are stored, not compressed, as torch writes them (PKWARE APPNOTE 6.3, without zip64 sizes).
//
// Archives come from other people: every size and offset is checked against the file, entries may not overlap, be encrypted, be named
// twice or point outside ("..", an absolute path), local headers must agree with the directory, and an entry's CRC-32 is checked when it
// is read. Anything else is Error `bad_zip`; `unsupported_zip` for compression and for archives of 4 GiB and more.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace driftgate {

class ZipArchive {
 public:
  static ZipArchive open(const std::filesystem::path& file);
  ZipArchive(std::string bytes, std::string where);
  ZipArchive(ZipArchive&&) = default;
  ZipArchive& operator=(ZipArchive&&) = default;

  std::vector<std::string> names() const;               // sorted
  bool has(const std::string& name) const { return entries_.count(name) > 0; }
  std::string_view read(const std::string& name) const; // Error `missing_entry`
  const std::string& where() const { return where_; }

 private:
  struct Entry {
    std::size_t offset, size;                           // of the content
    std::uint32_t crc;
  };
  std::uint64_t number(std::size_t offset, int bytes) const;
  std::size_t find_end() const;
  void read_entry(std::size_t& at, std::size_t directory, std::map<std::size_t, std::size_t>& extents);
  [[noreturn]] void bad(const std::string& problem) const;

  std::string bytes_, where_;
  std::map<std::string, Entry> entries_;
};

std::uint32_t crc32(std::string_view bytes);

}  // namespace driftgate
