#pragma once
// The name of the Error that an action throws, "" when it throws none; and a folder that goes when the test does.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "error.hpp"

namespace driftgate {

template <class Action>
std::string error_name(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.name();
  }
  return "";
}

template <class Action>
std::string error_text(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> serial{0};
    path_ = std::filesystem::temp_directory_path() / ("driftgate_test_" + std::to_string(::getpid()) + "_" + std::to_string(serial++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace driftgate
