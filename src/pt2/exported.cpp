#include "pt2/exported.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "error.hpp"
#include "pt2/schema.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kSchemaMajor = 8;
constexpr std::size_t kMostDims = 64;

using Tensors = std::map<std::string, ExportedTensor>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

bool is_plain(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

std::int64_t count_of(const Json& value, const std::string& where) {
  const Json& number = value.is_object() && value.size() == 1 && value.contains("as_int") ? value["as_int"] : value;
  if (!number.is_number_integer() || number.get<std::int64_t>() < 0) throw Error("bad_weight", where, "needs a size that is known and not negative");
  return number.get<std::int64_t>();
}

std::int64_t product(std::int64_t a, std::int64_t b, const std::string& where) {
  if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) throw Error("bad_weight", where, "its sizes overflow");
  return a * b;
}

// The whole archive's entries lie below one folder.
std::string root_of(const ZipArchive& archive) {
  const std::vector<std::string> names = archive.names();
  const std::string root = names.empty() ? "" : names.front().substr(0, names.front().find('/') + 1);
  for (const std::string& name : names)
    if (root.empty() || name.rfind(root, 0) != 0)
      throw Error("other_layout", archive.where(), "'" + name + "' is not below the archive's one folder", "write it with torch.export.save of torch 2.8 or later");
  return root;
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : archive_(std::make_shared<const ZipArchive>(ZipArchive::open(file))), root_(root_of(*archive_)) {}

  ExportedProgram read() {
    demand("archive_format", "pt2");
    demand("archive_version", "0");
    demand("byteorder", "little");
    const std::string model = model_name();
    ExportedProgram program;
    program.archive = archive_;
    program.where = archive_->where();
    program.sample_inputs = archive_->read(root_ + "data/sample_inputs/" + model + ".pt");
    for (const char* kind : {"weights", "constants"}) read_tensors(kind, model);
    const std::string where = archive_->where() + "/models/" + model + ".json";
    const Json document = parse_json(archive_->read(root_ + "models/" + model + ".json"), where);
    ObjectReader top(document, where);
    ObjectReader version(top.object("schema_version"), where + ": schema_version");
    const std::int64_t major = version.integer("major");
    if (major != kSchemaMajor)
      throw Error("other_schema", where, "schema version " + std::to_string(major) + ", not " + std::to_string(kSchemaMajor), "export with torch 2.8 to 2.14");
    program.torch_version = top.string("torch_version", "");
    ObjectReader module(top.object("graph_module"), where + ": graph_module");
    read_graph(module.object("graph"), module.object("signature"), where + ": graph_module", program);
    return program;
  }

 private:
  void demand(const char* entry, std::string_view value) const {
    if (!archive_->has(root_ + entry))
      throw Error("other_layout", archive_->where(), std::string("has no entry '") + entry + "'", "write it with torch.export.save of torch 2.8 or later");
    if (trimmed(archive_->read(root_ + entry)) != value) throw Error("other_layout", archive_->where(), std::string(entry) + " is not '" + std::string(value) + "'");
  }

  std::string model_name() const {
    std::vector<std::string> models;
    const std::string folder = root_ + "models/";
    for (const std::string& name : archive_->names())
      if (name.rfind(folder, 0) == 0 && name.size() > folder.size() + 5 && name.compare(name.size() - 5, 5, ".json") == 0)
        models.push_back(name.substr(folder.size(), name.size() - folder.size() - 5));
    if (models.size() != 1) throw Error("other_layout", archive_->where(), "holds " + std::to_string(models.size()) + " models, not one");
    return models.front();
  }

  void read_tensors(const std::string& kind, const std::string& model) {
    const std::string folder = root_ + "data/" + kind + "/", entry = folder + model + "_" + kind + "_config.json";
    const std::string where = archive_->where() + "/" + entry.substr(root_.size());
    const Json document = parse_json(archive_->read(entry), where);
    ObjectReader top(document, where);
    for (const auto& [name, described] : top.object("config").items()) {
      ObjectReader reader(described, top.where("config") + "." + name);
      const std::string path = reader.string("path_name");
      if (!is_plain(path)) throw Error("bad_weight", reader.where("path_name"), "'" + path + "' is no name of a file here");
      if (reader.boolean("use_pickle", false) || path.rfind("custom_obj", 0) == 0 || path.rfind("opaque_obj", 0) == 0)
        throw Error("unsupported_program", reader.where("path_name"), "a pickled object", "only plain tensors are read");
      tensors_[kind == "weights" ? name : "constant " + name] = read_tensor(reader.object("tensor_meta"), reader.where("tensor_meta"), archive_->read(folder + path));
    }
    top.finish();
  }

  static ExportedTensor read_tensor(const Json& meta, const std::string& where, std::string_view storage) {
    ObjectReader reader(meta, where);
    ExportedTensor tensor;
    tensor.dtype = exported_dtype(reader.integer("dtype"), reader.where("dtype"));
    tensor.storage = storage;
    if (reader.integer("layout") != kStridedLayout) throw Error("unsupported_program", reader.where("layout"), "a layout that is not strided");
    for (const Json& size : reader.array("sizes")) tensor.sizes.push_back(count_of(size, reader.where("sizes")));
    for (const Json& stride : reader.array("strides")) tensor.strides.push_back(count_of(stride, reader.where("strides")));
    tensor.offset = count_of(reader.object("storage_offset"), reader.where("storage_offset"));
    if (tensor.strides.size() != tensor.sizes.size() || tensor.sizes.size() > kMostDims) throw Error("bad_weight", where, "sizes and strides differ in number, or are too many");
    std::int64_t elements = 1, last = tensor.offset;
    for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
      elements = product(elements, tensor.sizes[d], where);
      const std::int64_t reach = product(std::max<std::int64_t>(tensor.sizes[d] - 1, 0), tensor.strides[d], where);
      if (reach > std::numeric_limits<std::int64_t>::max() - 1 - last) throw Error("bad_weight", where, "its strides overflow");
      last += reach;
    }
    const auto held = static_cast<std::int64_t>(storage.size() / size_of(tensor.dtype));
    if (elements > held || (elements > 0 && last >= held))
      throw Error("bad_weight", where, "reaches element " + std::to_string(last) + " of a storage of " + std::to_string(held));
    return tensor;
  }

  void read_graph(const Json& graph, const Json& signature, const std::string& where, ExportedProgram& program) {
    ObjectReader reader(graph, where + ".graph"), signed_as(signature, where + ".signature");
    const Json &inputs = reader.array("inputs"), &specs = signed_as.array("input_specs");
    if (inputs.size() != specs.size()) throw Error("bad_program", reader.where("inputs"), "the graph and its signature differ in their inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      program.inputs.push_back(read_input(inputs[i], specs[i], signed_as.where("input_specs") + "[" + std::to_string(i) + "]"));
    std::set<std::string> known;
    for (const ExportedInput& input : program.inputs)
      if (!input.name.empty() && !known.insert(input.name).second) throw Error("bad_program", reader.where("inputs"), "'" + input.name + "' is there twice");
    const Json& nodes = reader.array("nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      program.nodes.push_back(read_node(nodes[i], reader.where("nodes") + "[" + std::to_string(i) + "]"));
      for (const ExportedResult& result : program.nodes.back().results)
        for (const std::string& name : result.names)
          if (!known.insert(name).second) throw Error("bad_program", reader.where("nodes") + "[" + std::to_string(i) + "]", "'" + name + "' is made twice");
    }
    for (const Json& output : reader.array("outputs")) {
      const auto [kind, value] = read_union(output, reader.where("outputs"));
      if (kind != "as_tensor") continue;                // a number that the program returns
      program.outputs.push_back(name_in(value, reader.where("outputs")));
      if (known.count(program.outputs.back()) == 0) throw Error("bad_program", reader.where("outputs"), "nothing makes '" + program.outputs.back() + "'");
    }
    if (program.outputs.empty()) throw Error("bad_program", reader.where("outputs"), "the program returns no tensor");
  }

  ExportedInput read_input(const Json& argument, const Json& spec, const std::string& where) const {
    const auto [kind, value] = read_union(spec, where);
    ExportedInput input;
    if (kind == "constant_input") {
      input.kind = ExportedInput::Kind::constant;
      return input;
    }
    const auto [type, named] = read_union(argument, where);
    if (kind == "user_input") {
      if (type == "as_tensor") input.name = name_in(named, where);
      else if (type == "as_sym_int" && named.is_object() && named.contains("as_name")) input.name = ObjectReader(named, where).string("as_name");
      return input;                                     // a plain number has no name: the graph holds its value
    }
    static const std::map<std::string, std::pair<std::string, std::string>> kTensors = {
        {"parameter", {"parameter_name", ""}}, {"buffer", {"buffer_name", ""}}, {"tensor_constant", {"tensor_constant_name", "constant "}}};
    const auto found = kTensors.find(kind);
    if (found == kTensors.end() || type != "as_tensor") throw Error("unsupported_program", where, "an input of kind '" + kind + "'");
    ObjectReader reader(value, where);
    input.kind = ExportedInput::Kind::weight;
    input.name = name_in(named, where);
    if (name_in(reader.object("arg"), where) != input.name) throw Error("bad_program", where, "the graph and its signature name it differently");
    const std::string name = reader.string(found->second.first);
    // A buffer that is not saved with the weights is among the constants.
    auto tensor = tensors_.find(found->second.second + name);
    if (tensor == tensors_.end() && kind == "buffer") tensor = tensors_.find("constant " + name);
    if (tensor == tensors_.end()) throw Error("missing_weight", where, "the archive holds no tensor '" + name + "'");
    input.tensor = tensor->second;
    return input;
  }

  static ExportedNode read_node(const Json& described, const std::string& where) {
    ObjectReader reader(described, where);
    ExportedNode node;
    node.target = reader.string("target");
    const Json& inputs = reader.array("inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ObjectReader argument(inputs[i], reader.where("inputs") + "[" + std::to_string(i) + "]");
      auto [kind, value] = read_union(argument.object("arg"), argument.where("arg"));
      if (!is_argument_kind(kind)) throw Error("unsupported_argument", argument.where("arg"), "an argument of kind '" + kind + "' of " + node.target);
      node.arguments.push_back({argument.string("name"), std::move(kind), std::move(value)});
      if (argument.has("kind")) argument.at("kind");
      argument.finish();
    }
    for (const Json& output : reader.array("outputs")) node.results.push_back(read_result(output, reader.where("outputs")));
    node.layer = layer_of(reader.object("metadata"));
    if (reader.has("is_hop_single_tensor_return")) reader.at("is_hop_single_tensor_return");
    const bool named = reader.has("name") && !reader.at("name").is_null();
    node.name = named ? reader.string("name") : node.results.empty() || node.results[0].names.empty() ? node.target : node.results[0].names[0];
    reader.finish();
    return node;
  }

  std::shared_ptr<const ZipArchive> archive_;
  std::string root_;
  Tensors tensors_;
};

}  // namespace

ExportedProgram read_exported(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace driftgate
