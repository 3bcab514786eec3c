#include "tools/keys/document.hpp"

#include <stdexcept>
#include <string>

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::keys::document_test {
namespace {

using input::Json;

const Json kShared = {{"x-definition", "count"}, {"type", "integer"}, {"description", "one"}};

TEST_CASE("a shared definition is at the root, and each use has its own description") {
  Json other = kShared;
  other["description"] = "another";
  const Json document = with_definitions({{"properties", {{"a", kShared}, {"b", other}}}});
  CHECK(document["properties"]["a"].dump() ==
        R"({"description":"one","$ref":"#/definitions/count"})");
  CHECK(document["properties"]["b"]["description"] == "another");
  CHECK(document["definitions"].dump() == R"({"count":{"type":"integer"}})");
}

TEST_CASE("two definitions of one name must be equal") {
  Json other = kShared;
  other["type"] = "number";
  CHECK_THROWS_AS(with_definitions({{"properties", {{"a", kShared}, {"b", other}}}}),
                  std::logic_error);
}

TEST_CASE("a published schema has neither annotations nor Markdown, but keys of any name") {
  const Json schema = published({{"properties",
                                  {{"x-key",
                                    {{"x-default", "none"},
                                     {"type", "string"},
                                     {"description", "see [a page](a.md), `\"x\"`"}}}}}},
                                "title", "all");
  CHECK(schema["title"] == "title");
  CHECK(schema["properties"].dump() ==
        R"({"x-key":{"description":"see a page, \"x\"","type":"string"}})");
}

TEST_CASE("Markdown becomes plain text") {
  CHECK(plain_text("chips: [below](#topology)") == "chips");
  CHECK(plain_text("a [hardware file](hardware.md), **payload**") == "a hardware file, payload");
  CHECK(plain_text("costs ([model.md](model.md), C8)") == "costs (docs/model.md, C8)");
  CHECK(plain_text("`hbm`: fast") == "hbm: fast");
}

TEST_CASE("values that fit are on one line") {
  CHECK(schema_text({{"a", {1, 2}}, {"b", Json::object()}}) == "{ \"a\": [1, 2], \"b\": {} }\n");
  Json names = Json::array();
  for (int i = 0; i < 40; ++i) names.push_back("name " + std::to_string(i));
  const std::string text = schema_text({{"enum", names}, {"type", "string"}});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
  CHECK(text.starts_with("{\n  \"enum\": [\n    \"name 0\", \"name 1\""));
  CHECK(text.ends_with("\n  ],\n  \"type\": \"string\"\n}\n"));
  CHECK(Json::parse(text) == Json({{"enum", names}, {"type", "string"}}));
}

}  // namespace
}  // namespace equarx::keys::document_test
