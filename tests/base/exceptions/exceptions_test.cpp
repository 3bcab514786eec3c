#include "base/exceptions/exceptions.hpp"

#include "tests/catch.hpp"

namespace equarx::exceptions::exceptions_test {
namespace {

TEST_CASE("the line of an error is its place and its message") {
  const UserError error("line 3", "has no name; add one");
  CHECK(error.place() == "line 3");
  CHECK(error.message() == "has no name; add one");
  CHECK(std::string(error.what()) == "line 3: has no name; add one");
  CHECK(std::string(UserError("", "is empty").what()) == "is empty");
  CHECK(std::string(InvariantError("a bound is violated").what()) == "a bound is violated");
}

TEST_CASE("a handler of invalid input catches no defects of the program") {
  const auto is_user_error = [](const auto& error) {
    try {
      throw error;
    } catch (const UserError&) {
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  CHECK(is_user_error(UserError("", "is empty")));
  CHECK_FALSE(is_user_error(InvariantError("a bound is violated")));
}

TEST_CASE("control characters of place and message are replaced in the line only") {
  const UserError error("evil\n\x1b.npy", "x\ny");
  CHECK(std::string(error.what()) == "evil??.npy: x?y");
  CHECK(error.place() == "evil\n\x1b.npy");
  CHECK(error.message() == "x\ny");
}

}  // namespace
}  // namespace equarx::exceptions::exceptions_test
