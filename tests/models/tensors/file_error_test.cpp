#include "models/tensors/file_error.hpp"

#include "tests/catch.hpp"

namespace equarx::file_error_test {
namespace {

using equarx::tensors::FileError;
using equarx::tensors::in_quotes;

TEST_CASE("file errors start with the file name") {
  const FileError error("a dir/b.npy", "is empty");
  CHECK(error.place() == "a dir/b.npy");
  CHECK(std::string(error.what()) == "a dir/b.npy: is empty");
}

TEST_CASE("long quotations are truncated") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  CHECK(in_quotes(std::string(1000000, 'a')) == "'" + std::string(60, 'a') + "...'");
}

}  // namespace
}  // namespace equarx::file_error_test
