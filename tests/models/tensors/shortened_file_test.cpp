#include "models/tensors/shortened_file.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "base/os/pipe.hpp"
#include "models/tensors/mapped_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::tensors::shortened_file_test {
namespace {

using testing::TemporaryDirectory;

/// Exit code (negative signal number) and standard error of a process that maps two files,
/// truncates the first and reads it from several threads at once.
std::pair<int, std::string> end_of_reader(const std::filesystem::path& shortened,
                                          const std::filesystem::path& other,
                                          std::ptrdiff_t threads = 1) {
  os::Pipe pipe = os::open_pipe();
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe.in.number(), STDERR_FILENO);
    install_truncation_handler();
    const MappedFile first(shortened);
    const MappedFile second(other);
    std::filesystem::resize_file(shortened, 1);
    std::latch all(threads);
    const auto read = [&] {
      all.arrive_and_wait();
      volatile std::byte last = first.bytes().back();
      static_cast<void>(last);
    };
    std::vector<std::jthread> others;
    for (std::ptrdiff_t i = 1; i < threads; ++i) others.emplace_back(read);
    read();
    others.clear();
    _exit(0);
  }
  pipe.in.close();
  std::string message(1000, ' ');
  message.resize(os::read_up_to(pipe.out, std::as_writable_bytes(std::span(message))));
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), message};
}

TEST_CASE("truncating a mapped file ends the program with a message that names the file") {
  const TemporaryDirectory directory;
  const std::filesystem::path file =
      directory.write("a\x1b.npy", std::string(std::size_t{1} << 16, 'a'));
  const std::filesystem::path other = directory.write("other.npy", "b");
  const auto [code, message] = end_of_reader(file, other);
  CHECK(code == 2);
  CHECK(message ==
        "equarx-sim: error: " + directory.path().string() +
            "/a?.npy: was truncated, or its disk failed, while being read; write it again, then "
            "rerun\n");
}

TEST_CASE("only one of several faulting threads reports the truncated file") {
  const TemporaryDirectory directory;
  const std::filesystem::path other = directory.write("other.npy", "b");
  for (int again = 0; again < 50; ++again) {
    const std::filesystem::path file =
        directory.write("a.npy", std::string(std::size_t{1} << 16, 'a'));
    const auto [code, message] = end_of_reader(file, other, 4);
    REQUIRE(code == 2);
    REQUIRE(std::ranges::count(message, '\n') == 1);
  }
}

TEST_CASE("a mapping contains exactly its own addresses") {
  const std::string bytes = "abc";
  const NamedMapping mapping(std::as_bytes(std::span(bytes)), "f");
  CHECK(mapping.has(bytes.data()));
  CHECK(mapping.has(bytes.data() + 2));
  CHECK_FALSE(mapping.has(bytes.data() + 3));
}

}  // namespace
}  // namespace equarx::tensors::shortened_file_test
