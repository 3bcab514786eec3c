#include "experiments/config/set_value.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/chip_changes.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology_json.hpp"

namespace equarx::config {
namespace {

/// Unescaped tokens of a pointer.
std::vector<std::string> tokens_of(const std::string& pointer) {
  try {
    input::Json::json_pointer rest(pointer);
    std::vector<std::string> tokens;
    for (; !rest.empty(); rest.pop_back()) tokens.push_back(rest.back());
    std::ranges::reverse(tokens);
    return tokens;
  } catch (const input::Json::exception&) {
    throw input::InputError(
        pointer,
        "is not a JSON pointer; write it like /tensor/bytes, with ~1 for '/' and ~0 for "
        "'~' in a key");
  }
}

input::Json& element(input::Json& array, const std::string& token, const std::string& pointer) {
  for (std::size_t index = 0; index < array.size(); ++index)
    if (token == std::to_string(index)) return array[index];
  std::vector<std::string> labels;
  for (input::Json& candidate : array) {
    if (!candidate.is_object() || !candidate.contains("label")) continue;
    if (candidate["label"] == token) return candidate;
    labels.push_back(candidate["label"].dump());
  }
  const std::vector<std::string_view> views(labels.begin(), labels.end());
  throw input::InputError(
      pointer,
      fmt::format("no element '{}'; the array has {}{}", token, array.size(),
                  labels.empty() ? " without labels" : ", labelled " + input::list_of(views)));
}

/// The value under a key that is present. @throws InputError for any other key
input::Json& member(input::Json& object, const std::string& key, const std::string& pointer) {
  const auto found = object.find(key);
  if (found != object.end()) return *found;
  std::vector<std::string_view> keys;
  for (const auto& [name, value] : object.items()) keys.push_back(name);
  throw input::InputError(
      pointer, keys.empty() ? "is not set; the object is empty"
                            : fmt::format("is not set; {}", input::remedy_of_all(key, keys)));
}

void remove_alternatives(input::Json& parent, const std::string& key) {
  const auto drop = [&](std::span<const std::string_view> alternatives) {
    if (std::ranges::find(alternatives, key) == alternatives.end()) return;
    for (const std::string_view other : alternatives)
      if (other != key) parent.erase(std::string(other));
  };
  drop(kTensorSizes);
  // Collectives have a key "ring" as well.
  if (!parent.contains("algorithm")) drop(kTopologyKinds.all());
}

/// Expands "hardware" given by name to an object, so that its parameters can be set.
void expand_chip(input::Json& config, const std::vector<std::string>& tokens) {
  if (tokens.empty() || tokens.front() != "hardware" || !config.is_object()) return;
  const auto hardware = config.find(tokens.front());
  if (hardware != config.end() && hardware->is_string())
    *hardware = input::Json{{std::string(kBasedOn), *hardware}};
}

[[noreturn]] void reject_scalar(const std::string& pointer, const input::Json& value) {
  throw input::InputError(pointer,
                          fmt::format("leads into {}, which has no keys", input::kind_of(value)));
}

}  // namespace

void set_member(input::Json& object, const std::string& key, input::Json value) {
  remove_alternatives(object, key);
  object[key] = std::move(value);
}

void set_value(input::Json& config, const std::string& pointer, const input::Json& value) {
  std::vector<std::string> tokens = tokens_of(pointer);
  if (tokens.empty())
    throw input::InputError(pointer, "expected the JSON pointer of a key, like /tensor/bytes");
  const std::string last = std::move(tokens.back());
  tokens.pop_back();
  expand_chip(config, tokens);
  input::Json* here = &config;
  for (const std::string& token : tokens) {
    if (here->is_array()) {
      here = &element(*here, token, pointer);
    } else if (here->is_object()) {
      if (!here->contains(token)) (*here)[token] = input::Json::object();
      here = &(*here)[token];
    } else {
      reject_scalar(pointer, *here);
    }
  }
  if (here->is_array())
    element(*here, last, pointer) = value;
  else if (here->is_object())
    set_member(*here, last, value);
  else
    reject_scalar(pointer, *here);
}

void unset_value(input::Json& config, const std::string& pointer) {
  std::vector<std::string> tokens = tokens_of(pointer);
  if (tokens.empty())
    throw input::InputError(pointer, "expected the JSON pointer of a key, like /tensor/dtype");
  const std::string last = std::move(tokens.back());
  tokens.pop_back();
  input::Json* here = &config;
  for (const std::string& token : tokens) {
    if (!here->is_array() && !here->is_object()) reject_scalar(pointer, *here);
    here = here->is_array() ? &element(*here, token, pointer) : &member(*here, token, pointer);
  }
  if (here->is_array()) {
    const input::Json* removed = &element(*here, last, pointer);
    here->erase(static_cast<std::size_t>(removed - &here->front()));
  } else if (here->is_object()) {
    member(*here, last, pointer);
    here->erase(last);
  } else {
    reject_scalar(pointer, *here);
  }
}

void override_value(input::Json& config, const std::string& pointer, const std::string& text) {
  set_value(config, pointer, input::parse_value(text, pointer));
}

}  // namespace equarx::config
