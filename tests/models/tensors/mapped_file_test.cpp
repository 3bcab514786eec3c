#include "models/tensors/mapped_file.hpp"

#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

#include "tests/support/tensor_files.hpp"

namespace equarx::mapped_file_test {
namespace {

using equarx::tensors::MappedFile;
using namespace equarx::testing;

std::string open_error(const std::filesystem::path& path) {
  return file_error_of([&] { MappedFile{path}; });
}

TEST_CASE("a mapped file has the bytes of the file") {
  const TemporaryDirectory directory;
  const MappedFile file(directory.write("f", "abc"));
  REQUIRE(file.bytes().size() == 3);
  CHECK(file.bytes()[2] == std::byte{'c'});
}

TEST_CASE("only non-empty regular files can be mapped") {
  const TemporaryDirectory directory;
  CHECK(open_error(directory.path() / "none") ==
        (directory.path() / "none").string() + ": does not exist; check the path");
  CHECK_THAT(open_error(directory.path()), ContainsSubstring("is a directory"));
  CHECK_THAT(open_error(directory.write("empty", "")), ContainsSubstring("is empty"));
  CHECK_THAT(open_error("/dev/zero"), ContainsSubstring("is a pipe or a device"));
  CHECK_THAT(open_error(directory.write("file", "x") + "/f"), ContainsSubstring("Not a directory"));
  CHECK_THAT(open_error(""), ContainsSubstring("does not exist"));
}

TEST_CASE("a pipe without a writer is refused at once") {
  const TemporaryDirectory directory;
  const std::filesystem::path pipe = directory.path() / "pipe.npy";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(open_error(pipe), ContainsSubstring("is a pipe or a device"));
}

TEST_CASE("an unreadable file is refused") {
  if (geteuid() == 0) {
    WARN("skipped: root may read every file");
    return;
  }
  const TemporaryDirectory directory;
  const std::string path = directory.write("secret", "x");
  REQUIRE(chmod(path.c_str(), 0) == 0);
  CHECK_THAT(open_error(path), ContainsSubstring("Permission denied"));
}

TEST_CASE("a mapped file stays readable after it is replaced or removed") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("f", "abc");
  const MappedFile file(path);
  std::filesystem::remove(path);
  directory.write("f", "");
  CHECK(file.bytes()[1] == std::byte{'b'});
}

}  // namespace
}  // namespace equarx::mapped_file_test
