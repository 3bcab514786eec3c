#include "models/os/new_file.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "models/os/child.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::new_file_test {
namespace {

namespace fs = std::filesystem;
using equarx::os::behind_links;
using equarx::os::NewFile;
using equarx::testing::content_of;
using equarx::testing::file_count;
using equarx::testing::TemporaryDirectory;

void write(const NewFile& file, const std::string& text) {
  REQUIRE(::write(file.descriptor().number(), text.data(), text.size()) ==
          static_cast<ssize_t>(text.size()));
}

TEST_CASE("a new file has no name until it takes its place") {
  const TemporaryDirectory directory;
  const fs::path path = directory.write("a", "old");
  NewFile file(path);
  REQUIRE(file.descriptor().is_open());
  write(file, "new");
  CHECK(file.temporary().empty());
  CHECK(file_count(directory.path()) == 1);
  CHECK(content_of(path) == "old");
  REQUIRE(file.put_in_place() == 0);
  CHECK(content_of(path) == "new");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("two new files for one place do not mix") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a";
  NewFile first(path);
  NewFile second(path);
  write(first, "first");
  write(second, "second");
  write(first, " and more");
  REQUIRE(second.put_in_place() == 0);
  REQUIRE(first.put_in_place() == 0);
  CHECK(content_of(path) == "first and more");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("a hidden name that another file has is left to it") {
  const TemporaryDirectory directory;
  const fs::path path = directory.write("a", "old");
  const std::string others = ".equarx-" + std::to_string(::getpid()) + "-0.part";
  directory.write(others, "other");
  NewFile file(path);
  write(file, "new");
  REQUIRE(file.put_in_place() == 0);
  CHECK(content_of(path) == "new");
  CHECK(content_of(directory.path() / others) == "other");
  CHECK(file_count(directory.path()) == 2);
}

TEST_CASE("a new file that does not take its place is gone") {
  const TemporaryDirectory directory;
  { write(NewFile(directory.path() / "a"), "new"); }
  CHECK(file_count(directory.path()) == 0);
}

/// Replaces `path` again and again, until a signal ends this process.
[[noreturn]] void replace_for_ever(const fs::path& path) {
  std::signal(SIGHUP, SIG_DFL);
  for (;;) NewFile(path).put_in_place();
}

TEST_CASE("whenever a signal ends the process, no hidden name is left") {
  const TemporaryDirectory directory;
  const fs::path path = directory.write("a", "old");
  std::mt19937 moments(1);
  for (int ends = 0; ends < 200; ++ends) {
    const pid_t child = fork();
    if (child == 0) replace_for_ever(path);
    REQUIRE(child > 0);
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::uniform_int_distribution(500, 3000)(moments)));
    ::kill(child, SIGHUP);
    REQUIRE(equarx::os::describe_end(*equarx::os::wait_for_end(child)) == "signal 1 (Hangup)");
    REQUIRE(file_count(directory.path()) == 1);
  }
}

TEST_CASE("a new file takes a free place at once, and that of one which came meanwhile") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a";
  NewFile file(path);
  write(file, "new");
  SECTION("free") {}
  SECTION("taken") { directory.write("a", "other"); }
  REQUIRE(file.put_in_place() == 0);
  CHECK_FALSE(file.descriptor().is_open());
  CHECK(content_of(path) == "new");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("there is no new file in a folder that is not there") {
  CHECK_FALSE(NewFile("/nowhere/at/all").descriptor().is_open());
}

TEST_CASE("links lead to what they name, also if that is not there yet") {
  const TemporaryDirectory directory;
  const fs::path link = directory.path() / "link";
  fs::create_symlink("there", link);
  CHECK(behind_links(link) == directory.path() / "there");
  fs::create_symlink(link, directory.path() / "link to link");
  CHECK(behind_links(directory.path() / "link to link") == directory.path() / "there");
  CHECK(behind_links("plain") == "plain");
}

TEST_CASE("links in a circle lead nowhere") {
  const TemporaryDirectory directory;
  fs::create_symlink("b", directory.path() / "a");
  fs::create_symlink("a", directory.path() / "b");
  CHECK_THROWS_AS(behind_links(directory.path() / "a"), std::system_error);
}

}  // namespace
}  // namespace equarx::new_file_test
