#include "base/os/unfinished_files.hpp"

#include <deque>
#include <filesystem>
#include <list>
#include <string>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::os::unfinished_files_test {
namespace {

using testing::file_count;
using testing::TemporaryDirectory;

TEST_CASE("only unfinished files are removed") {
  const TemporaryDirectory directory;
  const std::string other = directory.write("other", "");
  const std::string finished = directory.write("finished", "");
  const std::string first = directory.write("first", "");
  const std::string second = directory.write("second", "");
  { const UnfinishedFile no_more(finished.c_str()); }
  const UnfinishedFile one(first.c_str());
  const UnfinishedFile two(second.c_str());
  remove_unfinished_files();
  CHECK(std::filesystem::exists(other));
  CHECK(std::filesystem::exists(finished));
  CHECK(file_count(directory.path()) == 2);
}

TEST_CASE("a removed file can be written again and is kept") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a", "");
  const UnfinishedFile file(path.c_str());
  remove_unfinished_files();
  directory.write("a", "new");
  remove_unfinished_files();
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("the registry holds a file per chip of a large slice, and an excess file is no error") {
  const TemporaryDirectory directory;
  std::deque<std::string> paths;
  std::list<UnfinishedFile> files;
  for (int i = 0; i <= 1024; ++i) {
    paths.push_back(directory.write(std::to_string(i), ""));
    files.emplace_back(paths.back().c_str());
  }
  remove_unfinished_files();
  CHECK(file_count(directory.path()) == 1);
}

}  // namespace
}  // namespace equarx::os::unfinished_files_test
