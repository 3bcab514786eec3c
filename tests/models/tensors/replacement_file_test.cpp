#include "models/tensors/replacement_file.hpp"

#include <algorithm>
#include <csignal>

#include <sys/resource.h>

#include "models/tensors/file_error.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::tensors::replacement_file_test {
namespace {

using testing::content_of;
using testing::file_count;
using testing::TemporaryDirectory;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_CASE("a file is replaced by replace(), not before") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.write("a", "old");
  {
    ReplacementFile file(path);
    file.write(bytes_of("ne"));
    file.write(bytes_of("w"));
    CHECK(content_of(path) == "old");
    file.replace();
  }
  CHECK(content_of(path) == "new");
  CHECK(file_count(directory.path()) == 1);
}

TEST_CASE("a file without replace() leaves no trace") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a";
  {
    ReplacementFile file(path);
    file.write(bytes_of("new"));
    file.map(100);
  }
  CHECK(file_count(directory.path()) == 0);
}

TEST_CASE("the mapping follows the written bytes and is 0 where not filled") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "a";
  ReplacementFile file(path);
  file.write(bytes_of("head"));
  const std::span<std::byte> all = file.map(100000);
  REQUIRE(all.size() == 100004);
  all.back() = std::byte{'z'};
  all[4] = std::byte{'a'};
  file.replace();
  const std::string found = content_of(path);
  REQUIRE(found.size() == 100004);
  CHECK(found.substr(0, 5) == "heada");
  CHECK(found.back() == 'z');
  CHECK(std::count(found.begin(), found.end(), '\0') == 100004 - 6);
}

TEST_CASE("map() throws if the disk space cannot be reserved") {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.write("a", "old");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit = {100000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string message;
  try {
    ReplacementFile(path).map(200000);
  } catch (const FileError& error) {
    message = error.what();
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(message == path.string() + ": cannot be written: File too large; nothing was changed");
  CHECK(content_of(path) == "old");
  CHECK(file_count(directory.path()) == 1);
}

}  // namespace
}  // namespace equarx::tensors::replacement_file_test
