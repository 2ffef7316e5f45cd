#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Builds the document from the parser's events, refusing what nlohmann/json would let pass.
//
// Finished values wait on one stack until their object or array closes and takes them at its final size: growing an
// ordered_json object would copy its members, whose keys are const, with all that lies below them.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const std::string& where) : where_(where) {}
  Json take() { return std::move(finished_.front().second); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { throw Error("bad_json", where_, "holds binary data"); }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override { return open(); }

  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }

  bool end_object() override {
    check_keys();
    Json object = Json::object();
    Json::object_t::Container& members = object.get_ref<Json::object_t&>();
    members.reserve(finished_.size() - open_.back().first);
    for (std::size_t i = open_.back().first; i < finished_.size(); ++i) {
      members.emplace_back(std::move(finished_[i].first), std::move(finished_[i].second));
    }
    return close(std::move(object));
  }

  bool end_array() override {
    Json array = Json::array();
    auto& elements = array.get_ref<Json::array_t&>();
    elements.reserve(finished_.size() - open_.back().first);
    for (std::size_t i = open_.back().first; i < finished_.size(); ++i) elements.push_back(std::move(finished_[i].second));
    return close(std::move(array));
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    const std::string text = error.what();
    const std::size_t prefix = text.find("] ");
    throw Error("bad_json", where_, prefix == std::string::npos ? text : text.substr(prefix + 2));
  }

 private:
  struct Level {
    std::size_t first;                                       // of its members on the stack
    std::string key;                                         // its own
  };

  bool add(Json value) {
    finished_.emplace_back(std::move(key_), std::move(value));
    return true;
  }

  bool open() {
    if (open_.size() == kMaxDepth) {
      throw Error("bad_json", where_, "is nested more than " + std::to_string(kMaxDepth) + " levels deep");
    }
    open_.push_back({finished_.size(), std::move(key_)});
    return true;
  }

  bool close(Json value) {
    finished_.resize(open_.back().first);
    key_ = std::move(open_.back().key);
    open_.pop_back();
    return add(std::move(value));
  }

  void check_keys() {
    keys_.clear();
    for (std::size_t i = open_.back().first; i < finished_.size(); ++i) keys_.push_back(finished_[i].first);
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return;
    throw Error("duplicate_key", where_, "the key \"" + std::string(*twice) + "\" appears twice in one object");
  }

  const std::string& where_;
  std::vector<std::pair<std::string, Json>> finished_;
  std::vector<Level> open_;
  std::string key_;
  std::vector<std::string_view> keys_;
};

[[noreturn]] void wrong_type(const std::string& where, const char* wanted, const Json& value) {
  throw Error("wrong_type", where, std::string("must be ") + wanted + ", not " + value.type_name());
}

std::string string_of(const Json& value, const std::string& where) {
  if (!value.is_string()) wrong_type(where, "a string", value);
  return value.get<std::string>();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  Builder builder(where);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json read_json(const std::filesystem::path& file, std::uint64_t max_bytes) { return parse_json(read_text(file, max_bytes), file.string()); }

Json number(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double as_number(const Json& value, const std::string& where) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  wrong_type(where, "a number, \"nan\", \"inf\" or \"-inf\"", value);
}

ObjectReader::ObjectReader(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {
  if (!object.is_object()) wrong_type(where_, "an object", object);
}

bool ObjectReader::has(const std::string& key) {
  seen_.insert(key);
  return object_->contains(key);
}

const Json& ObjectReader::at(const std::string& key) {
  if (!has(key)) throw Error("missing_key", where(key), "is missing");
  return *object_->find(key);
}

const Json& ObjectReader::object(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_object()) wrong_type(where(key), "an object", value);
  return value;
}

const Json& ObjectReader::array(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_array()) wrong_type(where(key), "an array", value);
  return value;
}

std::string ObjectReader::string(const std::string& key) { return string_of(at(key), where(key)); }

std::string ObjectReader::string(const std::string& key, std::string fallback) { return has(key) ? string(key) : std::move(fallback); }

double ObjectReader::real(const std::string& key) { return as_number(at(key), where(key)); }

double ObjectReader::real(const std::string& key, double fallback) { return has(key) ? real(key) : fallback; }

std::int64_t ObjectReader::integer(const std::string& key) {
  const Json& value = at(key);
  const bool fits = value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  if (!fits) wrong_type(where(key), "a whole number of 64 bits", value);
  return value.get<std::int64_t>();
}

std::int64_t ObjectReader::integer(const std::string& key, std::int64_t fallback) { return has(key) ? integer(key) : fallback; }

bool ObjectReader::boolean(const std::string& key, bool fallback) {
  if (!has(key)) return fallback;
  const Json& value = at(key);
  if (!value.is_boolean()) wrong_type(where(key), "true or false", value);
  return value.get<bool>();
}

std::vector<std::string> ObjectReader::strings(const std::string& key) {
  std::vector<std::string> list;
  for (const Json& item : array(key)) list.push_back(string_of(item, where(key) + "[" + std::to_string(list.size()) + "]"));
  return list;
}

std::vector<std::string> ObjectReader::strings(const std::string& key, std::vector<std::string> fallback) {
  return has(key) ? strings(key) : std::move(fallback);
}

void ObjectReader::finish() const {
  for (const auto& member : object_->items()) {
    if (seen_.count(member.key()) != 0) continue;
    std::string known;
    for (const std::string& key : seen_) known += (known.empty() ? "" : ", ") + key;
    throw Error("unknown_key", where(member.key()), "is not a key that can be used here", "known keys: " + known);
  }
}

}  // namespace driftgate
