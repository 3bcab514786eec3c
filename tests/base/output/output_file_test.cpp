#include "base/output/output_file.hpp"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::output::output_file_test {
namespace {

namespace fs = std::filesystem;
using testing::content_of;
using testing::file_count;
using testing::TemporaryDirectory;

void write(const fs::path& path, const std::string& text) {
  OutputFile file(path);
  file.stream() << text;
  file.keep();
}

TEST_CASE("a file appears when it is kept, not before") {
  const TemporaryDirectory directory;
  const fs::path path = directory.write("a", "old");
  OutputFile file(path);
  file.stream() << "new" << std::flush;
  CHECK(content_of(path) == "old");
  CHECK(file_count(directory.path()) == 1);
  file.keep();
  CHECK(content_of(path) == "new");
}

TEST_CASE("long texts are written completely and in order") {
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += fmt::format("{},", i);
  OutputFile file(directory.path() / "a");
  for (const char letter : text.substr(0, 200000)) file.stream() << letter;
  file.stream() << text.substr(200000) << std::flush;
  file.keep();
  CHECK(content_of(directory.path() / "a") == text);
}

TEST_CASE("a umask without owner rights does not prevent writing") {
  const TemporaryDirectory directory;
  const mode_t before = umask(0777);
  write(directory.path() / "a", "text");
  umask(before);
  CHECK(fs::file_size(directory.path() / "a") == 4);
}

TEST_CASE("concurrent writers of one file are atomic, and other files stay") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a";
  directory.write("a.partial", "mine");
  OutputFile first(path);
  OutputFile second(path);
  first.stream() << std::string(100000, '1');
  second.stream() << std::string(100, '2');
  second.keep();
  CHECK(content_of(path) == std::string(100, '2'));
  first.keep();
  CHECK(content_of(path) == std::string(100000, '1'));
  CHECK(content_of(directory.path() / "a.partial") == "mine");
}

TEST_CASE("a link stays and its target is written, even if it was missing") {
  const TemporaryDirectory directory;
  const fs::path link = directory.path() / "link";
  fs::create_symlink("there", link);
  write(link, "once");
  CHECK(fs::is_symlink(link));
  CHECK(content_of(directory.path() / "there") == "once");
  write(link, "again");
  CHECK(fs::is_symlink(link));
  CHECK(content_of(directory.path() / "there") == "again");
}

TEST_CASE("circular links are refused") {
  const TemporaryDirectory directory;
  const fs::path link = directory.path() / "link";
  fs::create_symlink("link", link);
  CHECK_THROWS_AS(write(link, "a"), input::InputError);
  CHECK(fs::is_symlink(link));
}

}  // namespace
}  // namespace equarx::output::output_file_test
