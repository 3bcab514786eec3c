#include "base/input/errors.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/errors.hpp"

namespace equarx::input::errors_test {
namespace {

/// Pointer and line of the InputError that `act` throws.
template <typename Act>
std::pair<std::string, std::string> refusal(Act act) {
  try {
    act();
  } catch (const InputError& error) {
    return {error.pointer(), error.what()};
  }
  return {"nothing", "was thrown"};
}

using Refusal = std::pair<std::string, std::string>;

TEST_CASE("at() gives a pointer to errors that have none") {
  CHECK(at("/mesh", [] { return 7; }) == 7);
  CHECK(refusal([] { at("/mesh", [] { throw std::invalid_argument("is odd"); }); }) ==
        Refusal("/mesh", "/mesh: is odd"));
  CHECK(refusal([] { at("/mesh", [] { throw UserError("line 3", "is odd"); }); }) ==
        Refusal("/mesh", "/mesh: line 3: is odd"));
  CHECK(refusal([] { at("/mesh", [] { throw InputError("/mesh/x", "is odd"); }); }) ==
        Refusal("/mesh/x", "/mesh/x: is odd"));
}

TEST_CASE("within() puts a place before all invalid input") {
  CHECK(within("a.json", [] { return 7; }) == 7);
  CHECK(refusal([] { within("a.json", [] { throw InputError("/mesh", "is odd"); }); }) ==
        Refusal("a.json", "a.json: /mesh: is odd"));
  CHECK(refusal([] { within("", [] { throw UserError("line 3", "is odd"); }); }) ==
        Refusal("", "line 3: is odd"));
}

TEST_CASE("defects of the program are never converted to invalid input") {
  CHECK_THROWS_AS(at("/mesh", [] { throw InvariantError("a bound"); }), InvariantError);
  CHECK_THROWS_AS(within("/mesh", [] { throw InvariantError("a bound"); }), InvariantError);
  CHECK_THROWS_AS(at("/mesh", [] { throw std::logic_error("empty"); }), std::logic_error);
}

TEST_CASE("kinds of invalid input are distinguished") {
  CHECK_THROWS_AS([] { throw UnknownKeyError("/mesh/x", "is unknown"); }(), InputError);
  const DoesNotFitError error("/tensor", "is too large", 2e9);
  CHECK(error.pointer() == "/tensor");
  CHECK(error.needs_bytes() == 2e9);
}

}  // namespace
}  // namespace equarx::input::errors_test
