#include "experiments/contract/contract.hpp"

#include "base/input/errors.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/rank_files.hpp"

namespace equarx::contract::contract_test {
namespace {

using input::Json;

Json config_of(const Json& collectives, int ranks = 8) {
  return {{"hardware", "h100"},
          {"topology", {{"switch", ranks}}},
          {"tensor", {{"shape", {8, 4096}}, {"dtype", "bf16"}}},
          {"collectives", collectives}};
}

Contract made(const Json& config, const ContractOptions& options = {.threads = 1}) {
  return make_contract(config::read_config(config), options);
}

const Json kOneShot = {{"algorithm", "one-shot"}, {"label", "fp32"}};
const Json kTrtllm = {
    {"algorithm", "one-shot"}, {"arithmetic", "trtllm-one-shot"}, {"label", "bf16"}};
const Json kRing = {{"algorithm", "ring"}, {"label", "ring"}};

void check_refused(const Json& config, const std::string& pointer) {
  try {
    made(config);
    FAIL("no InputError was thrown");
  } catch (const input::InputError& error) {
    CHECK(error.pointer() == pointer);
  }
}

}  // namespace

TEST_CASE("one rounding gives the exact sums, seven give others") {
  const Contract contract = made(config_of({kOneShot, kTrtllm}), {.threads = 1, .sizes = false});
  const CollectiveContract& once = contract.collectives[0];
  const CollectiveContract& seven = contract.collectives[1];
  CHECK(once.path.conversions == 1);
  CHECK(once.values.ulps.differing() == 0);
  CHECK(once.same_at_all_cuts);
  CHECK(once.cuts > 0);
  CHECK(once.sizes.empty());
  CHECK(seven.path.additions == 7);
  CHECK(seven.values.ulps.differing_share() > 0.4);
  REQUIRE(once.expected_nmse.has_value());
  CHECK(once.values.against_exact.nmse == Approx(*once.expected_nmse).epsilon(0.1));
  CHECK(seven.values.against_exact.nmse == Approx(*seven.expected_nmse).epsilon(0.2));
  CHECK(once.against[0].differing() == 0);
  CHECK(once.against[1].differing() == seven.values.ulps.differing());
  CHECK(once.time_s > 0.0);
}

TEST_CASE("one-shot has the same bits at all sizes, a ring has not") {
  const Contract contract = made(config_of({kOneShot, kRing}), {.threads = 2, .ranks = false});
  const CollectiveContract& one_shot = contract.collectives[0];
  const CollectiveContract& ring = contract.collectives[1];
  REQUIRE(one_shot.sizes.size() == 10);
  CHECK(one_shot.sizes.front().bytes == 1024);
  CHECK(one_shot.sizes.back().bytes == 256U << 20);
  CHECK(one_shot.same_at_all_sizes());
  CHECK_FALSE(ring.same_at_all_sizes());
  CHECK(ring.sizes.back().ulps.differing() == 0);
  CHECK(ring.sizes[5].ulps.differing_share() > 0.1);
  REQUIRE(contract.switching.has_value());
  CHECK_FALSE(contract.switching->same_at_all_sizes);
  CHECK(contract.switching->sizes.back().algorithm == "ring");
}

TEST_CASE("fewer ranks agree only where sums are exact") {
  const Contract contract =
      made(config_of(Json::array({kOneShot})), {.threads = 1, .sizes = false});
  const std::vector<RanksCheck>& checks = contract.collectives[0].fewer_ranks;
  REQUIRE(checks.size() == 3);
  CHECK(checks[0].ranks == 1);
  CHECK(checks[0].ulps.differing() == 0);  // FP32 sums of eight BF16 values, rounded once
  CHECK(checks[2].ulps.differing() > 0);   // partial sums of pairs are rounded first
  CHECK_FALSE(contract.collectives[0].same_for_all_ranks());
}

TEST_CASE("owners that keep their sums end with other bits") {
  const Contract contract = made(config_of(Json::array({{{"algorithm", "two-shot"},
                                                         {"format", "fp8-e4m3"},
                                                         {"arithmetic", {{"owner", "summed"}}}}})),
                                 {.threads = 1, .sizes = false, .ranks = false});
  CHECK_FALSE(contract.collectives[0].values.ranks_identical);
  CHECK(contract.collectives[0].values.differing > 0);
}

TEST_CASE("files with a leading axis of ranks have the same values at other sizes") {
  const testing::TemporaryDirectory folder;
  const std::string path =
      testing::write_values(folder, "sums.npy", {4, 8192}, [](std::uint64_t element) {
        return static_cast<float>(element % 8192 * 7 % 1000) *
               static_cast<float>(1 + element / 8192);
      });
  Json config = config_of(Json::array({kOneShot}), 4);
  config["tensor"] = {{"values", {{"files", {path}}}}};
  const Contract contract = made(config, {.threads = 1, .ranks = false});
  const std::vector<SizeCheck>& sizes = contract.collectives[0].sizes;
  REQUIRE(sizes.size() == 3);  // 1, 4 and 16 KiB of 32 KiB
  CHECK(contract.collectives[0].same_at_all_sizes());
}

TEST_CASE("contracts are about sums of whole tensors on healthy machines") {
  Json config = config_of(Json::array({kOneShot}));
  config["tensor"]["sample"] = 0.5;
  check_refused(config, "/tensor/sample");
  config = config_of(Json::array({{{"algorithm", "direct"}}}));
  config["collective"] = "all-to-all";
  check_refused(config, "/collective");
}

}  // namespace equarx::contract::contract_test
