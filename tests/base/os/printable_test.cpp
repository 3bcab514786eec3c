#include "base/os/printable.hpp"

#include "tests/catch.hpp"

namespace equarx::printable_test {
namespace {

using equarx::os::printable;
using equarx::os::printable_lines;

TEST_CASE("control characters are replaced by question marks") {
  CHECK(printable("a\x1b[31mb\x7f\r\n\t" + std::string(1, '\0')) == "a?[31mb?????");
  CHECK(printable("\xc2\x9b"
                  "31m") == "??31m");  // C1 CSI in UTF-8
  CHECK(printable("\x9b"
                  "31m") == "?31m");           // in Latin-1
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");  // first printable character
}

TEST_CASE("valid UTF-8 is kept, and malformed UTF-8 is replaced") {
  const std::string letters = "a \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80";
  CHECK(printable(letters) == letters);
  CHECK(printable("\xe2\x82 \xff \xc0\x9b \xe0\x82\x9b") == "?? ? ?? ???");
  CHECK(printable("\xe2\x82"
                  "a") == "??a");
}

TEST_CASE("printable_lines keeps line feeds and tabs") {
  CHECK(printable_lines("a\tb\n\x1b[2Jc\r\n") == "a\tb\n?[2Jc?\n");
}

}  // namespace
}  // namespace equarx::printable_test
