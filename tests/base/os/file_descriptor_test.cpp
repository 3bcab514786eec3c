#include "base/os/file_descriptor.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>

#include "tests/catch.hpp"

namespace equarx::file_descriptor_test {

using equarx::os::FileDescriptor;

namespace {

int open_null() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("a file descriptor closes at the end of its scope") {
  int number = -1;
  {
    const FileDescriptor descriptor(open_null());
    number = descriptor.number();
    REQUIRE(descriptor.is_open());
    REQUIRE(is_open(number));
  }
  REQUIRE_FALSE(is_open(number));
}

TEST_CASE("a file descriptor is closed only once") {
  FileDescriptor descriptor(open_null());
  REQUIRE(descriptor.close());
  REQUIRE_FALSE(descriptor.is_open());
  REQUIRE(descriptor.close());
}

TEST_CASE("a failed open() yields no open descriptor, and closing an invalid one fails") {
  FileDescriptor failed(-1);
  REQUIRE_FALSE(failed.is_open());
  REQUIRE(failed.close());
  FileDescriptor closed_elsewhere(open_null());
  REQUIRE(::close(closed_elsewhere.number()) == 0);
  REQUIRE_FALSE(closed_elsewhere.close());
  REQUIRE(errno == EBADF);
}

TEST_CASE("moving a file descriptor transfers ownership") {
  FileDescriptor first(open_null());
  const int number = first.number();
  FileDescriptor second(std::move(first));
  REQUIRE_FALSE(first.is_open());
  REQUIRE(second.number() == number);
  FileDescriptor third(open_null());
  const int replaced = third.number();
  third = std::move(second);
  REQUIRE(third.number() == number);
  REQUIRE(is_open(number));
  REQUIRE_FALSE(is_open(replaced));
}

}  // namespace equarx::file_descriptor_test
