#pragma once
// A program that torch.export.save wrote (the PT2 archive of torch 2.8 and later): its graph, its weights, its sample inputs.
//
//   archive_format "pt2", archive_version "0", byteorder "little"
//   models/NAME.json                     the graph: schema version 8 of torch/_export/serde/schema.py
//   data/weights/, data/constants/       raw little-endian storages, and NAME_{weights,constants}_config.json that says what they hold
//   data/sample_inputs/NAME.pt           a pickle of (args, kwargs), read by pt2/interpreter.hpp
//
// The archive is not trusted. Errors: `bad_zip` and `unsupported_zip` (tensor/zip.hpp), `bad_json`, `missing_entry`, `missing_key`,
// `wrong_type`, `unknown_key`; `other_layout`, `other_schema` for what another release wrote; `bad_weight` where a storage is smaller than
// its tensor; `bad_program` where the graph contradicts itself; `unsupported_program` for pickled weights, custom objects and tokens.
#include <memory>
#include <string>
#include <vector>

#include "json.hpp"
#include "tensor/buffer.hpp"
#include "tensor/zip.hpp"

namespace driftgate {

struct ExportedTensor {                                 // a view of a storage
  DType dtype = DType::f32;
  Shape sizes, strides;
  std::int64_t offset = 0;                              // in elements
  std::string_view storage;                             // in the archive; large enough
};

struct ExportedInput {
  enum class Kind : std::uint8_t { weight, given, constant };
  Kind kind = Kind::given;
  std::string name;                                     // in the graph
  ExportedTensor tensor;                                // of a weight, a buffer or a tensor constant
};

struct ExportedArgument {
  std::string name;                                     // as in the operator's schema
  std::string kind;                                     // "as_tensor", "as_ints", …: one of schema.py's Argument
  Json value;
};

struct ExportedResult {
  std::vector<std::string> names;                       // none: the result is not used
  bool list = false;
};

struct ExportedNode {
  std::string name, target;                             // "linear_1", "torch.ops.aten.linear.default"
  std::string layer;                                    // the innermost module: "encoder.layers.0", where the file says it
  std::vector<ExportedArgument> arguments;
  std::vector<ExportedResult> results;
};

struct ExportedProgram {
  std::shared_ptr<const ZipArchive> archive;            // what the views point into
  std::string where, torch_version;
  std::vector<ExportedInput> inputs;
  std::vector<ExportedNode> nodes;
  std::vector<std::string> outputs;                     // names of the tensors that the graph returns
  std::string_view sample_inputs;
};

ExportedProgram read_exported(const std::filesystem::path& file);

}  // namespace driftgate
