#include "run/golden.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>

#include "error.hpp"
#include "tensor/digest.hpp"
#include "tensor/safetensors.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kDigestFile = "digests.txt";

std::string digest_of_file(const std::filesystem::path& file) { return hex(digest(std::string_view(read_text(file)))); }

// "<32 hex digits>  <file name>" a line, sorted by name, nothing else.
std::map<std::string, std::string> read_digests(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kDigestFile;
  const std::string text = read_text(file, 1 << 20);
  std::map<std::string, std::string> digests;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const bool whole = end != std::string::npos && line.size() > 34 && line.compare(32, 2, "  ") == 0;
    const std::string name = whole ? line.substr(34) : "";
    if (!whole || name.find('/') != std::string::npos || !digests.emplace(name, line.substr(0, 32)).second)
      throw Error("golden_corrupt", file.string(), "malformed line '" + line + "'", "restore the set from version control");
    at = end + 1;
  }
  return digests;
}

void check_files(const std::filesystem::path& directory, const std::map<std::string, std::string>& digests) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name != kDigestFile && !digests.count(name))
      throw Error("golden_corrupt", entry.path().string(), "not listed in " + std::string(kDigestFile), "restore the set from version control");
  }
  if (!digests.count("manifest.json")) throw Error("golden_corrupt", (directory / kDigestFile).string(), "manifest.json is not listed");
}

std::string verified_text(const std::filesystem::path& directory, const std::map<std::string, std::string>& digests, const std::string& name) {
  const auto listed = digests.find(name);
  if (listed == digests.end()) throw Error("golden_corrupt", (directory / name).string(), "not listed in " + std::string(kDigestFile));
  std::string text = read_text(directory / name);
  if (hex(digest(std::string_view(text))) != listed->second)
    throw Error("golden_corrupt", (directory / name).string(), "its digest is not the one in " + std::string(kDigestFile),
                "restore the set from version control");
  return text;
}

Json shape_json(const Shape& shape) { return Json(shape); }

Shape read_shape(const Json& value, const std::string& where) {
  Shape shape;
  for (const Json& size : value) {
    if (!size.is_number_integer() || size.get<std::int64_t>() < 0 || size.get<std::int64_t>() > (std::int64_t{1} << 31))
      throw Error("bad_golden", where, "a size must be a whole number from 0 to 2^31");
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
}

GoldenOutput read_output(const Json& object, const std::string& id, const Safetensors& tensors, const std::string& where) {
  ObjectReader reader(object, where);
  GoldenOutput output;
  output.name = reader.string("name");
  output.shape = read_shape(reader.array("shape"), reader.where("shape"));
  output.digest = reader.string("digest");
  output.required = reader.real("required");
  output.spread = reader.real("spread");
  output.spread_bitwise = reader.boolean("spread_bitwise", true);
  output.tf32_required = reader.real("tf32_required", kAbsent);
  output.half_required = reader.real("half_required", kAbsent);
  reader.finish();
  const std::string key = id + "#" + output.name;
  const auto sample = tensors.tensors.find(key);
  if (sample == tensors.tensors.end()) throw Error("bad_golden", where, "the tensor '" + key + "' is missing");
  output.sample = sample->second;
  const std::size_t stored = sample_positions(output.shape).size();
  if (output.sample.shape != Shape{static_cast<std::int64_t>(stored)})
    throw Error("bad_golden", where, "the stored sample has not the size that its shape asks for");
  if (const auto tf32 = tensors.tensors.find(key + "#tf32"); tf32 != tensors.tensors.end()) {
    if (tf32->second.shape != output.sample.shape) throw Error("bad_golden", where, "the tf32 sample has another size");
    output.tf32 = tf32->second;
  }
  const auto mean = tensors.tensors.find(key + "#mean"), spread = tensors.tensors.find(key + "#spread");
  if (mean != tensors.tensors.end() && spread != tensors.tensors.end()) {
    output.ensemble = Ensemble{to_doubles(mean->second), to_doubles(spread->second)};
    const auto whole = static_cast<std::size_t>(numel(output.shape));
    if (output.ensemble->mean.size() != whole || output.ensemble->spread.size() != whole) throw Error("bad_golden", where, "the ensemble has another size");
  }
  if (const auto doubles = tensors.tensors.find(key + "#f64"); doubles != tensors.tensors.end()) {
    output.doubles = to_doubles(doubles->second);
    const std::size_t per = is_complex(output.sample.dtype) ? 2 : 1;
    if (output.doubles.size() != double_positions(stored).size() * per) throw Error("bad_golden", where, "the fp64 sample has another size");
  }
  return output;
}

Json output_json(const GoldenOutput& output) {
  Json object{{"name", output.name},
              {"shape", shape_json(output.shape)},
              {"digest", output.digest},
              {"required", number(output.required)},
              {"spread", number(output.spread)}};
  if (!output.spread_bitwise) object["spread_bitwise"] = false;
  if (!std::isnan(output.tf32_required)) object["tf32_required"] = number(output.tf32_required);
  if (!std::isnan(output.half_required)) object["half_required"] = number(output.half_required);
  return object;
}

}  // namespace

std::vector<std::int64_t> sample_positions(const Shape& shape) {
  const std::int64_t count = numel(shape);
  std::int64_t stride = std::max<std::int64_t>(1, (count + kGoldenSample - 1) / kGoldenSample);
  if (stride > 1)
    while (std::gcd(stride, shape.back()) != 1) ++stride;
  std::vector<std::int64_t> positions;
  for (std::int64_t p = 0; p < count; p += stride) positions.push_back(p);
  return positions;
}

std::vector<std::size_t> double_positions(std::size_t sample_size) {
  std::vector<std::size_t> positions;
  const std::size_t count = std::min(sample_size, kGoldenDoubles);
  for (std::size_t i = 0; i < count; ++i) positions.push_back(i * sample_size / count);
  return positions;
}

Buffer take(const Buffer& whole, const std::vector<std::int64_t>& positions) {
  Buffer part(whole.dtype, Shape{static_cast<std::int64_t>(positions.size())});
  const std::size_t size = size_of(whole.dtype);
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::memcpy(part.bytes.data() + i * size, whole.bytes.data() + static_cast<std::size_t>(positions[i]) * size, size);
  return part;
}

GoldenSet GoldenSet::open(const std::filesystem::path& directory) {
  GoldenSet set;
  set.directory_ = directory;
  set.name_ = directory.filename().string();
  set.digests_ = read_digests(directory);
  check_files(directory, set.digests_);
  for (const auto& [file, hash] : set.digests_) verified_text(directory, set.digests_, file);
  const std::string where = (directory / "manifest.json").string();
  set.manifest_ = parse_json(verified_text(directory, set.digests_, "manifest.json"), where);
  const std::string schema = set.manifest_.is_object() && set.manifest_.contains("schema") && set.manifest_["schema"].is_string()
                                 ? set.manifest_["schema"].get<std::string>() : "";
  if (schema != kGoldenSchema)
    throw Error("golden_schema", where, "schema '" + schema + "' is not '" + std::string(kGoldenSchema) + "'",
                "export the set again with `driftgate golden export`, or use the driftgate that made it");
  return set;
}

std::vector<std::string> GoldenSet::families() const {
  std::vector<std::string> families;
  for (const auto& [file, hash] : digests_)
    if (file.size() > 5 && file != "manifest.json" && file.substr(file.size() - 5) == ".json") families.push_back(file.substr(0, file.size() - 5));
  return families;
}

const std::map<std::string, GoldenCase>& GoldenSet::family(const std::string& family) const {
  const auto [entry, fresh] = families_.try_emplace(family);
  if (!fresh || !digests_.count(family + ".json")) return entry->second;
  const std::string where = (directory_ / (family + ".json")).string();
  const Json document = parse_json(verified_text(directory_, digests_, family + ".json"), where);
  const Safetensors tensors =
      parse_safetensors(verified_text(directory_, digests_, family + ".safetensors"), (directory_ / (family + ".safetensors")).string());
  ObjectReader reader(document, where);
  for (const auto& [id, value] : reader.object("cases").items()) {
    ObjectReader one(value, where + ".cases." + id);
    GoldenCase golden;
    golden.input_digest = one.string("inputs");
    const Json& outputs = one.array("outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i)
      golden.outputs.push_back(read_output(outputs[i], id, tensors, one.where("outputs[" + std::to_string(i) + "]")));
    one.finish();
    entry->second.emplace(id, std::move(golden));
  }
  reader.finish();
  return entry->second;
}

const GoldenCase* GoldenSet::find(const std::string& family, const std::string& id) const {
  const auto& cases = this->family(family);
  const auto found = cases.find(id);
  return found == cases.end() ? nullptr : &found->second;
}

std::optional<std::filesystem::path> find_golden_set(const std::filesystem::path& root) {
  if (std::filesystem::exists(root / "manifest.json")) return root;
  std::vector<std::filesystem::path> sets;
  if (std::filesystem::is_directory(root))
    for (const auto& entry : std::filesystem::directory_iterator(root))
      if (std::filesystem::exists(entry.path() / "manifest.json")) sets.push_back(entry.path());
  if (sets.size() > 1)
    throw Error("several_goldens", root.string(), "holds " + std::to_string(sets.size()) + " golden sets", "name one with --golden DIR");
  if (sets.empty()) return std::nullopt;
  return sets[0];
}

void write_golden_set(const std::filesystem::path& directory, const Json& provenance, const GoldenContent& content) {
  std::filesystem::create_directories(directory);
  std::map<std::string, std::string> digests;
  const auto write = [&](const std::string& name, const std::string& text) {
    write_text(directory / name, text);
    digests[name] = digest_of_file(directory / name);
  };
  std::int64_t count = 0;
  for (const auto& [family, cases] : content) {
    Json document{{"cases", Json::object()}};
    Safetensors tensors;
    for (const auto& [id, golden] : cases) {
      Json outputs = Json::array();
      for (const GoldenOutput& output : golden.outputs) {
        const std::string key = id + "#" + output.name;
        tensors.tensors[key] = output.sample;
        if (output.tf32) tensors.tensors[key + "#tf32"] = *output.tf32;
        if (output.ensemble) {
          tensors.tensors[key + "#mean"] = from_doubles(DType::f64, output.shape, output.ensemble->mean);
          tensors.tensors[key + "#spread"] = from_doubles(DType::f64, output.shape, output.ensemble->spread);
        }
        if (!output.doubles.empty())
          tensors.tensors[key + "#f64"] = from_doubles(DType::f64, {static_cast<std::int64_t>(output.doubles.size())}, output.doubles);
        outputs.push_back(output_json(output));
      }
      document["cases"][id] = Json{{"inputs", golden.input_digest}, {"outputs", outputs}};
      ++count;
    }
    write(family + ".json", document.dump() + "\n");
    write(family + ".safetensors", to_bytes(tensors));
  }
  Json manifest{{"schema", kGoldenSchema}};
  manifest.update(provenance);
  manifest["cases"] = count;
  write("manifest.json", manifest.dump(1) + "\n");
  std::string lines;
  for (const auto& [name, hash] : digests) lines += hash + "  " + name + "\n";
  write_text(directory / kDigestFile, lines);
}

}  // namespace driftgate
