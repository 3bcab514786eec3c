// Every key that a reader accepts is in the published schema, which is generated from the tables of
// fields. Readers with code of their own could accept a key that no table declares.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/input/embedded.hpp"
#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/graph_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::testing::declared_keys_test {
namespace {

using input::Json;
using Keys = std::set<std::string>;
using Pointer = Json::json_pointer;

const std::string kUnknown = "zzzzzzzzzz";

Json schema_called(const std::string& name) {
  for (const input::EmbeddedFile& file : input::embedded_schemas())
    if (file.name == name + ".schema") return Json::parse(file.text);
  FAIL("no schema called " << name);
  return {};
}

/// Parts of a schema that apply to the same value: references, alternatives.
std::vector<Json> forms(const Json& schema, const Json& root) {
  if (schema.contains("$ref"))
    return forms(root.at(Pointer(schema["$ref"].get<std::string>().substr(1))), root);
  std::vector<Json> all = {schema};
  for (const char* const list : {"oneOf", "anyOf"})
    for (const Json& one : schema.value(list, Json::array()))
      for (const Json& form : forms(one, root)) all.push_back(form);
  return all;
}

/// Forms of the values below a key or an index.
std::vector<Json> below(const std::vector<Json>& schemas, const std::string& key,
                        const Json& root) {
  std::vector<Json> all;
  for (const Json& schema : schemas) {
    Json part;
    if (schema.contains("items"))
      part = schema["items"];
    else if (schema.contains("properties") && schema["properties"].contains(key))
      part = schema["properties"][key];
    else if (schema.contains("additionalProperties"))
      part = schema["additionalProperties"];
    if (!part.is_object()) continue;
    for (const Json& form : forms(part, root)) all.push_back(form);
  }
  return all;
}

/// Keys that the schema has for the object at a pointer; empty if it leaves them open.
Keys declared(const Json& root, const std::string& pointer) {
  std::vector<Json> schemas = forms(root, root);
  std::string rest = pointer;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    schemas = below(schemas, rest.substr(1, end - 1), root);
    rest.erase(0, end);
  }
  Keys keys;
  for (const Json& schema : schemas) {
    if (schema.value("additionalProperties", Json()) != false) continue;
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, value] : properties.items()) keys.insert(key);
  }
  return keys;
}

/// The keys in "unknown key 'x'; use one of a, b, c".
Keys listed(const std::string& message) {
  const std::string before = "use one of ";
  Keys keys;
  std::istringstream list(message.substr(message.find(before) + before.size()));
  for (std::string key; std::getline(list, key, ',');) {
    key.erase(0, key.find_first_not_of(' '));
    keys.insert(key);
  }
  return keys;
}

/// Pointers of all objects.
void add_objects(const Json& json, const std::string& pointer, std::vector<std::string>& all) {
  if (json.is_object()) all.push_back(pointer);
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items())
    if (key.find('/') == std::string::npos) add_objects(value, pointer + "/" + key, all);
}

using Read = std::function<void(const Json&)>;

/// Compares the keys of a schema with the accepted keys of examples.
class Comparison {
 public:
  Comparison(const std::string& schema, Read read)
      : schema_(schema_called(schema)), read_(std::move(read)) {}

  /// Checks that every key accepted in an example is in the schema.
  void add(const Json& json) {
    std::vector<std::string> pointers;
    add_objects(json, "", pointers);
    for (const std::string& pointer : pointers) add_object(json, pointer);
  }

  /// Checks that every key of the schema's objects is accepted in some example.
  void check_complete() const {
    for (const auto& [place, keys] : objects_)
      for (const std::string& key : keys.declared) {
        CAPTURE(place, key);
        CHECK(keys.accepted.contains(key));
      }
  }

 private:
  struct Object {
    Keys declared;
    Keys accepted;
  };

  /// Adds an unknown key to the object: the error lists the keys that the reader accepts.
  void add_object(const Json& json, const std::string& pointer) {
    const Keys in_schema = declared(schema_, pointer);
    if (in_schema.empty()) return;
    CAPTURE(pointer);
    Json changed = json;
    changed[Pointer(pointer)][kUnknown] = 1;
    try {
      read_(changed);
      FAIL_CHECK("an unknown key was accepted");
    } catch (const input::UnknownKeyError& error) {
      REQUIRE(error.pointer() == pointer + "/" + kUnknown);
      add_keys(pointer, in_schema, listed(error.what()));
    }
  }

  void add_keys(const std::string& pointer, const Keys& in_schema, const Keys& accepted) {
    std::string place = pointer;
    std::erase_if(place, [](char letter) { return letter >= '0' && letter <= '9'; });
    objects_[place].declared.insert(in_schema.begin(), in_schema.end());
    objects_[place].accepted.insert(accepted.begin(), accepted.end());
    for (const std::string& key : accepted) {
      CAPTURE(key);
      // Refused with their own messages.
      const bool is_of_count = key == "standard_error" && pointer.starts_with("/parameters/");
      const bool is_of_step = key == "mesh" && pointer.empty();
      CHECK((in_schema.contains(key) || is_of_count || is_of_step));
    }
  }

  Json schema_;
  Read read_;
  std::map<std::string, Object> objects_;  ///< by pointer without indices
};

std::vector<std::filesystem::path> files_in(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(EQUARX_CONFIGS_DIR) / folder))
    paths.push_back(entry.path());
  return paths;
}

Json parse_file(const std::filesystem::path& path) {
  return input::parse_json(input::read_file(path.string()));
}

const Read kReadConfig = [](const Json& json) { config::read_any_config(json); };

TEST_CASE("readers of experiments accept the keys of the schema, and no others") {
  Comparison comparison("experiment", kReadConfig);
  comparison.add(good_config());
  comparison.add(changed("/topology", R"({"torus": "4x2", "wraparound": [true, false]})"));
  comparison.add(changed("/collectives/0/format", "fp8lm-e4m3"));
  for (const auto& path : files_in("experiments"))
    if (const Json json = parse_file(path); !json.contains("step") && !json.contains("serving"))
      comparison.add(json);
  comparison.check_complete();
}

TEST_CASE("readers of steps accept the keys of the schema, and no others") {
  Comparison comparison("step", kReadConfig);
  for (const Json& json : {good_step(), good_training(), good_serving()}) comparison.add(json);
  for (const auto& path : files_in("experiments"))
    if (const Json json = parse_file(path); json.contains("step")) comparison.add(json);
  comparison.check_complete();
}

TEST_CASE("readers of chips accept the keys of the schema, and no others") {
  Comparison comparison("hardware", [](const Json& json) { config::read_chip(json); });
  for (const auto& path : files_in("hardware")) {
    CAPTURE(path);
    comparison.add(parse_file(path));
  }
}

TEST_CASE("readers of models and graphs accept the keys of the schema, and no others") {
  Comparison models("model", [](const Json& json) { config::read_model(json); });
  for (const auto& path : files_in("models")) models.add(parse_file(path));
  models.check_complete();
  Comparison graphs("topology", [](const Json& json) { config::read_graph(json); });
  for (const auto& path : files_in("topologies"))
    if (const Json json = parse_file(path); json["links"].size() < 50) graphs.add(json);
  graphs.check_complete();
}

TEST_CASE("the reader of sweeps accepts the keys of the schema, and no others") {
  Comparison comparison("sweep", [](const Json& json) { sweep::read_sweep(json, "", "a"); });
  comparison.add(Json::parse(R"({"name": "a", "base": {}, "exclude": [],
      "axes": [{"key": "/a", "range": {"from": 1, "to": 2, "step": 1}},
               {"key": "/b", "log_range": {"from": 1, "to": 2, "factor": 2}},
               {"zip": [{"key": "/c", "values": [1]}]}]})"));
  comparison.check_complete();
}

}  // namespace
}  // namespace equarx::testing::declared_keys_test
