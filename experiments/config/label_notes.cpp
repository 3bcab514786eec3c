#include "experiments/config/label_notes.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "experiments/config/format_json.hpp"
#include "experiments/config/format_names.hpp"

namespace equarx::config {
namespace {

/// Splits lower-case text at all characters but letters, digits and `joints`.
std::vector<std::string> words_of(const std::string& text, std::string_view joints) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    const bool inside = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                        joints.find(letter) != std::string_view::npos;
    if (inside)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

/// Formats that a label names: whole words like "int8-cast", else their parts, as in "ring-bf16".
std::vector<std::string> formats_in(const std::string& label) {
  std::vector<std::string> formats;
  const auto add = [&](const std::string& word) {
    if (word == "half" || word == "float") return false;  // aliases, but common words
    const std::string name(format_name(word));
    if (!is_format_name(name)) return false;
    formats.push_back(name);
    return true;
  };
  for (const std::string& word : words_of(label, "-_"))
    if (!add(word))
      for (const std::string& part : words_of(word, {})) add(part);
  return formats;
}

/// Every name by which a label may refer to the formats of its candidate.
std::vector<std::string_view> names_of(const CollectiveConfig& collective,
                                       numerics::ElementFormat dtype) {
  std::vector<std::string_view> names = {numerics::name(dtype)};
  const auto add = [&](const NamedBlockFormat& format) {
    names.push_back(format.name);
    names.push_back(numerics::name(format.element));
    if (format.scaled) names.push_back(numerics::name(format.scale));
  };
  add(collective.format);
  if (collective.between) add(*collective.between);
  if (collective.cast_to) names.push_back(numerics::name(*collective.cast_to));
  return names;
}

std::string note_of(const CollectiveConfig& collective, std::string_view named,
                    numerics::ElementFormat dtype) {
  const bool is_tensor_type = collective.format.name == numerics::name(dtype);
  return fmt::format(
      "candidate '{0}' runs in {1}{2}, not in {3}: set \"format\": \"{3}\" in it{4}, or rename it",
      collective.label, collective.format.name, is_tensor_type ? ", the type of the tensor" : "",
      named,
      is_tensor_type ? fmt::format(", or \"dtype\": \"{}\" in \"tensor\"", named) : std::string());
}

}  // namespace

std::vector<std::string> label_notes(const std::vector<CollectiveConfig>& collectives,
                                     numerics::ElementFormat dtype) {
  std::vector<std::string> notes;
  for (const CollectiveConfig& collective : collectives) {
    const std::vector<std::string_view> names = names_of(collective, dtype);
    for (const std::string& format : formats_in(collective.label))
      if (std::ranges::find(names, format) == names.end()) {
        notes.push_back(note_of(collective, format, dtype));
        break;
      }
  }
  return notes;
}

}  // namespace equarx::config
