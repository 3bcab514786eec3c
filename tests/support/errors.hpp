// What every message about wrong input must be.
#pragma once

#include <functional>
#include <string>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::testing {

/// The message of the InputError that `action` throws; fails the test if it throws none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const input::InputError& error) {
    return error.what();
  }
  FAIL("no InputError was thrown");
  return {};
}

/// `action` throws an InputError in one line that starts with `place` and contains `remedy`.
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
