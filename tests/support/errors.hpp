// Requirements on every error message about invalid input.
#pragma once

#include <functional>
#include <string>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::testing {

/// Returns the message of the UserError thrown by `action`; fails the test if none is thrown.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const input::UserError& error) {
    return error.what();
  }
  FAIL("no UserError was thrown");
  return {};
}

/// Checks that `action` throws a UserError in one line that starts with `place` and contains
/// `remedy`.
inline void check_refused(const std::function<void()>& action, const std::string& place,
                          const std::string& remedy) {
  const std::string message = message_of(action);
  CAPTURE(message);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(message.find("json.exception") == std::string::npos);
  CHECK_THAT(message, Catch::Matchers::StartsWith(place + ": "));
  CHECK_THAT(message, ContainsSubstring(remedy));
}

}  // namespace equarx::testing
