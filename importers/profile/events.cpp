#include "importers/profile/events.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

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

/// Position in JSON text that skips values without parsing them.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }

  /// Returns the next character after white space.
  char peek() {
    while (at_ < text_.size() && kSpace.find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ == text_.size()) throw_truncated();
    return text_[at_];
  }

  bool take(char expected) {
    if (peek() != expected) return false;
    ++at_;
    return true;
  }

  void expect(char expected) {
    if (!take(expected)) throw_invalid(at_);
  }

  /// Returns the text of the next value.
  std::string_view value() {
    const char first = peek();
    const std::size_t begin = at_;
    if (first == '"')
      skip_string();
    else if (first == '{' || first == '[')
      skip_nested();
    else
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    if (at_ == begin) throw_invalid(at_);
    return text_.substr(begin, at_ - begin);
  }

  /// `byte`: position of the invalid byte, from 0
  [[noreturn]] static void throw_invalid(std::size_t byte) {
    throw InputError(
        "",
        fmt::format("not valid JSON at byte {}; expected a trace in Chrome's format", byte + 1));
  }

 private:
  static constexpr std::string_view kSpace = " \t\r\n";

  void skip_string() {
    ++at_;
    while (true) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) throw_truncated();
      if (text_[at_] == '"') break;
      at_ += 2;
    }
    ++at_;
  }

  void skip_nested() {
    std::size_t depth = 0;
    do {
      if (at_ >= text_.size()) throw_truncated();
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0);
  }

  [[noreturn]] void throw_truncated() const {
    throw InputError("", fmt::format("is truncated after {} bytes; was the profiler still writing "
                                     "it, or stopped?",
                                     text_.size()));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Reads a list of events.
void read_list(Cursor& cursor, const WantEvent& wanted, const UseEvent& use) {
  cursor.expect('[');
  if (cursor.take(']')) return;
  do {
    const std::string_view text = cursor.value();
    if (!text.starts_with('{') || !wanted(text)) continue;
    Json event;
    try {
      event = Json::parse(text);
    } catch (const Json::parse_error& error) {
      Cursor::throw_invalid(cursor.position() - text.size() + error.byte - 1);
    } catch (const Json::exception&) {  // a number that no double holds
      Cursor::throw_invalid(cursor.position() - text.size());
    }
    use(event);
  } while (cursor.take(','));
  cursor.expect(']');
}

[[noreturn]] void throw_no_events() {
  throw InputError("",
                   fmt::format("has no list \"{}\"; expected a trace in Chrome's format", kEvents));
}

/// Reads an object with events. Returns its text without them.
std::string read_object(std::string_view text, Cursor& cursor, const WantEvent& wanted,
                        const UseEvent& use) {
  const std::string key_of_events = fmt::format("\"{}\"", kEvents);
  std::string rest;
  std::size_t kept = 0;  // position up to which `rest` is complete
  bool found = false;
  cursor.expect('{');
  if (cursor.take('}')) throw_no_events();
  do {
    const std::string_view key = cursor.value();
    cursor.expect(':');
    if (key != key_of_events || cursor.peek() != '[') {
      cursor.value();
      continue;
    }
    rest += text.substr(kept, cursor.position() - kept);
    rest += "[]";
    read_list(cursor, wanted, use);
    kept = cursor.position();
    found = true;
  } while (cursor.take(','));
  cursor.expect('}');
  if (!found) throw_no_events();
  return rest += text.substr(kept, cursor.position() - kept);
}

}  // namespace

input::JsonValue read_events(std::string_view text, const WantEvent& wanted, const UseEvent& use) {
  check_is_text(text);
  Cursor cursor(text);
  if (cursor.peek() == '[') {
    read_list(cursor, wanted, use);
    return Json::object();
  }
  const std::string rest = read_object(text, cursor, wanted, use);
  try {
    return Json::parse(rest);
  } catch (const Json::exception&) {
    throw InputError("", fmt::format("not valid JSON outside of its list \"{}\"", kEvents));
  }
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
