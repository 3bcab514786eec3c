#include "base/os/new_file.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "base/os/child.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::new_file_test {
namespace {

namespace fs = std::filesystem;
using equarx::os::NewFile;
using equarx::os::resolve_links;
using equarx::testing::content_of;
using equarx::testing::file_count;
using equarx::testing::TemporaryDirectory;

void write(const NewFile& file, const std::string& text) {
  REQUIRE(::write(file.descriptor().number(), text.data(), text.size()) ==
          static_cast<ssize_t>(text.size()));
}

TEST_CASE("a new file has no name until it is put in place") {
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

TEST_CASE("two new files with one target do not interfere") {
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

TEST_CASE("an existing hidden name is not reused") {
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

TEST_CASE("a new file that is not put in place is removed") {
  const TemporaryDirectory directory;
  { write(NewFile(directory.path() / "a"), "new"); }
  CHECK(file_count(directory.path()) == 0);
}

/// Replaces `path` repeatedly until a signal terminates this process.
[[noreturn]] void replace_for_ever(const fs::path& path) {
  std::signal(SIGHUP, SIG_DFL);
  for (;;) NewFile(path).put_in_place();
}

TEST_CASE("no hidden file remains after a signal at any time") {
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

TEST_CASE("a new file takes a free name, and replaces a file created meanwhile") {
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

TEST_CASE("creating a file in a missing directory fails") {
  CHECK_FALSE(NewFile("/nowhere/at/all").descriptor().is_open());
}

TEST_CASE("symbolic links are resolved, also to missing targets") {
  const TemporaryDirectory directory;
  const fs::path link = directory.path() / "link";
  fs::create_symlink("there", link);
  CHECK(resolve_links(link) == directory.path() / "there");
  fs::create_symlink(link, directory.path() / "link to link");
  CHECK(resolve_links(directory.path() / "link to link") == directory.path() / "there");
  CHECK(resolve_links("plain") == "plain");
}

TEST_CASE("cyclic symbolic links are rejected") {
  const TemporaryDirectory directory;
  fs::create_symlink("b", directory.path() / "a");
  fs::create_symlink("a", directory.path() / "b");
  CHECK_THROWS_AS(resolve_links(directory.path() / "a"), std::system_error);
}

}  // namespace
}  // namespace equarx::new_file_test
