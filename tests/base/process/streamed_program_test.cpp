#include "base/process/streamed_program.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "base/os/child.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::process::streamed_program_test {
namespace {

using Lines = std::vector<std::string>;
using namespace std::chrono_literals;

ProgramEnd run(const std::string& script, Lines& lines) {
  return run_streamed({"sh", "-c", script},
                      [&](const std::string& line) { lines.push_back(line); });
}

TEST_CASE("streamed program: lines of standard error, except empty ones and the last") {
  Lines lines;
  const ProgramEnd end =
      run("echo one >&2; echo >&2; echo two >&2; printf three >&2; exit 3", lines);
  CHECK(lines == Lines{"one", "two"});
  CHECK(end.last_message == "three");
  CHECK(os::describe_end(end.status) == "exit code 3");
  CHECK(end.signal == 0);
}

TEST_CASE("streamed program: a silent success") {
  Lines lines;
  const ProgramEnd end = run("read line || true", lines);  // no input
  CHECK(os::succeeded(end.status));
  CHECK(lines.empty());
  CHECK(end.last_message.empty());
}

TEST_CASE("streamed program: lines are passed on while it runs") {
  const auto begin = std::chrono::steady_clock::now();
  auto passed = begin;
  run_streamed({"sh", "-c", "echo a >&2; echo b >&2; sleep 1"},
               [&](const std::string&) { passed = std::chrono::steady_clock::now(); });
  CHECK(passed > begin);
  CHECK(std::chrono::steady_clock::now() - passed > 300ms);
}

TEST_CASE("streamed program: long output after its last line is complete") {
  Lines lines;
  run("i=0; while [ $i -lt 3000 ]; do echo line $i of many >&2; i=$((i + 1)); done", lines);
  CHECK(lines.size() == 2999);
}

TEST_CASE("streamed program: a signal stops it and its children") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const testing::TemporaryDirectory folder;
    const std::string late = (folder.path() / "late").string();
    const auto begin = std::chrono::steady_clock::now();
    const ProgramEnd end = run_streamed(
        {"sh", "-c", "echo a >&2; echo b >&2; (sleep 2; touch \"$0\") & sleep 60; true", late},
        [&](const std::string&) { kill(getpid(), signal); });
    CHECK(end.signal == signal);
    CHECK_FALSE(os::succeeded(end.status));
    CHECK(std::chrono::steady_clock::now() - begin < 30s);
    std::this_thread::sleep_until(begin + 3s);
    CHECK_FALSE(std::filesystem::exists(late));
  }
}

TEST_CASE("streamed program: one that ignores the signal is killed") {
  const ProgramEnd end = run_streamed(
      {"sh", "-c", "trap '' TERM; echo a >&2; echo b >&2; while true; do sleep 1; done"},
      [](const std::string&) { kill(getpid(), SIGTERM); }, 100ms);
  CHECK(end.signal == SIGTERM);
  CHECK(WTERMSIG(end.status) == SIGKILL);
}

TEST_CASE("streamed program: one that cannot be run") {
  Lines lines;
  const ProgramEnd end =
      run_streamed({"/no/such/program"}, [&](const std::string& line) { lines.push_back(line); });
  CHECK(end.last_message == "cannot run /no/such/program: No such file or directory");
  CHECK(os::describe_end(end.status) == "exit code 127");
}

}  // namespace
}  // namespace equarx::process::streamed_program_test
