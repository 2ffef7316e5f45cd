// docs/schema/spec.schema.json describes what the reader accepts.
#define VALIJSON_USE_EXCEPTIONS 1
#include <filesystem>
#include <gtest/gtest.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "case/spec.hpp"
#include "error.hpp"
#include "spec_documents.hpp"

namespace driftgate {
namespace {

using valijson::adapters::NlohmannJsonAdapter;
const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR;

class SpecSchema : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto text = nlohmann::json::parse(read_text(kSource / "docs/schema/spec.schema.json"));
    schema_ = new valijson::Schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(text), *schema_);
  }
  static void TearDownTestSuite() {
    delete schema_;
    schema_ = nullptr;
  }

  // The first complaint; empty when the document is valid.
  static std::string complaint(const std::string& text) {
    const auto document = nlohmann::json::parse(text);
    valijson::ValidationResults results;
    valijson::Validator validator;
    if (validator.validate(*schema_, NlohmannJsonAdapter(document), &results)) return "";
    valijson::ValidationResults::Error error;
    std::string where;
    if (results.popError(error)) for (const std::string& step : error.context) where += step;
    return where + ": " + error.description;
  }

  static valijson::Schema* schema_;
};

valijson::Schema* SpecSchema::schema_ = nullptr;

bool reader_accepts(const Json& document) {
  try {
    parse_specs(document, "inline");
  } catch (const Error&) {
    return false;
  }
  return true;
}

TEST_F(SpecSchema, AcceptsTheSoundSpec) { EXPECT_EQ(complaint(kSoundSpec), ""); }

TEST_F(SpecSchema, AcceptsEveryDomain) {
  for (const char* fill : {"normal", "normal(mean=1e3)", "normal(mean=-2, scale=0.5e-3)", "uniform(low=0.5)", "binades(low=-4, high=4)",
                           "binades_pos", "integers(low=0,high=9)", "halves", "distinct(step=2)", "permutation", "bernoulli(p=0.1)",
                           "constant(value=-3)", "spd", "lower", "well", "causal"}) {
    Json document = parse_json(kSoundSpec, "sound");
    document[Json::json_pointer("/rows/0/cases/wide/self/fill")] = fill;
    EXPECT_EQ(complaint(document.dump()), "") << fill;
    EXPECT_TRUE(reader_accepts(document)) << fill;
  }
}

TEST_F(SpecSchema, RefusesWhatTheReaderRefuses) {
  for (const Hostile& hostile : kHostile) {
    const Json document = hostile.document();
    EXPECT_FALSE(reader_accepts(document)) << hostile.pointer << " = " << hostile.text;
    EXPECT_EQ(complaint(document.dump()) != "", hostile.seen_by_schema) << hostile.pointer << " = " << hostile.text;
  }
}

TEST_F(SpecSchema, AgreesWithTheReaderOnEverySpecOfTheSuite) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / "tests/cases")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    EXPECT_EQ(complaint(read_text(entry.path())), "") << entry.path();
    EXPECT_NO_THROW(parse_specs(read_json(entry.path()), entry.path().string()));
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace driftgate
