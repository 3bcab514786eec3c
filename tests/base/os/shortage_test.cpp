#include "base/os/shortage.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "tests/catch.hpp"

namespace equarx::shortage_test {
namespace {

using equarx::os::shortage;

std::string shortage_of(int error) {
  return shortage(std::system_error(error, std::generic_category(), "pipe")).value_or("none");
}

TEST_CASE("resource exhaustion is reported with a remedy") {
  CHECK_THAT(shortage(std::bad_alloc()).value(), ContainsSubstring("memory"));
  CHECK_THAT(shortage_of(ENOMEM), ContainsSubstring("ulimit -v"));
  CHECK_THAT(shortage_of(EAGAIN), ContainsSubstring("ulimit -u"));
  CHECK_THAT(shortage_of(EMFILE), ContainsSubstring("ulimit -n"));
  CHECK_THAT(shortage_of(ENFILE), ContainsSubstring("ulimit -n"));
}

TEST_CASE("other errors are not reported as exhaustion") {
  CHECK(shortage_of(EINVAL) == "none");
  CHECK_FALSE(shortage(std::runtime_error("Too many open files")));
}

}  // namespace
}  // namespace equarx::shortage_test
