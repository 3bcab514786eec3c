// Mutates JSON documents like a careless or hostile author. They stay valid JSON and mostly keep
// the keys that readers expect, so that mutations get past the parser.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json.hpp"

namespace equarx::testing {

/// Vocabulary of a kind of document, taken entirely from its schemas.
struct JsonWords {
  std::vector<std::string> keys;
  std::vector<input::Json> values;  ///< enumerators, defaults and limits
};

/// Collects the vocabulary of schemas in configs/schema/, given by name, such as "experiment".
JsonWords words_of_schemas(std::span<const std::string_view> names);

/// Mutates documents, deterministically for a given seed.
class JsonMutator {
 public:
  JsonMutator(const JsonWords& words, std::uint32_t seed) : words_(words), random_(seed) {}

  /// Applies one to four mutations. Returns the document as text.
  std::string mutate(input::Json& document);
  /// Replaces a value by a value of the other document. Returns the document as text.
  std::string cross(input::Json& document, input::Json other);

 private:
  using Json = input::Json;

  std::size_t below(std::size_t count);  ///< 0 to count - 1
  Json& any_value(Json& document);       ///< the document itself or any nested value
  Json new_value(Json& document);
  Json number();
  std::string quantity();
  std::string word();
  void change(Json& document);
  void change_value(Json& document, Json& value);
  void change_members(Json& document, Json& value);
  void change_number(Json& value);
  void change_text(Json& value);
  std::string text(const Json& document);

  const JsonWords& words_;
  std::minstd_rand random_;  // cheap to seed, as each document gets its own
};

}  // namespace equarx::testing
