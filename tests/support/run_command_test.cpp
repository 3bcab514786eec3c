#include "tests/support/run_command.hpp"

#include "tests/catch.hpp"

namespace equarx::testing::run_command_test {
namespace {

TEST_CASE("a command's output, errors and exit code are captured") {
  const CommandResult result = run_command({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  CHECK(result.exit_code == 3);
  CHECK(result.out == "out\n");
  CHECK(result.err == "err\n");
  CHECK(result.files_left == 0);
}

TEST_CASE("a command reads its input, and the files that it leaves are counted") {
  CHECK(run_command({"/bin/cat"}, {.input = "a\nb"}).out == "a\nb");
  CHECK(run_command({"/bin/sh", "-c", "echo > one; echo > two"}).files_left == 2);
}

TEST_CASE("a signal is not an exit code, and a missing program is an error") {
  CHECK(run_command({"/bin/sh", "-c", "kill -9 $$"}).exit_code == -9);
  CHECK_THROWS_AS(run_command({"/no/such/program"}), std::system_error);
}

}  // namespace
}  // namespace equarx::testing::run_command_test
