#include "models/os/shortage.hpp"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "tests/catch.hpp"

namespace equarx::shortage_test {
namespace {

using equarx::os::shortage;

std::string of_system(int error) {
  return shortage(std::system_error(error, std::generic_category(), "pipe")).value_or("none");
}

TEST_CASE("what there was too little of is said with a remedy") {
  CHECK_THAT(shortage(std::bad_alloc()).value(), ContainsSubstring("memory"));
  CHECK_THAT(of_system(ENOMEM), ContainsSubstring("ulimit -v"));
  CHECK_THAT(of_system(EAGAIN), ContainsSubstring("ulimit -u"));
  CHECK_THAT(of_system(EMFILE), ContainsSubstring("ulimit -n"));
  CHECK_THAT(of_system(ENFILE), ContainsSubstring("ulimit -n"));
}

TEST_CASE("other errors are no shortage") {
  CHECK(of_system(EINVAL) == "none");
  CHECK_FALSE(shortage(std::runtime_error("Too many open files")));
}

}  // namespace
}  // namespace equarx::shortage_test
