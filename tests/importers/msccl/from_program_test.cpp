#include "importers/msccl/from_program.hpp"

#include "importers/msccl/races.hpp"
#include "importers/msccl/values.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/ring_program.hpp"
#include "tests/catch.hpp"
#include "tests/importers/msccl/schedules.hpp"

namespace equarx::testing::from_program_test {
namespace {

using namespace schedules;

constexpr numerics::BlockFormat kPlain{.element = numerics::ElementFormat::fp32};
constexpr std::uint64_t kElements = 8 * 1024 * 8;

collectives::Program exchange(collectives::Collective collective,
                              std::uint64_t elements = kElements,
                              const numerics::BlockFormat& format = kPlain) {
  return collectives::make_direct_exchange(
      collective, 4, elements, numerics::ElementFormat::fp32,
      {.reduce_scatter = format, .all_gather = format, .cut = {}});
}

/// Describes the first race or wrong result of a schedule; empty if there is none.
std::string fault_of(const Schedule& schedule) {
  check(schedule);
  const Queues queues = find_queues(schedule);
  const std::string race = find_race(schedule, queues, schedule.in_place);
  const Verdict verdict = verify(schedule, queues, schedule.in_place);
  return race + (verdict.checked ? verdict.wrong : "not compared");
}

TEST_CASE("two-shot has one thread block per peer, and each message carries a shard") {
  const Schedule schedule = from_program(exchange(collectives::Collective::all_reduce));
  CHECK(fault_of(schedule).empty());
  CHECK(schedule.chunks == 4);
  CHECK(schedule.in_place);
  for (const Rank& rank : schedule.ranks) {
    CHECK(rank.blocks.size() == 3);
    CHECK(rank.chunks ==
          std::array<std::uint32_t, 3>{4, 4, 0});  // no scratch: terms are added on arrival
    std::uint32_t sent = 0;
    for (const ThreadBlock& block : rank.blocks)
      for (const Step& step : block.steps)
        if (sends(step.op)) sent += step.count;
    CHECK(sent == 2 * 3);
  }
}

TEST_CASE("converted direct exchanges verify for each collective") {
  using collectives::Collective;
  for (const Collective collective :
       {Collective::reduce_scatter, Collective::all_gather, Collective::all_to_all}) {
    const Schedule schedule = from_program(exchange(collective));
    INFO(name(schedule.collective));
    CHECK(fault_of(schedule).empty());
    CHECK(schedule.in_place == (collective != Collective::all_to_all));
  }
}

TEST_CASE("converted one-shot, recursive doubling and ring programs verify") {
  const collectives::ExchangeOptions plain{
      .reduce_scatter = kPlain, .all_gather = kPlain, .cut = {}};
  constexpr auto kType = numerics::ElementFormat::fp32;
  CHECK(fault_of(from_program(collectives::make_one_shot_all_reduce(3, kElements, kType, plain)))
            .empty());
  CHECK(fault_of(from_program(collectives::make_recursive_doubling(collectives::RankGrid({2, 2, 2}),
                                                                   kElements, kType, plain)))
            .empty());
  const collectives::RingOptions options{.reduce_scatter = kPlain, .all_gather = kPlain, .cut = {}};
  for (const std::vector<std::uint32_t>& lengths :
       {std::vector<std::uint32_t>{4}, {2}, {4, 4}, {2, 2}})
    CHECK(fault_of(from_program(collectives::make_ring_program(collectives::RankGrid(lengths),
                                                               8 * kElements, kType, options)))
              .empty());
}

TEST_CASE("quantized and padded programs cannot be converted") {
  using collectives::Collective;
  CHECK_THAT(refusal([] {
               from_program(exchange(Collective::all_reduce, kElements,
                                     {.element = numerics::ElementFormat::int8, .scaled = true}));
             }),
             ContainsSubstring("sends a format other than the tensor's, fp32"));
  CHECK_THAT(refusal([] { from_program(exchange(Collective::all_reduce, kElements + 1)); }),
             ContainsSubstring("pads its tensor of 65537 elements"));
}

}  // namespace
}  // namespace equarx::testing::from_program_test
