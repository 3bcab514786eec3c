#include "base/os/pipe.hpp"

#include <csignal>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "tests/catch.hpp"

namespace equarx::pipe_test {

using namespace equarx::os;

TEST_CASE("a pipe transfers bytes and then reports end of file") {
  Pipe pipe = open_pipe();
  REQUIRE(write(pipe.in.number(), "ab", 2) == 2);
  REQUIRE(pipe.in.close());
  char bytes[4] = {};
  REQUIRE(read(pipe.out.number(), bytes, sizeof bytes) == 2);
  REQUIRE(bytes[0] == 'a');
  REQUIRE(bytes[1] == 'b');
  REQUIRE(read(pipe.out.number(), bytes, sizeof bytes) == 0);
}

TEST_CASE("opening a pipe fails without free file descriptors") {
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

TEST_CASE("transfers larger than the pipe buffer arrive completely") {
  Pipe pipe = open_pipe();
  std::vector<std::byte> sent(1 << 20);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7);
  std::thread writer([&] {
    write_all(pipe.in, sent);
    pipe.in.close();
  });
  std::vector<std::byte> received(sent.size() + 1);
  const std::size_t count = read_up_to(pipe.out, received);
  writer.join();
  REQUIRE(count == sent.size());
  received.resize(count);
  REQUIRE(received == sent);
  REQUIRE(read_up_to(pipe.out, received) == 0);
}

TEST_CASE("writing to a pipe without a reader fails") {
  Pipe pipe = open_pipe();
  pipe.out.close();
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const bool written = write_all(pipe.in, std::vector<std::byte>(1));
  std::signal(SIGPIPE, before);
  REQUIRE_FALSE(written);
}

TEST_CASE("reading a closed descriptor fails") {
  std::vector<std::byte> bytes(1);
  REQUIRE_THROWS_AS(read_up_to(FileDescriptor(), bytes), std::system_error);
}

}  // namespace equarx::pipe_test
