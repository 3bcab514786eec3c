#include "experiments/output_files.hpp"

#include "tests/experiments/sweep/sweeps.hpp"

namespace equarx::experiments {
namespace {

using namespace testing;

TEST_CASE("CSV quotes what would be misread") {
  CHECK(csv({{"a", "b"}, {"1,5", "say \"hi\""}, {"", "x\ny"}}) ==
        "a,b\n\"1,5\",\"say \"\"hi\"\"\"\n,\"x\ny\"\n");
}

TEST_CASE("a file is replaced whole, and nothing else is left") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a.txt";
  write(file, "old");
  CHECK(write_file(file, "new") == file);
  CHECK(content(file) == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a file that cannot be written is refused") {
  CHECK_THROWS_WITH(write_file("/proc/nothing/here", "x"), ContainsSubstring("is there room"));
  CHECK_THROWS_WITH(check_folder("/dev/null/x"), ContainsSubstring("is not a folder"));
  CHECK_THROWS_WITH(make_folder("/dev/null/x"), ContainsSubstring("cannot make the folder"));
}

}  // namespace
}  // namespace equarx::experiments
