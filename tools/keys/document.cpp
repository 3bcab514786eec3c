#include "tools/keys/document.hpp"

#include <algorithm>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/fields.hpp"

namespace equarx::keys {
namespace {

using input::Json;

constexpr std::size_t kWidth = 120;
constexpr std::size_t kIndent = 2;

bool is_annotation(const std::string& key) { return key.starts_with("x-"); }

/// True for keywords that belong to one use of a definition.
bool is_of_use(const std::string& key) {
  return key == "description" || key == "default" || is_annotation(key);
}

Json extract(const Json& node, Json& definitions);

/// Stores a definition, and returns the reference to it with the keywords of this use.
Json reference(const Json& node, const std::string& name, Json& definitions) {
  Json use = Json::object();
  Json definition = Json::object();
  for (const auto& [key, value] : node.items()) {
    if (key == input::kDefinition) continue;
    if (is_of_use(key))
      use[key] = value;
    else
      definition[key] = extract(value, definitions);
  }
  if (definitions.contains(name) && definitions[name] != definition)
    throw std::logic_error(fmt::format("two definitions are called {}", name));
  definitions[name] = definition;
  use["$ref"] = "#/definitions/" + name;
  return use;
}

Json extract(const Json& node, Json& definitions) {
  if (!node.is_structured()) return node;
  const auto definition =
      node.is_object() ? node.find(std::string(input::kDefinition)) : node.end();
  if (node.is_object() && definition != node.end())
    return reference(node, definition->get<std::string>(), definitions);
  Json copy = node.is_object() ? Json::object() : Json::array();
  if (node.is_array())
    for (const Json& element : node) copy.push_back(extract(element, definitions));
  else
    for (const auto& [key, value] : node.items()) copy[key] = extract(value, definitions);
  return copy;
}

/// `is_map`: the keys are names, not keywords.
Json without_annotations(const Json& node, bool is_map) {
  if (!node.is_structured()) return node;
  Json copy = node.is_object() ? Json::object() : Json::array();
  if (node.is_array()) {
    for (const Json& element : node) copy.push_back(without_annotations(element, false));
    return copy;
  }
  if (!is_map && node.contains("description"))  // first, for readers
    copy["description"] = plain_text(node["description"].get<std::string>());
  for (const auto& [key, value] : node.items()) {
    const bool has_names = key == "properties" || key == "definitions";
    if (is_map || (!is_annotation(key) && key != "description"))
      copy[key] = without_annotations(value, !is_map && has_names);
  }
  return copy;
}

/// "{ "a": 1, "b": [2, 3] }"
std::string line_of(const Json& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += Json(key).dump() + ": ";
    text += line_of(value);
  }
  if (text.empty()) return json.is_object() ? "{}" : "[]";
  return json.is_object() ? "{ " + text + " }" : "[" + text + "]";
}

bool is_list_of_scalars(const Json& json) {
  return json.is_array() &&
         std::ranges::none_of(json, [](const Json& element) { return element.is_structured(); });
}

/// A list that fills several lines.
std::string filled(const Json& list, std::size_t indent) {
  const std::string start(indent + kIndent, ' ');
  std::string text;
  std::string line;
  for (const Json& element : list) {
    const std::string next = element.dump() + (&element == &list.back() ? "" : ",");
    if (!line.empty() && start.size() + line.size() + next.size() + 1 > kWidth) {
      text += start + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + next;
  }
  return "[\n" + text + start + line + '\n' + std::string(indent, ' ') + ']';
}

/// `used`: letters of the line before the value.
void append(const Json& json, std::size_t indent, std::size_t used, std::string& text) {
  const std::string line = line_of(json);
  if (!json.is_structured() || used + line.size() + 1 <= kWidth) {
    text += line;
    return;
  }
  if (is_list_of_scalars(json)) {
    text += filled(json, indent);
    return;
  }
  text += json.is_object() ? "{\n" : "[\n";
  std::size_t left = json.size();
  for (const auto& [key, value] : json.items()) {
    std::string start(indent + kIndent, ' ');
    if (json.is_object()) start += Json(key).dump() + ": ";
    text += start;
    append(value, indent + kIndent, start.size(), text);
    text += --left > 0 ? ",\n" : "\n";
  }
  text += std::string(indent, ' ');
  text += json.is_object() ? '}' : ']';
}

}  // namespace

Json with_definitions(const Json& schema) {
  Json definitions = Json::object();
  Json document = extract(schema, definitions);
  if (!definitions.empty()) document["definitions"] = definitions;
  return document;
}

Json published(const Json& document, std::string_view title, std::string_view description) {
  Json whole = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                {"title", title},
                {"description", description}};
  whole.update(without_annotations(document, false));
  return whole;
}

std::string plain_text(std::string_view markdown) {
  static const std::regex reference(R"(:? ?\(?\[(below|see below)\]\([^)]*\)\)?)");
  static const std::regex page(R"(\[([a-z_0-9]+\.md)\]\([^)]*\))");
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  std::string text(markdown);
  text = std::regex_replace(text, reference, "");
  text = std::regex_replace(text, page, "docs/$1");
  text = std::regex_replace(text, link, "$1");
  std::erase(text, '`');
  std::erase(text, '*');
  return text;
}

std::string schema_text(const Json& json) {
  std::string text;
  append(json, 0, 0, text);
  return text + '\n';
}

}  // namespace equarx::keys
