#include "base/output/files.hpp"

#include <sys/stat.h>

#include "base/output/csv.hpp"
#include "base/output/output_file.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::output::files_test {
namespace {

using namespace testing;

TEST_CASE("a file is replaced atomically, without leftovers") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.txt";
  write(file, "old");
  CHECK(write_file(file, "new") == file);
  CHECK(content(file) == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("only regular files are replaced") {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) == 0);
  CHECK_THROWS_WITH(write_file(pipe, "x"), ContainsSubstring("it is a pipe or a device"));
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK_THROWS_WITH(write_file(folder.path(), "x"), ContainsSubstring("it is a folder"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file is replaced through a symbolic link") {
  const TemporaryFolder folder;
  write(folder.path() / "file", "old");
  std::filesystem::create_symlink(folder.path() / "file", folder.path() / "link");
  write_file(folder.path() / "link", "new");
  CHECK(content(folder.path() / "file") == "new");
  CHECK(std::filesystem::is_symlink(folder.path() / "link"));
}

TEST_CASE("a discarded file leaves nothing") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.path() / "a.txt");
    file.stream() << "half";
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an output that is an input is refused under any path") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "a.json").string();
  write(file, "precious");
  std::filesystem::create_symlink(file, folder.path() / "link");
  std::filesystem::create_hard_link(file, folder.path() / "same");
  const std::vector<std::string> inputs = {"/no/such/file", "", file};
  const std::string folder_name = folder.path().filename();
  for (const std::string& name :
       std::vector<std::string>{"a.json", "link", "same", "../" + folder_name + "/a.json"}) {
    CAPTURE(name);
    CHECK_THROWS_WITH(check_not_input(folder.path() / name, inputs),
                      ContainsSubstring("it is an input (" + file + "); name another file"));
  }
  CHECK_NOTHROW(check_not_input(folder.path() / "b.json", inputs));
  CHECK_NOTHROW(check_not_input("", inputs));
  CHECK(content(file) == "precious");
}

TEST_CASE("a file that cannot be written is refused") {
  CHECK_THROWS_WITH(write_file("/proc/nothing/here", "x"),
                    ContainsSubstring("cannot write /proc/nothing/here"));
  CHECK_THROWS_WITH(check_folder("/dev/null/x"), ContainsSubstring("is not a writable folder"));
  CHECK_THROWS_WITH(make_folder("/dev/null/x"), ContainsSubstring("cannot create the folder"));
}

TEST_CASE("a folder under circular links is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("circle", folder.path() / "circle");
  CHECK_THROWS_WITH(check_folder(folder.path() / "circle" / "out"),
                    ContainsSubstring("circle/out: Too many levels of symbolic links"));
}

}  // namespace
}  // namespace equarx::output::files_test
