#include <algorithm>
#include <array>
#include <set>

#include "error.hpp"
#include "json.hpp"
#include "judge/decision.hpp"

namespace driftgate {
namespace {

constexpr std::array<std::string_view, 5> kLevels = {"inconclusive", "unusable", "preprocessing", "inference", "training"};
constexpr std::string_view kSchema = "driftgate.decision/1";

double share(ObjectReader& object, const std::string& key) {
  const double value = object.real(key, 0);
  if (!(value >= 0 && value <= 1)) throw Error("bad_share", object.where(key), "a share lies between 0 and 1");
  return value;
}

LegRule read_leg(const Json& value, const std::string& where) {
  ObjectReader object(value, where);
  LegRule leg;
  leg.name = object.string("leg");
  leg.why = object.string("why");
  leg.least_executed = share(object, "least_executed");
  leg.least_passed = share(object, "least_passed");
  leg.least_families = share(object, "least_families");
  if (object.has("under_amp")) leg.under_amp = parse_policy(object.string("under_amp"), object.where("under_amp"));
  object.finish();
  return leg;
}

LevelRule read_level(const Json& value, const std::string& where, const std::set<std::string>& known) {
  ObjectReader object(value, where);
  LevelRule rule;
  rule.level = parse_level(object.string("level"), object.where("level"));
  if (rule.level <= Level::unusable) throw Error("bad_level", object.where("level"), "this level is never earned");
  rule.legs = object.strings("legs");
  rule.least_sharp = share(object, "least_sharp");
  rule.why = object.string("why");
  object.finish();
  for (const std::string& leg : rule.legs)
    if (known.count(leg) == 0) throw Error("unknown_leg", object.where("legs"), "'" + leg + "' is not described under legs");
  if (std::count(rule.legs.begin(), rule.legs.end(), "gate") != 1)
    throw Error("no_gate", object.where("legs"), "every level needs the device gate, once");
  return rule;
}

DemandRule read_demand(const Json& value, const std::string& where) {
  ObjectReader object(value, where);
  DemandRule rule;
  rule.name = object.string("demand");
  if (rule.name != "bitwise_loss") throw Error("unknown_demand", object.where("demand"), "'" + rule.name + "' is not one that runs can meet", "bitwise_loss");
  rule.margin = object.real("margin");
  if (!(rule.margin >= 0 && rule.margin < 1)) throw Error("bad_share", object.where("margin"), "a relative gap lies between 0 and 1");
  rule.cap = parse_level(object.string("cap"), object.where("cap"));
  if (rule.cap != Level::inference && rule.cap != Level::preprocessing) throw Error("bad_level", object.where("cap"), "a cap lies below training and leaves something", "inference or preprocessing");
  rule.why = object.string("why");
  object.finish();
  return rule;
}

}  // namespace

std::string_view name(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

Level parse_level(std::string_view text, const std::string& where) {
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == text) return static_cast<Level>(i);
  throw Error("bad_level", where, "'" + std::string(text) + "' is not a level", "use training, inference or preprocessing");
}

DecisionRules DecisionRules::load(const std::filesystem::path& file) {
  const std::string where = file.string();
  const Json document = read_json(file);
  ObjectReader object(document, where);
  if (object.string("schema") != kSchema) throw Error("other_schema", object.where("schema"), "expected " + std::string(kSchema));

  DecisionRules rules;
  std::set<std::string> known;
  const Json& legs = object.array("legs");
  for (std::size_t i = 0; i < legs.size(); ++i) {
    rules.legs.push_back(read_leg(legs[i], object.where("legs") + "[" + std::to_string(i) + "]"));
    if (!known.insert(rules.legs.back().name).second)
      throw Error("duplicate_leg", object.where("legs"), "'" + rules.legs.back().name + "' is described twice");
  }
  const Json& levels = object.array("levels");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    rules.levels.push_back(read_level(levels[i], object.where("levels") + "[" + std::to_string(i) + "]", known));
    if (i > 0 && rules.levels[i].level >= rules.levels[i - 1].level)
      throw Error("level_order", object.where("levels"), "levels are listed highest first, each once");
  }
  if (object.has("demands")) {
    std::size_t i = 0;
    for (const Json& demand : object.array("demands")) rules.demands.push_back(read_demand(demand, object.where("demands") + "[" + std::to_string(i++) + "]"));
  }
  if (rules.levels.empty()) throw Error("no_levels", object.where("levels"), "no level can be earned");
  object.finish();
  return rules;
}

}  // namespace driftgate
