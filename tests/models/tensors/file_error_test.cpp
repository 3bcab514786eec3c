#include "models/tensors/file_error.hpp"

#include "tests/catch.hpp"

namespace equarx::file_error_test {
namespace {

using equarx::tensors::FileError;
using equarx::tensors::in_quotes;

std::string shown(const std::string& text) { return FileError("f", text).what(); }

TEST_CASE("file errors start with the file name") {
  CHECK(std::string(FileError("a dir/b.npy", "is empty").what()) == "a dir/b.npy: is empty");
}

TEST_CASE("control characters in names and contents are replaced") {
  CHECK(shown("a\nb\r\tc\x1b[31md\x7f" + std::string(1, '\0')) == "f: a?b??c?[31md??");
  CHECK(std::string(FileError("evil\n\x1b.npy", "x").what()) == "evil??.npy: x");
}

TEST_CASE("8-bit control characters are replaced") {
  CHECK(shown("\xc2\x9b"
              "31m") == "f: ??31m");          // CSI in UTF-8
  CHECK(shown("\xc2\xa0") == "f: \xc2\xa0");  // first printable character
  CHECK(shown("\x9b"
              "31m") == "f: ?31m");                      // CSI in Latin-1
  CHECK(shown("\xc0\x9b \xe0\x82\x9b") == "f: ?? ???");  // overlong encodings
}

TEST_CASE("valid UTF-8 is kept, malformed UTF-8 is replaced") {
  const std::string letters = "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";
  CHECK(shown(letters) == "f: " + letters);
  CHECK(shown("\xe2\x82") == "f: ??");
  CHECK(shown("\xe2\x82"
              "a") == "f: ??a");
  CHECK(shown("\xff") == "f: ?");
}

TEST_CASE("long quotations are truncated") {
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes(std::string(60, 'a')) == "'" + std::string(60, 'a') + "'");
  CHECK(in_quotes(std::string(1000000, 'a')) == "'" + std::string(60, 'a') + "...'");
}

}  // namespace
}  // namespace equarx::file_error_test
