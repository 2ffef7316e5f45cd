#pragma once
// The first complaint of a JSON schema (draft-07) about a document; empty when the document is valid.
#define VALIJSON_USE_EXCEPTIONS 1
#include <filesystem>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "json.hpp"

namespace driftgate {

inline std::string complaint(const std::filesystem::path& schema_file, const std::string& text) {
  using valijson::adapters::NlohmannJsonAdapter;
  const auto schema_document = nlohmann::json::parse(read_text(schema_file)), document = nlohmann::json::parse(text);
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(schema_document), schema);
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(schema, NlohmannJsonAdapter(document), &results)) return "";
  valijson::ValidationResults::Error error;
  std::string where;
  if (results.popError(error))
    for (const std::string& step : error.context) where += step;
  return where + ": " + error.description;
}

}  // namespace driftgate
