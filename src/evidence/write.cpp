#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include "error.hpp"
#include "evidence/evidence.hpp"

namespace driftgate {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;

[[noreturn]] void throw_unwritable(const fs::path& file, int error) {
  throw Error("unwritable", file.string(), std::strerror(error), "free the disk or choose another folder with --out");
}

void write_run(const fs::path& directory, const RunInfo& run) { write_text(directory / "run.json", to_json(run).dump(1) + "\n"); }

// The evidence that a run continues. Its plan and its surroundings are those of `run`.
Evidence read_previous(const fs::path& directory, const RunInfo& run) {
  Evidence previous = read_evidence(directory);
  if (previous.run.plan_digest != run.plan_digest) {
    throw Error("other_plan", directory.string(), "the evidence there is of another plan",
                "give the same selection, or another folder");
  }
  const std::string differs = difference(previous.run, run);
  if (!differs.empty()) throw Error("mixed_evidence", directory.string(), differs, "start again in another folder");
  return previous;
}

void cut_last_line(const fs::path& file) {
  std::string text = read_text(file, kMaxBytes);
  if (text.ends_with('\n')) text.pop_back();
  std::error_code error;
  fs::resize_file(file, text.rfind('\n') + 1, error);  // npos + 1 == 0: it was the only line
  if (error) throw_unwritable(file, error.value());
}

// All of it, or an errno.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

EvidenceWriter::EvidenceWriter(const fs::path& directory, const RunInfo& run, bool resume) : directory_(directory), run_(run) {
  run_.planned = static_cast<std::int64_t>(run_.plan.size());
  run_.plan_digest = plan_digest(run_.plan);
  run_.finished = false;
  std::error_code error;
  fs::create_directories(directory_, error);
  if (error) throw_unwritable(directory_, error.value());

  const fs::path cases = directory_ / "cases.jsonl";
  const bool exists = fs::exists(directory_ / "run.json", error);
  if (exists && !resume) {
    throw Error("evidence_exists", directory_.string(), "there is evidence in this folder",
                "continue it with --resume, or choose another folder");
  }
  if (exists) {
    const Evidence previous = read_previous(directory_, run_);
    if (previous.torn_line) cut_last_line(cases);
    for (const CaseRecord& record : previous.cases) done_.push_back(record.id);
  } else {
    write_text(cases, "");  // before run.json, which promises it
  }
  write_run(directory_, run_);
  file_ = ::open(cases.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) throw_unwritable(cases, errno);
}

EvidenceWriter::~EvidenceWriter() {
  if (file_ >= 0) ::close(file_);
}

void EvidenceWriter::append(const std::string& line) {
  const off_t before = ::lseek(file_, 0, SEEK_END);
  const int error = write_all(file_, line + "\n");
  if (error == 0) return;
  // Half a line must not stay: the next one would be appended to it. A file that cannot be cut reads as torn.
  if (::ftruncate(file_, before) != 0) ::close(std::exchange(file_, -1));
  throw_unwritable(directory_ / "cases.jsonl", error);
}

void EvidenceWriter::finish() {
  run_.finished = true;
  write_run(directory_, run_);
}

}  // namespace driftgate
