#include "tools/keys/rows.hpp"

#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tools/keys/document.hpp"

namespace equarx::keys::rows_test {
namespace {

using input::Json;

/// "path: presence: meaning" of all rows.
std::vector<std::string> texts(const std::string& schema) {
  std::vector<std::string> all;
  for (const KeyRow& row : key_rows(with_definitions(Json::parse(schema))))
    all.push_back(row.path + ": " + row.presence + ": " + row.meaning);
  return all;
}

using Texts = std::vector<std::string>;

TEST_CASE("a row has the key's presence and meaning") {
  CHECK(texts(R"({"required": ["a", "b"], "properties": {
          "a": {"description": "one"},
          "b": {"x-default": "required for decode"},
          "c": {"default": "x", "description": "text", "x-meaning": "on the page"},
          "d": {"default": 4},
          "e": {}}})") == Texts{"a: required: one", "b: required for decode: ",
                                "c: `\"x\"`: on the page", "d: 4: ", "e: none: "});
}

TEST_CASE("keys of objects, lists, maps and alternatives have paths") {
  CHECK(texts(R"({"properties": {
          "object": {"properties": {"a": {}}},
          "list": {"items": {"properties": {"a": {}}}},
          "map": {"additionalProperties": {"properties": {"a": {}}}},
          "either": {"oneOf": [{"type": "string"}, {"properties": {"a": {}}}]},
          "plain": {"additionalProperties": {"type": "string"}, "description": "named"}}})") ==
        Texts{"object.a: none: ", "list[].a: none: ", "map.*.a: none: ", "either.a: none: ",
              "plain: none: named"});
}

TEST_CASE("the keys of a shared definition are listed once") {
  CHECK(texts(R"({"properties": {
          "a": {"x-definition": "d", "properties": {"x": {}}},
          "b": {"x-definition": "d", "properties": {"x": {}}, "description": "like a"}}})") ==
        Texts{"a.x: none: ", "b: none: like a"});
}

TEST_CASE("an alias stands for several keys") {
  CHECK(texts(R"({"properties": {
          "a": {"x-shown-as": "*", "description": "any"},
          "b": {"x-shown-as": "*", "description": "any"}}})") == Texts{"*: none: any"});
  // The keys that they share follow all of them.
  CHECK(texts(R"({"properties": {"p": {"properties": {
          "a": {"description": "1", "oneOf": [
                 {"x-definition": "d", "x-shown-as": "*", "properties": {"x": {}}}]},
          "b": {"description": "2", "oneOf": [
                 {"x-definition": "d", "x-shown-as": "*", "properties": {"x": {}}}]}}}}})") ==
        Texts{"p.a: none: 1", "p.b: none: 2", "p.*.x: none: "});
}

}  // namespace
}  // namespace equarx::keys::rows_test
