#include "experiments/config_place.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "experiments/json_text.hpp"

namespace equarx::experiments {
namespace {

/// The parts of a pointer, unescaped.
std::vector<std::string> tokens_of(const std::string& pointer) {
  try {
    Json::json_pointer rest(pointer);
    std::vector<std::string> tokens;
    for (; !rest.empty(); rest.pop_back()) tokens.push_back(rest.back());
    std::ranges::reverse(tokens);
    return tokens;
  } catch (const Json::exception&) {
    throw InputError(pointer,
                     "is no JSON pointer; one looks like /tensor/bytes, with ~1 for '/' and ~0 for "
                     "'~' in a key");
  }
}

Json& element(Json& array, const std::string& token, const std::string& pointer) {
  for (std::size_t index = 0; index < array.size(); ++index)
    if (token == std::to_string(index)) return array[index];
  std::string labels;
  for (Json& candidate : array) {
    if (!candidate.is_object() || !candidate.contains("label")) continue;
    if (candidate["label"] == token) return candidate;
    labels += fmt::format(" {}", candidate["label"].dump());
  }
  throw InputError(pointer, fmt::format("there is no element '{}'; there are {}, labelled{}", token,
                                        array.size(), labels.empty() ? " not at all" : labels));
}

[[noreturn]] void refuse_inside(const std::string& pointer, const Json& value) {
  throw InputError(pointer, fmt::format("leads into {}, which has no keys", kind_of(value)));
}

}  // namespace

void set_value(Json& config, const std::string& pointer, const Json& value) {
  std::vector<std::string> tokens = tokens_of(pointer);
  if (tokens.empty())
    throw InputError(pointer, "expected the JSON pointer of a key, like /tensor/bytes");
  const std::string last = std::move(tokens.back());
  tokens.pop_back();
  Json* here = &config;
  for (const std::string& token : tokens) {
    if (here->is_array()) {
      here = &element(*here, token, pointer);
    } else if (here->is_object()) {
      if (!here->contains(token)) (*here)[token] = Json::object();
      here = &(*here)[token];
    } else {
      refuse_inside(pointer, *here);
    }
  }
  if (here->is_array())
    element(*here, last, pointer) = value;
  else if (here->is_object())
    set_member(*here, last, value);
  else
    refuse_inside(pointer, *here);
}

void override_value(Json& config, const std::string& pointer, const std::string& text) {
  set_value(config, pointer, parse_value(text, pointer));
}

}  // namespace equarx::experiments
