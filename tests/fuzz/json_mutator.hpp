// Changes JSON documents as a careless or hostile author would: they stay JSON, and mostly keep the keys that readers
// ask for, so what is changed is read and not refused by the parser.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/input/json.hpp"

namespace equarx::testing {

/// What may stand in documents of some kind: what its schema says, and nothing that is written down here.
struct JsonWords {
  std::vector<std::string> keys;
  std::vector<input::Json> values;  ///< of enumerations, defaults and limits
};

/// The words of schemas of configs/schema/, each by its name, as "experiment".
JsonWords words_of_schemas(std::span<const std::string_view> names);

/// Changes documents. The same number gives the same changes.
class JsonMutator {
 public:
  JsonMutator(const JsonWords& words, std::uint32_t seed) : words_(words), random_(seed) {}

  /// Changes the document in one to four places. Returns it as text.
  std::string mutate(input::Json& document);
  /// Puts a value of the other document in place of one of this. Returns it as text.
  std::string cross(input::Json& document, input::Json other);

 private:
  using Json = input::Json;

  std::size_t below(std::size_t count);  ///< 0 to count - 1
  Json& any_value(Json& document);       ///< the document itself, or anything in it
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
  std::minstd_rand random_;  // made for each document: others take longer to make than to use
};

}  // namespace equarx::testing
