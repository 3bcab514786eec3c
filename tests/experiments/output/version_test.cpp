#include "experiments/output/version.hpp"

#include <regex>
#include <string>

#include "tests/catch.hpp"

namespace equarx::output::version_test {
namespace {

// Which version a tree has is tested in tests/tools/cmake/version_test.py.
TEST_CASE("the program has a version that names its release, and its commit if that is another") {
  CHECK(std::regex_match(std::string(version()),
                         std::regex(R"(\d+\.\d+\.\d+(\+g[0-9a-f]{7}(\.dirty\.[0-9a-f]{8})?)?)")));
}

}  // namespace
}  // namespace equarx::output::version_test
