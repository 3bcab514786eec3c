#include "experiments/contract/report.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::contract::report_test {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;
using values::Roundings;

constexpr BlockFormat kBf16{.element = ElementFormat::bf16};
constexpr BlockFormat kFp32{.element = ElementFormat::fp32};

/// A contract of one collective.
Contract contract_of(CollectiveContract one) {
  one.against.emplace_back();
  Contract contract;
  contract.config = config::read_config(testing::good_config());
  contract.collectives.push_back(std::move(one));
  return contract;
}

}  // namespace

TEST_CASE("roundings are summed by format, and FP32 additions stand alone only") {
  values::RoundingPath path;
  for (int hop = 0; hop < 3; ++hop) {
    path.steps.push_back({Roundings::Kind::addition, kFp32, 1});
    path.steps.push_back({Roundings::Kind::conversion, kBf16, 1});
  }
  CHECK(path_text(path) == "3 x bf16");
  path.steps = {{Roundings::Kind::addition, kFp32, 7}};
  CHECK(path_text(path) == "7 x fp32");
}

TEST_CASE("the text names the first overflow and every column") {
  CollectiveContract one;
  one.label = "mine";
  one.values.ranks_identical = false;
  one.values.differing = 1;
  one.values.computed_elements = 4;
  one.values.ranges.overflows = {
      .count = 3, .element = 42, .rank = 2, .op = collectives::Op::store};
  const std::string text = to_text(contract_of(one));
  CHECK_THAT(text, ContainsSubstring("3 overflows, first at element 42 on rank 2 (store)"));
  CHECK_THAT(text, ContainsSubstring("25.00 % differ"));
  CHECK_THAT(text, ContainsSubstring("128.0 KiB of bf16"));
}

TEST_CASE("the text names collectives with random rounding") {
  CollectiveContract one;
  one.label = "mine";
  CHECK_THAT(to_text(contract_of(one)), !ContainsSubstring("Random rounding"));
  one.deterministic = false;
  CHECK_THAT(to_text(contract_of(one)),
             ContainsSubstring("Random rounding, whose bits depend on the seed: mine\n"));
}

TEST_CASE("JSON has null where nothing was tried") {
  CollectiveContract one;
  one.label = "mine";
  one.sizes.push_back(
      {.bytes = 1024, .algorithm = "", .time_s = 0.0, .obstacle = "too small", .ulps = {}});
  const input::Json json = to_json(contract_of(one))["collectives"][0];
  CHECK(json["expected_nmse"].is_null());
  CHECK(json["same_at_all_cuts"].is_null());
  CHECK(json["same_at_all_sizes"] == true);
  CHECK(json["sizes"][0]["obstacle"] == "too small");
  CHECK(json["range"]["overflows"] == input::Json({{"count", 0}}));
}

}  // namespace equarx::contract::report_test
