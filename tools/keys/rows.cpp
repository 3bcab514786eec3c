#include "tools/keys/rows.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/input/fields.hpp"

namespace equarx::keys {
namespace {

using input::Json;

std::string text_at(const Json& node, std::string_view key) {
  return node.value(std::string(key), std::string());
}

std::string presence_of(const Json& node, bool is_required) {
  const std::string words = text_at(node, input::kDefaultWords);
  if (!words.empty()) return words;
  if (is_required) return "required";
  const auto fallback = node.find("default");
  if (fallback == node.end()) return "none";
  return fallback->is_string() ? "`" + fallback->dump() + "`" : fallback->dump();
}

class Rows {
 public:
  explicit Rows(const Json& document) : document_(document) { visit(document, ""); }

  std::vector<KeyRow> take() { return std::move(rows_); }

 private:
  void visit(const Json& node, const std::string& path) {
    if (node.contains("$ref")) {
      const std::string reference = node["$ref"].get<std::string>();
      if (!node.contains(std::string(input::kShownAs))) return visit_definition(reference, path);
      deferred_.emplace_back(reference, shown(node, path));  // after the keys that share it
      return;
    }
    if (node.contains("oneOf"))
      for (const Json& branch : node["oneOf"]) visit(branch, path);
    if (node.contains("items")) visit(node["items"], path + "[]");
    if (node.contains("additionalProperties") && node["additionalProperties"].is_object())
      visit_property(node["additionalProperties"], path, "*", false);
    if (!node.contains("properties")) return;
    const std::string here = shown(node, path);
    const Json required = node.value("required", Json::array());
    for (const auto& [key, values] : node["properties"].items())
      visit_property(values, here, key, std::ranges::find(required, Json(key)) != required.end());
    for (const auto& [reference, shared] : std::exchange(deferred_, {}))
      visit_definition(reference, shared);
  }

  void visit_definition(const std::string& reference, const std::string& path) {
    const Json& definition = document_.at(Json::json_pointer(reference.substr(1)));
    const bool has_keys = definition.contains("properties");
    if (!has_keys || visited_.insert(reference).second) visit(definition, path);
  }

  void visit_property(const Json& node, const std::string& path, const std::string& key,
                      bool is_required) {
    const std::string own = path.empty() ? key : path + "." + key;
    const std::string here = shown(node, own);
    const std::string on_page = text_at(node, input::kMeaning);
    const std::string meaning = on_page.empty() ? text_at(node, "description") : on_page;
    const std::size_t at = rows_.size();
    const bool is_known = std::ranges::find(rows_, here, &KeyRow::path) != rows_.end();
    if (!is_known && (key != "*" || !meaning.empty()))
      rows_.push_back({here, presence_of(node, is_required), text_at(node, input::kUnit), meaning});
    const std::size_t first_child = rows_.size();
    visit_values(node, here);
    const bool is_heading = rows_.size() > first_child && first_child > at && meaning.empty();
    if (is_heading) rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  /// An alias applies to the key, not to its values.
  void visit_values(const Json& node, const std::string& path) {
    Json values = node;
    values.erase(std::string(input::kShownAs));
    visit(values, path);
  }

  /// The path on the page.
  static std::string shown(const Json& node, const std::string& path) {
    const std::string alias = text_at(node, input::kShownAs);
    if (alias.empty()) return path;
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? alias : path.substr(0, dot + 1) + alias;
  }

  const Json& document_;
  std::set<std::string> visited_;
  std::vector<std::pair<std::string, std::string>> deferred_;  // references, and their paths
  std::vector<KeyRow> rows_;
};

}  // namespace

std::vector<KeyRow> key_rows(const Json& document) { return Rows(document).take(); }

}  // namespace equarx::keys
