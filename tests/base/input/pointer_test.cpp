#include "base/input/pointer.hpp"

#include <cstddef>

#include "tests/catch.hpp"

namespace equarx::input::pointer_test {
namespace {

TEST_CASE("a JSON pointer is extended by keys and indices") {
  CHECK(pointer("", "tensor") == "/tensor");
  CHECK(pointer("/collectives", std::size_t{1}) == "/collectives/1");
  CHECK(pointer(pointer("/a", 0), "b") == "/a/0/b");
}

TEST_CASE("'~' and '/' in keys are escaped as RFC 6901 requires") {
  CHECK(pointer("/a", "b/c~d") == "/a/b~1c~0d");
  CHECK(pointer("", "") == "/");
}

}  // namespace
}  // namespace equarx::input::pointer_test
