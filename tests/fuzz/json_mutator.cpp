#include "tests/fuzz/json_mutator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/embedded.hpp"
#include "base/input/json_text.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace equarx::testing {
namespace {

using input::Json;

// Edge cases of counts, sizes and times.
constexpr std::array kNumbers = {
    0.0,   -0.0,  1.0,   2.0,   3.0,    -1.0,   0.5,    1e-3,   7.0,    8.0,    16.0,   64.0,
    127.0, 128.0, 255.0, 256.0, 1e3,    4096.0, 65535., 65536., 0x1p31, 0x1p32, 0x1p53, 0x1p63,
    1e19,  1e30,  1e300, 1e-30, 1e-300, 5e-324, -1e300, 0.1,    0.999,  1.0001, 1e6,    1e9};
constexpr std::array<std::uint64_t, 6> kWhole = {std::numeric_limits<std::uint64_t>::max(),
                                                 std::uint64_t{1} << 63,
                                                 (std::uint64_t{1} << 63) - 1,
                                                 std::numeric_limits<std::uint32_t>::max(),
                                                 std::uint64_t{1} << 31,
                                                 (std::uint64_t{1} << 53) + 1};
constexpr std::array<std::string_view, 16> kUnits = {"B",    "KiB",  "GiB",  "TiB",  "b",  "B/s",
                                                     "GB/s", "Gb/s", "PB/s", "s",    "ms", "us",
                                                     "ps",   "GHz",  "op/s", "Top/s"};
constexpr std::array<std::string_view, 14> kTexts = {
    "",    "/",  "/~2",  "a/b~",   "4x4", "2x2x2",         "1x1",
    "0x4", "4x", "auto", "\x7f\n", "-",   "/tensor/bytes", "0-1"};

template <typename Visit>
void visit_values(Json& value, Visit&& visit) {
  visit(value);
  if (value.is_structured())
    for (Json& part : value) visit_values(part, visit);
}

void add_words(const Json& schema, JsonWords& words) {
  if (schema.is_object())
    for (const auto& [key, value] : schema.items()) {
      if (key == "properties" && value.is_object())
        for (const auto& [name, described] : value.items()) words.keys.push_back(name);
      if (key == "enum" && value.is_array())
        words.values.insert(words.values.end(), value.begin(), value.end());
      if (key == "default" || key == "const" || key == "minimum" || key == "maximum")
        words.values.push_back(value);
    }
  if (schema.is_structured())
    for (const Json& part : schema) add_words(part, words);
}

}  // namespace

JsonWords words_of_schemas(std::span<const std::string_view> names) {
  JsonWords words;
  for (const input::EmbeddedFile& file : input::embedded_schemas())
    for (const std::string_view name : names)
      if (file.name == fmt::format("{}.schema", name))
        add_words(input::parse_json(file.text), words);
  if (words.keys.empty()) words.keys.emplace_back("key");
  if (words.values.empty()) words.values.emplace_back("value");
  return words;
}

std::size_t JsonMutator::below(std::size_t count) { return random_() % count; }

Json& JsonMutator::any_value(Json& document) {
  std::size_t count = 0;
  visit_values(document, [&](Json&) { ++count; });
  std::size_t wanted = below(count);
  Json* found = &document;
  visit_values(document, [&](Json& value) {
    if (wanted-- == 0) found = &value;
  });
  return *found;
}

Json JsonMutator::number() {
  if (below(4) == 0) return kWhole[below(kWhole.size())];
  const double value = kNumbers[below(kNumbers.size())];
  const bool is_whole = std::abs(value) < 0x1p62 && value == std::floor(value);
  return is_whole && below(4) != 0 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::string JsonMutator::quantity() {
  return fmt::format("{} {}", kNumbers[below(kNumbers.size())], kUnits[below(kUnits.size())]);
}

std::string JsonMutator::word() { return words_.keys[below(words_.keys.size())]; }

Json JsonMutator::new_value(Json& document) {
  switch (below(10)) {
    case 0: return nullptr;
    case 1: return below(2) == 0;
    case 2: return Json::array();
    case 3: return Json::object({{word(), number()}});
    case 4: return kTexts[below(kTexts.size())];
    case 5: return quantity();
    case 6: return number();
    case 7: return any_value(document);
    default: return words_.values[below(words_.values.size())];
  }
}

void JsonMutator::change_number(Json& value) {
  const double old = value.get<double>();
  const std::array<double, 6> near = {old + 1.0, old - 1.0, old * 2.0,
                                      old / 2.0, -old,      old * 1024.0};
  const double changed = near[below(near.size())];
  const bool stays_whole = !value.is_number_float() && std::abs(changed) < 0x1p62;
  value = stays_whole ? Json(static_cast<std::int64_t>(changed)) : Json(changed);
}

/// Mutates the bytes of a text, or replaces the number before its unit.
void JsonMutator::change_text(Json& value) {
  std::string text = value.get<std::string>();
  const std::size_t unit = text.find(' ');
  if (unit != std::string::npos && below(2) == 0) {
    value = fmt::format("{}{}", kNumbers[below(kNumbers.size())], text.substr(unit));
    return;
  }
  const std::size_t size = text.size();
  text.resize(size + 8);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  value = text;
}

void JsonMutator::change_value(Json& document, Json& value) {
  if (value.is_number() && below(2) == 0) return change_number(value);
  if (value.is_string() && below(3) == 0) return change_text(value);
  Json changed = below(8) == 0 ? Json::array({value}) : new_value(document);
  value = std::move(changed);
}

/// Adds, removes, repeats or renames a member or an element.
void JsonMutator::change_members(Json& document, Json& value) {
  const std::size_t kind = below(4);
  if (value.empty() || kind == 0) {
    Json added = new_value(document);
    if (value.is_array())
      value.push_back(std::move(added));
    else
      value[word()] = std::move(added);
    return;
  }
  const auto place = std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size())));
  if (kind == 1) {
    value.erase(place);
    return;
  }
  Json copy = *place;
  if (value.is_array()) {
    value.push_back(std::move(copy));
    return;
  }
  if (kind == 2) value.erase(place);
  value[word()] = std::move(copy);
}

void JsonMutator::change(Json& document) {
  Json& value = any_value(document);
  if (value.is_structured() && below(4) != 0)
    change_members(document, value);
  else if (!value.is_structured() || below(8) == 0)
    change_value(document, value);
}

/// Serializes the document, sometimes with a duplicate key, which no Json value can hold.
std::string JsonMutator::text(const Json& document) {
  std::string text = input::json_text(document);
  if (below(64) != 0) return text;
  const std::size_t object = text.find('{', below(text.size()));
  if (object != std::string::npos && object + 1 < text.size() && text[object + 1] != '}')
    text.insert(object + 1, fmt::format("\"{}\":1,", word()));
  return text;
}

std::string JsonMutator::mutate(Json& document) {
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(document);
  return text(document);
}

std::string JsonMutator::cross(Json& document, Json other) {
  Json taken = any_value(other);
  any_value(document) = std::move(taken);
  return text(document);
}

}  // namespace equarx::testing
