#include "base/os/temporary_folder.hpp"

#include <fstream>

#include "tests/catch.hpp"

namespace equarx::os::temporary_folder_test {
namespace {

TEST_CASE("a temporary folder is deleted with its contents") {
  std::filesystem::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    std::ofstream(path / "file") << "x";
    CHECK(std::filesystem::exists(path / "file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace equarx::os::temporary_folder_test
