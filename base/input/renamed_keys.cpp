#include "base/input/renamed_keys.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"

namespace equarx::input {
namespace {

std::string_view current_key(std::string_view key) {
  const auto* const found = std::ranges::find(kRenamedKeys, key, &RenamedKey::before);
  return found == kRenamedKeys.end() ? key : found->now;
}

}  // namespace

std::string current_name(std::string_view path) {
  const std::size_t key = path.rfind('/') + 1;  // 0 without a slash
  return fmt::format("{}{}", path.substr(0, key), current_key(path.substr(key)));
}

void rename_keys(Json& run) {
  if (run.is_object()) {
    Json renamed = Json::object();
    for (const auto& [key, value] : run.items())
      renamed[std::string(current_key(key))] = std::move(value);
    run = std::move(renamed);
  }
  if (!run.is_structured()) return;
  for (Json& member : run) rename_keys(member);
}

bool has_renamed_keys(std::string_view text) {
  return std::ranges::any_of(kRenamedKeys, [&](const RenamedKey& key) {
    return text.find(fmt::format("\"{}\":", key.before)) != std::string_view::npos;
  });
}

std::string renamed_note(std::string_view path, std::string_view before) {
  if (!before.empty())
    return fmt::format("{}: '{}' is now '{}'; version 0.4 will not accept the old name", path,
                       before, current_name(before));
  return fmt::format(
      "{}: written by version 0.2, whose result keys had other names; they are read by their "
      "current names",
      path);
}

}  // namespace equarx::input
