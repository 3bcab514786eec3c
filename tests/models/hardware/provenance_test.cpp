#include "models/hardware/provenance.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::provenance_test {
namespace {

TEST_CASE("each provenance has its name") {
  CHECK(name(Provenance::datasheet) == "datasheet");
  CHECK(name(Provenance::measured) == "measured");
  CHECK(name(Provenance::calibrated) == "calibrated");
  CHECK(name(Provenance::assumed) == "assumed");
}

}  // namespace
}  // namespace equarx::hardware::provenance_test
