// Whole files: the reading and writing half of json.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void unwritable(const fs::path& file, const std::string& problem) {
  throw Error("unwritable", file.string(), "cannot be written: " + problem);
}

// An open descriptor that is closed on every way out. `named` is the file in messages.
class OutputFile {
 public:
  OutputFile(const fs::path& path, int flags, const fs::path& named)
      : named_(named), descriptor_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666)) {
    if (descriptor_ < 0) fail(errno);
  }
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // macOS refuses 2 GiB and more in one call
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), kAtOnce));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(written < 0 ? errno : ENOSPC);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (::fsync(descriptor_) != 0) fail(errno);
  }
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  }

 private:
  [[noreturn]] void fail(int code) const { unwritable(named_, std::strerror(code)); }

  const fs::path& named_;
  int descriptor_;
};

}  // namespace

std::string read_text(const fs::path& file, std::uint64_t max_bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "rb"), &std::fclose);
  if (!stream) throw Error("unreadable", file.string(), std::strerror(errno));
  std::string text;
  std::error_code no_size;
  const std::uint64_t size = fs::file_size(file, no_size);
  if (!no_size) text.reserve(static_cast<std::size_t>(std::min(size, max_bytes)));
  std::vector<char> chunk(std::size_t{1} << 16);
  while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), stream.get())) {
    if (got > max_bytes - text.size()) {
      throw Error("too_large", file.string(), "is larger than " + std::to_string(max_bytes) + " bytes");
    }
    text.append(chunk.data(), got);
  }
  if (std::ferror(stream.get())) throw Error("unreadable", file.string(), std::strerror(errno));
  return text;
}

void write_text(const fs::path& file, std::string_view text) {
  std::error_code unknown;
  const fs::file_type type = fs::symlink_status(file, unknown).type();
  if (type != fs::file_type::regular && type != fs::file_type::not_found) {
    OutputFile output(file, O_CREAT | O_TRUNC, file);
    output.write(text);
    output.close();
    return;
  }
  static std::atomic<unsigned> serial{0};
  fs::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + "." + std::to_string(serial++) + ".tmp";
  try {
    OutputFile output(temporary, O_CREAT | O_EXCL, file);
    output.write(text);
    output.sync();
    output.close();
    fs::rename(temporary, file);
  } catch (const fs::filesystem_error& error) {
    fs::remove(temporary, unknown);
    unwritable(file, error.code().message());
  } catch (...) {
    fs::remove(temporary, unknown);
    throw;
  }
}

void remove_tree(const std::filesystem::path& directory) {
  const std::filesystem::file_status status = std::filesystem::symlink_status(directory);
  if (!std::filesystem::exists(status)) return;
  if (std::filesystem::is_directory(status)) {
    std::vector<std::filesystem::path> entries;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) entries.push_back(entry.path());
    for (const auto& entry : entries) remove_tree(entry);
  }
  std::filesystem::remove(directory);
}

}  // namespace driftgate
