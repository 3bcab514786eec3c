#include "importers/profile/events.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"

namespace equarx::profile {
namespace {

using input::InputError;
using input::Json;

constexpr std::string_view kEvents = "traceEvents";

void check_is_text(std::string_view text) {
  constexpr std::string_view kGzip = "\x1f\x8b";  // RFC 1952, 2.3.1
  if (text.starts_with(kGzip)) throw InputError("", "is compressed; gunzip it first");
}

[[noreturn]] void throw_invalid(std::string_view text, const Json::parse_error& error) {
  if (error.byte >= text.size())
    throw InputError("", fmt::format("is truncated after {} bytes; was the profiler still writing "
                                     "it, or stopped?",
                                     text.size()));
  throw InputError("", fmt::format("not valid JSON at byte {}; expected a trace in Chrome's format",
                                   error.byte));
}

/// Hands the events of a trace over while it is parsed, and drops them.
class Events {
 public:
  explicit Events(const UseEvent& use) : use_(use) {}

  /// Callback of the parser. Returns false for values that are not kept.
  bool keep(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::key && depth == 1) in_events_ = value == kEvents;
    if (event == Event::array_start && depth == 0) is_list_ = true;
    if (event == Event::array_start && (depth == 0 || (depth == 1 && in_events_))) found_ = true;
    if (event != Event::object_end || depth != (is_list_ ? 1 : 2) || !(is_list_ || in_events_))
      return true;
    use_(value);
    return false;
  }

  bool found() const { return found_; }

 private:
  const UseEvent& use_;
  bool is_list_ = false;    // the trace is a bare list
  bool in_events_ = false;  // the latest key of the object is "traceEvents"
  bool found_ = false;
};

}  // namespace

input::JsonValue read_events(std::string_view text, const UseEvent& use) {
  check_is_text(text);
  Events events(use);
  Json rest;
  try {
    rest = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
      return events.keep(depth, event, value);
    });
  } catch (const Json::parse_error& error) {
    throw_invalid(text, error);
  }
  if (!events.found())
    throw InputError(
        "", fmt::format("has no list \"{}\"; expected a trace in Chrome's format", kEvents));
  return rest.is_object() ? rest : Json::object();
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  double number = 0.0;
  if (found->is_number()) {
    number = found->get<double>();
  } else {
    if (!found->is_string()) return std::nullopt;
    const auto& text = found->get_ref<const std::string&>();
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  }
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

const Json& object_of(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : kNone;
}

}  // namespace equarx::profile
