#include "importers/hlo/passes.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::passes_test {
namespace {

/// Passes over %p, f32[4,1000], whose rows of 4000 B do not fit into 2000 B.
double passes(const std::string& lines, double on_chip = 2000.0) {
  const Module module =
      testing::hlo_module("  %p = f32[4,1000] parameter(0)\n  %z = f32[] constant(0)\n" + lines);
  return passes_of(testing::entry_of(module), on_chip).front();
}

const std::string kNorm =
    "  %q = f32[4,1000] multiply(%p, %p)\n  %s = f32[4] reduce(%q, %z), dimensions={1}, "
    "to_apply=%add\n"
    "  %t = f32[4] rsqrt(%s)\n  %b = f32[4,1000] broadcast(%t), dimensions={0}\n"
    "  %n = f32[4,1000] multiply(%p, %b)\n";

TEST_CASE("data that is combined with its own reduction is read again if a row does not fit") {
  CHECK(passes(kNorm) == 2.0);
  CHECK(passes(kNorm, 4000.0) == 1.0);
  CHECK(passes("  %s = f32[4] reduce(%p, %z), dimensions={1}, to_apply=%add\n") == 1.0);
  CHECK(passes("  %s = f32[1000] reduce(%p, %z), dimensions={0}, to_apply=%add\n  %b = f32[4,1000] "
               "broadcast(%s), dimensions={1}\n  %n = f32[4,1000] add(%p, %b)\n") == 1.0);
}

TEST_CASE("a softmax of long rows takes three passes") {
  CHECK(
      passes("  %m = f32[4] reduce(%p, %z), dimensions={1}, to_apply=%add\n  %b = f32[4,1000] "
             "broadcast(%m), dimensions={0}\n  %d = f32[4,1000] subtract(%p, %b)\n  %e = "
             "f32[4,1000] exponential(%d)\n  %s = f32[4] reduce(%e, %z), dimensions={1}, "
             "to_apply=%add\n  %c = f32[4,1000] broadcast(%s), dimensions={0}\n  %r = f32[4,1000] "
             "divide(%e, %c)\n") == 3.0);
}

TEST_CASE("other operands are read once") {
  const Module module = testing::hlo_module(
      "  %p = f32[4,1000] parameter(0)\n  %z = f32[] constant(0)\n  %w = f32[4,1000] "
      "parameter(1)\n" +
      kNorm + "  %o = f32[4,1000] multiply(%n, %w)\n");
  CHECK(passes_of(testing::entry_of(module), 2000.0)[2] == 1.0);
  CHECK(reuse_bytes(true) == 228.0 * 1024);
  CHECK(reuse_bytes(false) == 16.0 * 1024 * 1024);
}

}  // namespace
}  // namespace equarx::hlo::passes_test
