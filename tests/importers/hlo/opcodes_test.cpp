#include "importers/hlo/opcodes.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo::opcodes_test {
namespace {

TEST_CASE("opcodes have their classes") {
  CHECK(class_of("add") == OpClass::elementwise);
  CHECK(class_of("parameter") == OpClass::free);
  CHECK(class_of("dynamic-update-slice") == OpClass::update);
  CHECK(class_of("ragged-all-to-all") == OpClass::collective);
  CHECK(class_of("async") == OpClass::nested);
  CHECK(class_of("frobnicate") == OpClass::unknown);
  CHECK(class_of("") == OpClass::unknown);
}

TEST_CASE("opcodes of asynchronous pairs split into base and role") {
  CHECK(split("all-reduce-start").base == "all-reduce");
  CHECK(split("all-reduce-start").end == AsyncEnd::start);
  CHECK(split("copy-done").end == AsyncEnd::done);
  CHECK(split("async-update").end == AsyncEnd::update);
  CHECK(split("all-reduce").end == AsyncEnd::none);
}

}  // namespace
}  // namespace equarx::hlo::opcodes_test
