#pragma once
// One exception for every input that cannot be used: a spec, a table, a golden, evidence, a flag.
//
// `name` is a stable word that tests and scripts may rely on (`duplicate_key`, `two_rows`, …); the message names
// the file, the key and the remedy. The command line prints it and ends with exit code 2.
#include <stdexcept>
#include <string>

namespace driftgate {

class Error : public std::runtime_error {
 public:
  // where: a file, or a file and a key ("tolerances/softmax.json: rows[3].limit"). remedy may be empty.
  Error(std::string name, const std::string& where, const std::string& problem, const std::string& remedy = "")
      : std::runtime_error(where + ": " + problem + " [" + name + "]" + (remedy.empty() ? "" : "\n  " + remedy)),
        name_(std::move(name)) {}
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace driftgate
