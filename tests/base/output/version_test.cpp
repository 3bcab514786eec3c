#include "base/output/version.hpp"

#include <regex>
#include <string>

#include "tests/catch.hpp"

namespace equarx::output::version_test {
namespace {

// The version of a tree is tested in tests/tools/cmake/version_test.py.
TEST_CASE("the version names the release, and the commit if it differs") {
  CHECK(std::regex_match(std::string(version()),
                         std::regex(R"(\d+\.\d+\.\d+(\+g[0-9a-f]{7}(\.dirty\.[0-9a-f]{8})?)?)")));
}

}  // namespace
}  // namespace equarx::output::version_test
