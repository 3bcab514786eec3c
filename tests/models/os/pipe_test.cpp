#include "models/os/pipe.hpp"

#include <system_error>

#include <sys/resource.h>

#include "tests/catch.hpp"

using namespace equarx::os;

TEST_CASE("what goes in at one end of a pipe comes out of the other, and then it ends") {
  Pipe pipe = open_pipe();
  REQUIRE(write(pipe.in.number(), "ab", 2) == 2);
  REQUIRE(pipe.in.close());
  char bytes[4] = {};
  REQUIRE(read(pipe.out.number(), bytes, sizeof bytes) == 2);
  REQUIRE(bytes[0] == 'a');
  REQUIRE(bytes[1] == 'b');
  REQUIRE(read(pipe.out.number(), bytes, sizeof bytes) == 0);
}

TEST_CASE("a process that has no file descriptors left gets no pipe") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{1, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  bool refused = false;
  try {
    open_pipe();
  } catch (const std::system_error&) {
    refused = true;
  }
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(refused);
}
