#include "importers/hlo/audit_types.hpp"

#include <cmath>

#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_types_test {
namespace {

using imports::AuditFinding;
using imports::AuditRule;
using testing::findings_of;
using testing::kAllChips;

const std::string kGather = "  %g = f32[8192,64] all-gather(%c), dimensions={0}" + kAllChips + "\n";

TEST_CASE("a gather of widened values is a finding with the bytes of the narrow type") {
  const auto found = findings_of(AuditRule::wide_type,
                                 "  %p = bf16[1024,64] parameter(0)\n"
                                 "  %c = f32[1024,64] convert(%p)\n" +
                                     kGather + "  ROOT %n = f32[8192,64] negate(%g)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == 8192 * 64 * 2.0);
  REQUIRE(found[0].changes.size() == 1);
  CHECK(found[0].changes[0].bytes == 8192 * 64 * 2.0);
  CHECK(found[0].changes[0].dtype == numerics::ElementFormat::bf16);
  CHECK_THAT(found[0].why, ContainsSubstring("bf16 widened to f32"));
  CHECK_THAT(found[0].remedy, ContainsSubstring("Move bf16 and cast to jnp.float32 after it"));
}

TEST_CASE("widening is found through reshapes, fusions and two casts") {
  const auto found =
      findings_of(AuditRule::wide_type,
                  "  %p = f8e4m3fn[65536] parameter(0)\n"
                  "  %h = bf16[65536] convert(%p)\n"
                  "  %f = f32[64,1024] fusion(%h), kind=kLoop, calls=%widen\n"
                  "  %c = f32[1024,64] transpose(%f), dimensions={1,0}\n" +
                      kGather + "  ROOT %n = f32[8192,64] negate(%g)\n",
                  "%widen (x: bf16[65536]) -> f32[64,1024] {\n  %x = bf16[65536] parameter(0)\n"
                  "  %y = f32[65536] convert(%x)\n  ROOT %z = f32[64,1024] bitcast(%y)\n}\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].changes.at(0).bytes == 8192 * 64 * 1.0);
}

TEST_CASE("values that need their type are no finding") {
  const std::string use = "  ROOT %n = f32[8192,64] negate(%g)\n";
  // Computed in f32; rounded and computed on; of integers with more digits than f32.
  for (const char* line : {"  %c = f32[1024,64] negate(%p)\n", "  %c = f32[1024,64] copy(%p)\n"})
    CHECK(findings_of(AuditRule::wide_type,
                      "  %p = f32[1024,64] parameter(0)\n" + std::string(line) + kGather + use)
              .empty());
  CHECK(findings_of(AuditRule::wide_type,
                    "  %p = s32[1024,64] parameter(0)\n"
                    "  %c = f32[1024,64] convert(%p)\n" +
                        kGather + use)
            .empty());
}

TEST_CASE("a gather whose result is only cast down can move the narrow type") {
  const std::string begin = "  %c = f32[1024,64] parameter(0)\n" + kGather;
  const auto found =
      findings_of(AuditRule::casts, begin +
                                        "  %b = bf16[8192,64] convert(%g)\n"
                                        "  %s = f32[64,64] slice(%g), slice={[0:64], [0:64]}\n"
                                        "  %d = bf16[64,64] convert(%s)\n"
                                        "  ROOT %t = (bf16[8192,64], bf16[64,64]) tuple(%b, %d)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == 8192 * 64 * 2.0);
  CHECK_THAT(found[0].remedy, ContainsSubstring("x.astype(jnp.bfloat16)"));
  // A second use in f32, and a result of the program.
  CHECK(findings_of(AuditRule::casts,
                    begin + "  %b = bf16[8192,64] convert(%g)\n"
                            "  %m = f32[8192,64] negate(%g)\n"
                            "  ROOT %t = (bf16[8192,64], f32[8192,64]) tuple(%b, %m)\n")
            .empty());
  CHECK(findings_of(AuditRule::casts,
                    begin + "  %b = bf16[8192,64] convert(%g)\n"
                            "  ROOT %t = (bf16[8192,64], f32[8192,64]) tuple(%b, %g)\n")
            .empty());
}

TEST_CASE("casts are found at the end of an asynchronous gather") {
  const auto found = findings_of(
      AuditRule::casts,
      "  %p = f32[1024,64] parameter(0)\n"
      "  %s = (f32[1024,64], f32[8192,64]) all-gather-start(%p), dimensions={0}" +
          kAllChips +
          "\n  %d = f32[8192,64] all-gather-done(%s)\n  ROOT %b = bf16[8192,64] convert(%d)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == 8192 * 64 * 2.0);
}

TEST_CASE("casts are found at the end of an asynchronous gather of two arrays") {
  const auto found =
      findings_of(AuditRule::casts,
                  "  %p = f32[1024,64] parameter(0)\n  %h = bf16[512,64] parameter(1)\n"
                  "  %q = f32[512,64] convert(%h)\n"
                  "  %s = ((f32[1024,64], f32[512,64]), (f32[8192,64], f32[4096,64])) "
                  "all-gather-start(%p, %q), dimensions={0}" +
                      kAllChips +
                      "\n  %d = (f32[8192,64], f32[4096,64]) all-gather-done(%s)\n"
                      "  %x = f32[8192,64] get-tuple-element(%d), index=0\n"
                      "  %y = f32[4096,64] get-tuple-element(%d), index=1\n"
                      "  %b = bf16[8192,64] convert(%x)\n  %n = f32[4096,64] negate(%y)\n"
                      "  ROOT %t = (bf16[8192,64], f32[4096,64]) tuple(%b, %n)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == (8192 + 4096) * 64 * 2.0);
  CHECK_THAT(found[0].why, ContainsSubstring("bf16 widened to f32, and every use"));
}

TEST_CASE("a quantization after a gather can precede it") {
  const std::string begin =
      "  %c = bf16[1024,64] parameter(0)\n  %k = bf16[] constant(0.1)\n"
      "  %w = bf16[8192,64] broadcast(%k), dimensions={}\n"
      "  %v = bf16[8192,64] parameter(1)\n"
      "  %g = bf16[8192,64] all-gather(%c), dimensions={0}" +
      kAllChips + "\n";
  const std::string end =
      "  %r = bf16[8192,64] round-nearest-even(%m)\n  ROOT %q = s8[8192,64] convert(%r)\n";
  const auto found =
      findings_of(AuditRule::casts, begin + "  %m = bf16[8192,64] multiply(%g, %w)\n" + end);
  REQUIRE(found.size() == 1);
  CHECK(found[0].changes.at(0).bytes == 8192 * 64 * 1.0);
  CHECK_THAT(found[0].remedy, ContainsSubstring("gather s8 and its scales"));
  // A product with a tensor is no scaling.
  CHECK(findings_of(AuditRule::casts, begin + "  %m = bf16[8192,64] multiply(%g, %v)\n" + end)
            .empty());
}

TEST_CASE("a sum that is rounded at once is a finding that names the change of its error") {
  const std::string begin = "  %p = f32[65536] parameter(0)\n  %r = f32[65536] all-reduce(%p)" +
                            kAllChips + ", to_apply=%add\n";
  const auto found =
      findings_of(AuditRule::wide_type, begin + "  ROOT %b = bf16[65536] convert(%r)\n");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].remedy, ContainsSubstring("grows from 0.17 % to 0.35 % over 8 chips"));
  CHECK(findings_of(AuditRule::wide_type, begin + "  ROOT %b = f32[65536] negate(%r)\n").empty());
  // The sum of widened values in f32 is more exact than in bf16.
  CHECK(findings_of(AuditRule::wide_type,
                    "  %h = bf16[65536] parameter(0)\n  %p = f32[65536] convert(%h)\n"
                    "  %r = f32[65536] all-reduce(%p)" +
                        kAllChips + ", to_apply=%add\n  ROOT %b = f32[65536] negate(%r)\n")
            .empty());
}

TEST_CASE("casts are found at the end of an asynchronous sum of two arrays") {
  const auto found =
      findings_of(AuditRule::wide_type,
                  "  %p = f32[65536] parameter(0)\n  %q = f32[1024] parameter(1)\n"
                  "  %s = (f32[65536], f32[1024]) all-reduce-start(%p, %q)" +
                      kAllChips +
                      ", to_apply=%add\n  %d = (f32[65536], f32[1024]) all-reduce-done(%s)\n"
                      "  %x = f32[65536] get-tuple-element(%d), index=0\n"
                      "  %y = f32[1024] get-tuple-element(%d), index=1\n"
                      "  %b = bf16[65536] convert(%x)\n  ROOT %n = f32[1024] negate(%y)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == 65536 * 2.0);
}

TEST_CASE("a maximum of widened values is exact in the narrow type") {
  const std::string maximum =
      "%max (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] "
      "parameter(1)\n  ROOT %c = f32[] maximum(%a, %b)\n}\n";
  const auto found =
      findings_of(AuditRule::wide_type,
                  "  %h = bf16[65536] parameter(0)\n  %p = f32[65536] convert(%h)\n"
                  "  %r = f32[65536] all-reduce(%p)" +
                      kAllChips + ", to_apply=%max\n  ROOT %b = f32[65536] negate(%r)\n",
                  maximum);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].remedy, ContainsSubstring("The result is the same"));
}

TEST_CASE("the CPU backend is named where it widened the collectives") {
  const auto found =
      findings_of(AuditRule::casts,
                  "  %p = bf16[1024,64] parameter(0)\n"
                  "  %c = f32[1024,64] fusion(%p), kind=kLoop, calls=%widen, "
                  "backend_config={\"outer_dimension_partitions\":[\"4\"]}\n" +
                      kGather + "  ROOT %b = bf16[8192,64] convert(%g)\n",
                  "%widen (x: bf16[1024,64]) -> f32[1024,64] {\n  %x = bf16[1024,64] parameter(0)\n"
                  "  ROOT %y = f32[1024,64] convert(%x)\n}\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_of_compiler);
  CHECK_THAT(found[0].remedy, ContainsSubstring("CPU backend widens bf16 collectives"));
}

TEST_CASE("sums in 16 bits over more than two chips have their expected error") {
  const auto sum = [](const std::string& type, const std::string& groups) {
    return findings_of(AuditRule::half_sum,
                       "  %p = " + type + "[65536] parameter(0)\n  ROOT %r = " + type +
                           "[65536] all-reduce(%p), channel_id=1, replica_groups=" + groups +
                           ", use_global_device_ids=true, to_apply=%add\n");
  };
  const auto found = sum("bf16", "{{0,1,2,3,4,5,6,7}}");
  REQUIRE(found.size() == 1);
  CHECK(found[0].excess_bytes == -2.0 * 65536);
  CHECK(found[0].changes.at(0).dtype == numerics::ElementFormat::fp32);
  CHECK_THAT(found[0].why, ContainsSubstring("It adds 8 chips in bf16") &&
                               ContainsSubstring("error 0.35 %, at most 2.7 % of the sum"));
  CHECK(sum("f16", "{{0,1,2,3,4,5,6,7}}").size() == 1);
  CHECK(sum("f32", "{{0,1,2,3,4,5,6,7}}").empty());
  CHECK(sum("bf16", "{{0,1},{2,3},{4,5},{6,7}}").empty());
}

TEST_CASE("the expected error of a ring equals that of sums rounded one by one") {
  constexpr int kMantissa = 7;
  constexpr std::size_t kRanks = 8;
  constexpr int kSums = 200'000;
  const auto rounded = [](double x) {
    int exponent = 0;
    const double significand = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(significand, kMantissa + 1)),
                      exponent - kMantissa - 1);
  };
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  double error = 0.0;
  double power = 0.0;
  for (int i = 0; i < kSums; ++i) {
    double exact = rounded(normal(random));
    double sum = exact;
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
      const double term = rounded(normal(random));
      exact += term;
      sum = rounded(sum + term);
    }
    error += (sum - exact) * (sum - exact);
    power += exact * exact;
  }
  CHECK(std::sqrt(error / power) == Approx(ring_sum_error(kRanks, kMantissa)).epsilon(0.1));
  CHECK(ring_sum_error(1, kMantissa) == 0.0);
  CHECK(ring_sum_error(2, kMantissa) == Approx(rounding_error(kMantissa)));
}

}  // namespace
}  // namespace equarx::hlo::audit_types_test
