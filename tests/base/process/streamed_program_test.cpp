#include "base/process/streamed_program.hpp"

#include <chrono>
#include <csignal>
#include <fstream>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/child.hpp"
#include "base/os/pipe.hpp"
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
  const testing::TemporaryDirectory folder;
  const std::string passed = (folder.path() / "passed").string();
  const ProgramEnd end = run_streamed(
      {"sh", "-c",
       "echo a >&2; echo b >&2; i=0; until [ -e \"$0\" ]; do sleep 0.02; i=$((i + 1)); "
       "[ $i -lt 3000 ] || exit 1; done",
       passed},
      [&](const std::string&) { std::ofstream{passed}; });
  CHECK(os::succeeded(end.status));
}

TEST_CASE("streamed program: long output after its last line is complete") {
  Lines lines;
  run("i=0; while [ $i -lt 3000 ]; do echo line $i of many >&2; i=$((i + 1)); done", lines);
  CHECK(lines.size() == 2999);
}

TEST_CASE("streamed program: a signal stops it and its children") {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);     // background jobs of scripts ignore SIGINT
    os::Pipe held = os::open_pipe();  // its write end is open as long as a child runs
    const ProgramEnd end =
        run_streamed({"sh", "-c", "echo a >&2; echo b >&2; sleep 600 & sleep 600; true"},
                     [&](const std::string&) { kill(getpid(), signal); });
    CHECK(end.signal == signal);
    CHECK_FALSE(os::succeeded(end.status));
    held.in.close();
    pollfd ended{.fd = held.out.number(), .events = POLLIN, .revents = 0};
    constexpr int kMilliseconds = 60'000;
    CHECK(poll(&ended, 1, kMilliseconds) == 1);
    CHECK((ended.revents & POLLHUP) != 0);
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
