#include "experiments/contract/promises.hpp"

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::contract::promises_test {
namespace {

using input::Json;

config::ExperimentConfig config_of(const Json& collectives) {
  return config::read_config({{"hardware", "h100"},
                              {"topology", {{"switch", 8}}},
                              {"tensor", {{"shape", {4, 4096}}, {"dtype", "bf16"}}},
                              {"collectives", collectives}});
}

const Json kRing = {{"algorithm", "ring"}, {"label", "ring"}};
const Json kOnce = {
    {"algorithm", "ring"}, {"arithmetic", {{"round", "once"}}}, {"label", "FP32 ring"}};
const Json kOneShot = {{"algorithm", "one-shot"}, {"label", "one-shot"}};
const Json kNarrow = {
    {"algorithm", "one-shot"}, {"arithmetic", "trtllm-one-shot"}, {"label", "bf16 sums"}};
const Json kInt8 = {{"algorithm", "two-shot"}, {"format", "int8"}, {"label", "int8"}};
const Json kSummed = {{"algorithm", "two-shot"},
                      {"format", "int8"},
                      {"arithmetic", {{"owner", "summed"}}},
                      {"label", "own sum"}};
const Json kRandom = {
    {"algorithm", "two-shot"}, {"format", "int8"}, {"rounding", "stochastic"}, {"label", "random"}};

std::optional<Broken> broken(const Json& collective, Promise promise) {
  return find_broken(config_of(Json::array({collective})), std::array{promise}, 1.0, 1);
}

}  // namespace

TEST_CASE("promises are read by name") {
  for (const Promise promise : kPromises)
    CHECK(read_promises({std::string(name(promise))}) == std::vector{promise});
  CHECK(names_text(read_promises({"no-overflow", "fp32-sums"})) == "no-overflow, fp32-sums");
  CHECK(read_promises({}).empty());
  CHECK_THROWS_WITH(read_promises({"fp32-sum"}), ContainsSubstring("did you mean 'fp32-sums'"));
  CHECK_THROWS_WITH(read_promises({"fp32-sums", "fp32-sums"}), ContainsSubstring("named twice"));
}

TEST_CASE("partial sums in FP32 keep fp32-sums, whatever terms and result are rounded to") {
  CHECK(broken(kRing, Promise::fp32_sums)->reason == "rounds partial sums: 7 conversions");
  CHECK_FALSE(broken(kOnce, Promise::fp32_sums));
  CHECK_FALSE(broken(kOneShot, Promise::fp32_sums));
  CHECK(broken(kNarrow, Promise::fp32_sums));
  CHECK_FALSE(broken(kInt8, Promise::fp32_sums));
}

TEST_CASE("one rounding excludes quantized terms") {
  CHECK(broken(kRing, Promise::one_rounding));
  CHECK_FALSE(broken(kOnce, Promise::one_rounding));
  CHECK(broken(kNarrow, Promise::one_rounding)->reason == "7 bf16 additions");
  CHECK(broken(kInt8, Promise::one_rounding)->reason == "2 quantizations and 1 conversion");
}

TEST_CASE("bits on ranks, seeds and cuts") {
  CHECK_FALSE(broken(kInt8, Promise::same_bits_on_all_ranks));
  CHECK(broken(kSummed, Promise::same_bits_on_all_ranks));
  CHECK_FALSE(broken(kInt8, Promise::deterministic));
  CHECK(broken(kRandom, Promise::deterministic)->reason == "rounds randomly");
  CHECK(broken(kInt8, Promise::same_bits_at_all_cuts));
  CHECK_FALSE(broken(kOneShot, Promise::same_bits_at_all_cuts));
  CHECK(broken(kRing, Promise::same_bits_at_all_sizes));
  CHECK_FALSE(broken(kOneShot, Promise::same_bits_at_all_sizes));
  CHECK(broken(kRing, Promise::same_bits_on_fewer_ranks));
}

TEST_CASE("checks that stop at the first difference agree with whole contracts") {
  const Json all = Json::array({kRing, kOneShot, kSummed});
  const Contract contract = make_contract(config_of(all), {.threads = 1});
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Promise promise : kPromises) {
      CAPTURE(contract.collectives[i].label, name(promise));
      CHECK(why_broken(contract.collectives[i], promise).empty() ==
            !broken(all[i], promise).has_value());
    }
}

TEST_CASE("the cost of a promise is over the fastest collective") {
  const Contract contract = make_contract(config_of(Json::array({kRing, kOneShot, kInt8})),
                                          {.threads = 1, .sizes = false, .ranks = false});
  const std::vector<KeptBy> rows = fastest_by_promise(contract);
  REQUIRE(rows.size() == kPromises.size() - 1);  // any, and all promises but sizes and fewer ranks
  CHECK(rows.front().promises.empty());
  for (const KeptBy& row : rows) {
    CHECK(row.time_s >= rows.front().time_s);
    if (row.promises == std::vector{Promise::one_rounding}) CHECK(row.label == "one-shot");
  }
  const std::string table = costs_table(rows);
  CHECK_THAT(table, ContainsSubstring("no promise"));
  CHECK(costs_json(rows).size() == rows.size());
}

}  // namespace equarx::contract::promises_test
