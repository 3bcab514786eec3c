#include "models/values/lane_uses.hpp"

#include <vector>

#include "models/collectives/exchange_program.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::lane_uses_test {
namespace {

using collectives::Collective;
using collectives::Program;
using collectives::RankGrid;
using collectives::RingStyle;
using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 5'000'003;

/// Programs whose lanes take more than kMuchAtOnce, and cannot be divided.
std::vector<Program> large_programs() {
  std::vector<Program> programs;
  BlockFormat format = testing::int8_strided();
  format.rounding = numerics::Rounding::stochastic;
  for (const RingStyle style : testing::kStyles) {
    const bool is_semi = style == RingStyle::semi_loop;
    programs.push_back(collectives::make_ring_program(
        is_semi ? RankGrid({4, 2}) : RankGrid({8}), kElements * 4, ElementFormat::bf16,
        testing::ring(style, {true, is_semi}, format, 1, 3)));
  }
  const collectives::ExchangeOptions options{format, format, {1, 2}};
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter})
    programs.push_back(collectives::make_direct_exchange(collective, 4, kElements * 2,
                                                         ElementFormat::bf16, options));
  programs.push_back(
      collectives::make_one_shot_all_reduce(4, kElements / 2, ElementFormat::bf16, options));
  programs.push_back(collectives::make_recursive_doubling(RankGrid({2, 2}), kElements / 2,
                                                          ElementFormat::bf16, options));
  return programs;
}

std::uint64_t largest_lane(const Program& program) {
  std::uint64_t most = 0;
  const LaneTable table(program);
  for (const Lane& lane : table.lanes()) most = std::max(most, lane.range.size());
  return most;
}

/// `at_once`: traced, as values that are traced are held all the time.
ValueResult computed(const Program& program, bool at_once, std::vector<float>& result) {
  const std::uint64_t elements = program.partition.elements();
  const TensorSource source(numerics::InputSpec{.seed = 9}, elements, ElementFormat::bf16);
  ResultTensor tensor(elements, ElementFormat::bf16);
  const ValueResult values =
      execute(program, source, {.threads = 2, .result = &tensor, .contract = at_once});
  result.resize(elements);
  tensor.read(0, result);
  return values;
}

TEST_CASE("values that are held while they are used are those held all the time, bit for bit") {
  for (const Program& program : large_programs()) {
    REQUIRE(reads_on_demand(program, largest_lane(program)));
    std::vector<float> one;
    std::vector<float> other;
    const ValueResult on_demand = computed(program, false, one);
    const ValueResult at_once = computed(program, true, other);
    CHECK(one == other);
    CHECK(on_demand.against_exact.mse == at_once.against_exact.mse);
    CHECK(on_demand.against_exact.mean_signed_error == at_once.against_exact.mean_signed_error);
    CHECK(on_demand.quantized == at_once.quantized);
    CHECK(on_demand.sent_bytes == at_once.sent_bytes);
    CHECK(on_demand.received_bytes == at_once.received_bytes);
    CHECK(on_demand.ranks_identical);
  }
}

TEST_CASE("a ring holds the values of few ranks, and each is released once") {
  const unit_rings::Ring ring(5000);
  UnitGeometry geometry(ring.lanes);
  geometry.start(unit_rings::unit_of(0, 1, 2));
  const LaneUses uses = uses_of(geometry);
  const std::size_t instructions = geometry.lane().instructions.size();
  REQUIRE(uses.ranks.size() == instructions);
  REQUIRE(uses.buffers.size() == instructions);
  std::vector<collectives::Rank> ranks;
  std::vector<collectives::BufferId> buffers;
  for (std::size_t i = 0; i < instructions; ++i) {
    ranks.insert(ranks.end(), uses.ranks[i].begin(), uses.ranks[i].end());
    buffers.insert(buffers.end(), uses.buffers[i].begin(), uses.buffers[i].end());
  }
  std::ranges::sort(ranks);
  std::ranges::sort(buffers);
  CHECK(ranks == std::vector<collectives::Rank>{0, 1, 2, 3});
  CHECK(buffers == geometry.lane().buffers);
  CHECK(uses.most_ranks <= 2);
  CHECK(uses.most_bytes > 0);
}

TEST_CASE("small units, and collectives that do not sum, are read at once") {
  const Program program = unit_rings::ring_program(5000);
  CHECK_FALSE(reads_on_demand(program, 1000));
  CHECK(reads_on_demand(program, kMuchAtOnce));
  Program gather = unit_rings::ring_program(5000);
  gather.collective = Collective::all_gather;
  CHECK_FALSE(reads_on_demand(gather, kMuchAtOnce));
}

}  // namespace
}  // namespace equarx::values::lane_uses_test
