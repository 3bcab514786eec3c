#include "sim/symmetry.hpp"

#include <string>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::symmetry_test {
namespace {

using collectives::Collective;
using collectives::make_ring_program;
using collectives::Program;
using collectives::RankGrid;
using collectives::RingOptions;
using collectives::RingStyle;
using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::quantized;
using testing::ring_machine;
using testing::torus_machine;
using testing::UniformCosts;

using Lengths = std::vector<std::uint32_t>;

constexpr double kRate = 45e9;
constexpr double kLatency = 0.4e-6;
constexpr UniformCosts kCosts{.work_s = 0.3e-6, .send_s = 20e-9, .wait_s = 10e-9, .sync_s = 0.1e-6};

constexpr RingStyle kStyles[] = {RingStyle::full_loop, RingStyle::semi_loop};
constexpr Collective kCollectives[] = {Collective::all_reduce, Collective::reduce_scatter,
                                       Collective::all_gather};

void check_symmetric(const Program& program, const Machine& full, const Machine& few,
                     const Costs& costs) {
  REQUIRE(asymmetry(program, full).empty());
  REQUIRE(asymmetry(program, few).empty());
  // The largest would dominate the test time on SimGrid (tests/invariants/engines compares both
  // engines).
  const double expected = simulate(program, full, costs, {.engine = Engine::direct}).time_s;
  CHECK(simulate(program, few, costs).time_s == Approx(expected).epsilon(1e-9));
}

void check_symmetric(const Program& program) {
  const Machine full = torus_machine(program, kRate, kLatency);
  const Machine few = representative(program, full.links.front(), full.dma_queue);
  check_symmetric(program, full, few, kCosts.of(program));
}

/// Likewise with HBMs that are slower than all links of a chip combined.
void check_symmetric_with_hbm(const Program& program) {
  Machine full = torus_machine(program, kRate, kLatency);
  Machine few = representative(program, full.links.front(), full.dma_queue);
  Costs costs = kCosts.of(program);
  for (std::size_t id = 0; id < program.instructions.size(); ++id)
    costs.hbm_bytes.push_back(is_vector_work(program.instructions[id].op) ? 5000 * (id % 5) : 0);
  add_hbm(3.0 * kRate, full);
  add_hbm(3.0 * kRate, few);
  check_symmetric(program, full, few, costs);
}

Program ring_program(std::uint32_t ranks) {
  return make_ring_all_reduce(ranks, 100'000, ElementFormat::bf16,
                              quantized(2, 2, RingStyle::full_loop));
}

TEST_CASE("there is one more representative chip than a chip has peers") {
  const LinkSpec link{"any", kRate, kLatency};
  const Machine ring = representative(ring_program(8), link, 5);
  CHECK(ring.ranks() == 3);
  CHECK(ring.links.size() == 6);
  CHECK(ring.dma_queue == 5);
  for (const LinkSpec& each : ring.links) {
    CHECK(each.rate == kRate);
    CHECK(each.latency == kLatency);
  }
  CHECK(representative(ring_program(2), link, 1).ranks() == 2);
  const auto chips = [&](const Lengths& lengths) {
    const Program program = make_ring_program(RankGrid(lengths), 100'000, ElementFormat::bf16,
                                              plain(ElementFormat::bf16, 1));
    return representative(program, link, 1).ranks();
  };
  CHECK(chips({8, 8}) == 5);
  CHECK(chips({16, 16, 16}) == 7);
  CHECK(chips({2, 4}) == 4);  // an axis of length 2 leads to one peer
  CHECK(chips({2, 2, 2}) == 4);
}

TEST_CASE("every channel of a representative chip has an exclusive link per pair") {
  const Program program = make_ring_program(RankGrid({2, 3, 4}), 100'000, ElementFormat::bf16,
                                            plain(ElementFormat::bf16, 1));
  const Machine machine = representative(program, {"any", kRate, kLatency}, 1);
  CHECK(asymmetry(program, machine).empty());
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::size_t one = 0; one < program.channels.size(); ++one)
      for (std::size_t other = 0; other < program.channels.size(); ++other) {
        const OutPort& port = machine.out_ports[rank][one];
        REQUIRE(port.peer != rank);
        const bool same = program.channels[one].offset == program.channels[other].offset;
        REQUIRE((machine.out_ports[rank][other].peer == port.peer) == same);
        REQUIRE((machine.out_ports[rank][other].route == port.route) == same);
      }
}

TEST_CASE("representative chips reproduce the timing of rings") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 16U})
    for (const RingStyle style : kStyles)
      for (const Collective collective : kCollectives) {
        CAPTURE(ranks, collectives::name(style), collectives::name(collective));
        RingOptions options = quantized(2, 4, style);
        options.collective = collective;
        check_symmetric(
            make_ring_program(RankGrid({ranks}), 1'000'000, ElementFormat::bf16, options));
      }
}

TEST_CASE("representative chips reproduce the timing of tori") {
  for (const Lengths& lengths :
       {Lengths{4, 4}, {3, 5}, {4, 8}, {2, 4}, {2, 2}, {3, 3, 3}, {2, 4, 8}})
    for (const RingStyle style : kStyles)
      for (const Collective collective : kCollectives)
        for (const bool scaled : {false, true}) {
          CAPTURE(lengths, collectives::name(style), collectives::name(collective), scaled);
          RingOptions options =
              scaled ? quantized(2, 2, style) : plain(ElementFormat::bf16, 3, style);
          options.collective = collective;
          check_symmetric(
              make_ring_program(RankGrid(lengths), 3'000'000, ElementFormat::bf16, options));
        }
}

TEST_CASE("representative chips reproduce the timing of large tori") {
  for (const Lengths& lengths : {Lengths{8, 8, 8}, {16, 16}})
    for (const bool scaled : {false, true}) {
      CAPTURE(lengths, scaled);
      const RingOptions options =
          scaled ? quantized(1, 1, RingStyle::full_loop) : plain(ElementFormat::bf16, 2);
      check_symmetric(
          make_ring_program(RankGrid(lengths), 30'000'000, ElementFormat::bf16, options));
    }
}

TEST_CASE("representative chips reproduce the timing of an exchange on a fully connected machine") {
  const collectives::ExchangeOptions options{
      {.element = ElementFormat::bf16}, {.element = ElementFormat::bf16}, {1, 2, 128}};
  for (const Collective collective : {Collective::all_reduce, Collective::all_to_all})
    check_symmetric(make_direct_exchange(collective, 6, 1'000'000, ElementFormat::bf16, options));
  check_symmetric(make_one_shot_all_reduce(6, 1'000'000, ElementFormat::bf16, options));
  check_symmetric(
      make_recursive_doubling(RankGrid({2, 2, 2}), 1'000'000, ElementFormat::bf16, options));
}

TEST_CASE("representative chips reproduce the timing of rings and tori with shared HBM") {
  for (const Lengths& lengths :
       {Lengths{2}, {5}, {8}, {4, 4}, {3, 5}, {2, 4}, {2, 3, 4}, {4, 4, 4}})
    for (const RingStyle style : kStyles)
      for (const bool scaled : {false, true}) {
        CAPTURE(lengths, collectives::name(style), scaled);
        const RingOptions options =
            scaled ? quantized(2, 3, style) : plain(ElementFormat::bf16, 3, style);
        check_symmetric_with_hbm(
            make_ring_program(RankGrid(lengths), 3'000'000, ElementFormat::bf16, options));
      }
  const collectives::ExchangeOptions options{
      {.element = ElementFormat::bf16}, {.element = ElementFormat::bf16}, {1, 2, 128}};
  check_symmetric_with_hbm(
      make_direct_exchange(Collective::all_to_all, 6, 1'000'000, ElementFormat::bf16, options));
}

TEST_CASE("the cause of an asymmetry is reported") {
  const Program program = ring_program(8);
  const Machine whole = ring_machine(8, kRate, 1e-6);
  CHECK(asymmetry(program, whole).empty());
  Machine machine = whole;
  machine.links[3].latency = 2e-6;
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("links differ"));
  machine = whole;
  machine.links[15].rate *= 2.0;
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("links differ"));
  machine = whole;
  machine.slowdown = std::vector<double>(8, 1.0);
  CHECK(asymmetry(program, machine).empty());
  machine.slowdown[5] = 1.5;
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("differ in speed"));
  machine = whole;
  machine.failures = {{.link = 0, .time_s = 1.0}};
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("links fail"));
  machine = whole;
  add_hbm(kRate, machine);
  CHECK(asymmetry(program, machine).empty());
  machine.links[machine.hbm[2]].rate *= 2.0;
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("HBMs differ"));
  machine = whole;
  machine.out_ports[0][0].route.push_back(1);
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("more than one link"));
  machine = whole;
  machine.out_ports[0][0].route = machine.out_ports[4][1].route;
  CHECK_THAT(asymmetry(program, machine), ContainsSubstring("share a link"));
  const Program broadcast = collectives::make_ring_broadcast(
      8, 1000, ElementFormat::bf16,
      {RingStyle::full_loop, {.element = ElementFormat::bf16}, {1, 1, 128}});
  CHECK_THAT(asymmetry(broadcast, whole), ContainsSubstring("different instructions"));
}

TEST_CASE("an unused link does not break the symmetry") {
  const Program program = ring_program(8);
  Machine machine = ring_machine(8, kRate, 1e-6);
  machine.links.push_back({"spare", kRate / 10.0, 1.0});
  CHECK(asymmetry(program, machine).empty());
}

}  // namespace
}  // namespace equarx::sim::symmetry_test
