#pragma once
// A suite made from a spec written in a test.
#include "case/case.hpp"

namespace driftgate {

inline Suite inline_suite(const std::string& rows, Forms forms = {}) {
  return Suite(parse_specs(parse_json(R"({"schema": "driftgate.spec/1", "rows": [)" + rows + "]}", "test.json"), "test.json"), std::move(forms));
}

}  // namespace driftgate
