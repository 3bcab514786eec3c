#include "experiments/input/json_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"

namespace equarx::input {
namespace {

/// Refuses keys that an object has twice, of which the parser itself would silently keep the last, and nesting
/// so deep that copying the value would end the stack.
class StrictParsing {
 public:
  bool operator()(int, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_end || event == Event::array_end) {
      levels_.pop_back();
    } else if (event == Event::key) {
      check(parsed.get<std::string>());
    } else {
      if (!levels_.empty()) ++levels_.back().values;
      if (event != Event::value) open(event == Event::array_start);
    }
    return true;
  }

 private:
  /// An object or array that is open.
  struct Level {
    bool is_array = false;
    std::size_t values = 0;  ///< begun in it
    std::set<std::string> keys = {};
    std::string key = {};  ///< the last one
  };

  void open(bool is_array) {
    constexpr std::size_t kDeepest = 100;  // configurations and results need ten
    if (levels_.size() == kDeepest)
      throw InputError("", fmt::format("not valid here: nested more than {} deep", kDeepest));
    levels_.push_back({.is_array = is_array});
  }

  void check(const std::string& key) {
    Level& object = levels_.back();
    object.key = key;
    if (object.keys.insert(key).second) return;
    Json::json_pointer place;
    for (const Level& level : levels_)
      place.push_back(level.is_array ? std::to_string(level.values - 1) : level.key);
    throw InputError(place.to_string(),
                     fmt::format("the key '{}' stands twice in one object; remove one", key));
  }

  std::vector<Level> levels_;
};

/// The library's message without its own name for the error, "[json.exception.out_of_range.401] ".
std::string_view library_message(const Json::exception& error) {
  const std::string_view what = error.what();
  const std::size_t end = what.find("] ");
  return end == std::string_view::npos ? what : what.substr(end + 2);
}

/// Line and column of the error, and what it is. The library's own column is 0 for an error before a
/// line break.
std::string parse_message(std::string_view text, const Json::parse_error& error) {
  const std::string_view before = text.substr(0, std::max<std::size_t>(error.byte, 1) - 1);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  const std::string_view what = library_message(error);
  const std::size_t colon = what.find(": ");
  return fmt::format("not valid JSON at line {}, column {}: {}", line, column,
                     colon == std::string_view::npos ? what : what.substr(colon + 2));
}

/// A plain string out of what is not JSON. It need not be text at all, and would stop the program when
/// it is printed.
Json plain_text(const std::string& text, const std::string& pointer) {
  Json value = text;
  try {
    value.dump();
  } catch (const Json::type_error&) {
    throw InputError(pointer, "--set is given bytes that are not UTF-8 text");
  }
  return value;
}

/// What a path that leads nowhere is relative to.
std::string where_from(const std::filesystem::path& path) {
  std::error_code unknown;
  if (path.empty() || path.is_absolute()) return "";
  return fmt::format(" (relative to {})", std::filesystem::current_path(unknown).string());
}

constexpr bool kWithComments = true;

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code unknown;  // a path that cannot be looked up cannot be opened either
  if (std::filesystem::is_directory(path, unknown))
    throw InputError("", fmt::format("cannot read {}: it is a directory", path));
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file)
    throw InputError("", fmt::format("cannot read {}: {}{}", path, std::strerror(errno),
                                     errno == ENOENT ? where_from(path) : ""));
  return text;
}

Json parse_json(std::string_view text) {
  try {
    return Json::parse(text, StrictParsing(), true, kWithComments);
  } catch (const Json::parse_error& error) {
    throw InputError("", parse_message(text, error));
  } catch (const Json::exception& error) {
    throw InputError("", fmt::format("not valid JSON: {}", library_message(error)));
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

Json parse_value(const std::string& text, const std::string& place) {
  Json value = Json::parse(text, StrictParsing(), false);
  if (!value.is_discarded()) return value;
  constexpr std::string_view kJsonStarts = "{[\"";
  if (text.empty() || kJsonStarts.find(text.front()) == std::string_view::npos)
    return plain_text(text, place);
  try {
    return parse_json(text);
  } catch (const InputError& error) {
    throw InputError(place, fmt::format("'{}' is {}", text, error.what()));
  }
}

}  // namespace equarx::input
