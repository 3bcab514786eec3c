#include "models/tensors/shortened_file.hpp"

#include <filesystem>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "models/os/pipe.hpp"
#include "models/tensors/mapped_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::tensors {
namespace {

using testing::TemporaryDirectory;

/// How a process ends that maps two files and reads the first, which was shortened; and what it said.
std::pair<int, std::string> end_of_reader(const std::filesystem::path& shortened,
                                          const std::filesystem::path& other) {
  os::Pipe pipe = os::open_pipe();
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe.in.number(), STDERR_FILENO);
    end_in_words_if_shortened();
    const MappedFile first(shortened);
    const MappedFile second(other);
    std::filesystem::resize_file(shortened, 1);
    volatile std::byte last = first.bytes().back();
    static_cast<void>(last);
    _exit(0);
  }
  pipe.in.close();
  std::string said(1000, ' ');
  said.resize(os::read_up_to(pipe.out, std::as_writable_bytes(std::span(said))));
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), said};
}

TEST_CASE("a file that is shortened while it is read ends the program in words that name it") {
  const TemporaryDirectory directory;
  const std::filesystem::path file =
      directory.write("a\x1b.npy", std::string(std::size_t{1} << 16, 'a'));
  const std::filesystem::path other = directory.write("other.npy", "b");
  const auto [code, said] = end_of_reader(file, other);
  CHECK(code == 2);
  CHECK(said ==
        "equarx-sim: error: " + directory.path().string() +
            "/a?.npy: was shortened, or its disk failed, while it was read; write it again, then "
            "run this again\n");
}

TEST_CASE("a mapping is known by its addresses, from the first to the last") {
  const std::string bytes = "abc";
  const NamedMapping mapping(std::as_bytes(std::span(bytes)), "f");
  CHECK(mapping.has(bytes.data()));
  CHECK(mapping.has(bytes.data() + 2));
  CHECK_FALSE(mapping.has(bytes.data() + 3));
}

}  // namespace
}  // namespace equarx::tensors
