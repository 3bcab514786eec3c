#include "models/collectives/cut_rule.hpp"

#include <random>

#include "models/collectives/partition.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::cut_rule_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {
constexpr std::uint64_t kMinishard = 128 * 1024;  // 128 elements in each of 1024 groups
constexpr std::uint64_t kKiB = 1024;
}  // namespace

TEST_CASE("default minishards leave closest to the requested elements per scale") {
  const auto format = int8_strided();
  REQUIRE(default_minishards(format, 1, 128) == 1);
  REQUIRE(default_minishards(format, kMinishard, 128) == 1);
  REQUIRE(default_minishards(format, kMinishard * 3 / 2 - 1, 128) == 1);
  REQUIRE(default_minishards(format, kMinishard * 3 / 2, 128) == 2);
  REQUIRE(default_minishards(format, 8 * kMinishard, 128) == 8);
  REQUIRE(default_minishards(format, 8 * kMinishard, 64) == 16);
  REQUIRE(default_minishards(format, 8 * kMinishard, kDefaultElementsPerScale) == 8);
}

TEST_CASE("a format without scales needs no minishards") {
  REQUIRE(default_minishards(plain(ElementFormat::bf16), 100 * kMinishard, 128) == 1);
}

TEST_CASE("default microshards hold 2 KiB, at most 8, or 4 with several minishards") {
  const auto format = int8_strided();
  REQUIRE(default_microshards(format, 1, 1) == 1);
  REQUIRE(default_microshards(format, 4 * kKiB - 1, 1) == 1);
  REQUIRE(default_microshards(format, 4 * kKiB, 1) == 2);
  REQUIRE(default_microshards(format, 8 * kKiB, 2) == 2);
  REQUIRE(default_microshards(format, 16 * kKiB, 1) == 8);
  REQUIRE(default_microshards(format, 1024 * kKiB, 1) == 8);
  REQUIRE(default_microshards(format, 1024 * kKiB, 2) == 4);
}

TEST_CASE("microshards are counted in bytes, not in elements") {
  REQUIRE(default_microshards(plain(ElementFormat::bf16), 4 * kKiB, 1) == 4);
  REQUIRE(default_microshards(plain(ElementFormat::fp32), 4 * kKiB, 1) == 8);
}

TEST_CASE("the defaults fit every tensor") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint64_t limit = std::uint64_t{1} << (random() % 34);
    const std::uint64_t elements = 1 + random() % limit;
    for (const auto& format : {int8_strided(), plain(ElementFormat::bf16)}) {
      const std::uint64_t segment = (elements + 15) / 16;
      const std::uint32_t minishards = default_minishards(format, segment, 128);
      const std::uint32_t microshards = default_microshards(format, segment, minishards);
      CAPTURE(elements, minishards, microshards);
      REQUIRE_NOTHROW(ring_partition(elements, 8, 2, minishards, microshards));
    }
  }
}

TEST_CASE("a cut follows the rule, with defaults for missing values") {
  const BlockFormat int8 = int8_strided();
  const std::uint64_t chunk = 8 * kMinishard;
  REQUIRE(choose_cut({}, int8, chunk) == Cut{.minishards = 8, .microshards = 4});
  REQUIRE(choose_cut({.minishards = 1}, int8, chunk) == Cut{.minishards = 1, .microshards = 8});
  REQUIRE(choose_cut({.microshards = 3}, int8, chunk) == Cut{.minishards = 8, .microshards = 3});
  REQUIRE(choose_cut({.elements_per_scale = 64}, int8, chunk).minishards == 16);
  // Zero minishards are refused by the partition.
  REQUIRE(choose_cut({.minishards = 0}, int8, chunk).minishards == 0);
}

TEST_CASE("part sizes apply to chunks of every size and enlarge no scale group") {
  const BlockFormat int8 = int8_strided();
  const CutRule rule{.elements_per_scale = 128, .sizes = {.minishard = 1000, .microshard = 300}};
  REQUIRE(choose_cut(rule, int8, 4000) == Cut{.minishards = 4, .microshards = 3});
  REQUIRE(choose_cut(rule, int8, 1000) == Cut{.minishards = 1, .microshards = 3});
  REQUIRE(choose_cut(rule, int8, 10) == Cut{.minishards = 1, .microshards = 1});
  REQUIRE(choose_cut({.sizes = {.microshard = 1}}, int8, 1000).microshards == kMostMicroshards);
  // Parts never exceed the limit from elements_per_scale.
  REQUIRE(choose_cut({.sizes = {.minishard = 100 * kMinishard}}, int8, 8 * kMinishard).minishards ==
          8);
  // Explicit values are kept, and a format without scales has one minishard.
  REQUIRE(choose_cut({.minishards = 2, .microshards = 5, .sizes = {1000, 300}}, int8, 4000) ==
          Cut{.minishards = 2, .microshards = 5});
  REQUIRE(choose_cut(rule, plain(ElementFormat::bf16), 4000).minishards == 1);
}

}  // namespace equarx::cut_rule_test
