#include "sim/switch.hpp"

#include <vector>

#include "models/collectives/direct_exchange.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/in_switch_program.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::switch_test {
namespace {

using collectives::Collective;
using collectives::ExchangeOptions;
using collectives::Program;
using collectives::RankGrid;
using numerics::ElementFormat;
using testing::plain;
using testing::UniformCosts;

constexpr SwitchSpec kSpec{.rate = 300e9, .latency = 1e-6, .operation_rate = 200e9};
constexpr std::uint64_t kElements = 12'000'000;
constexpr double kBytes = 2.0 * kElements;
constexpr ElementFormat kType = ElementFormat::bf16;
constexpr UniformCosts kBusy{.work_s = 0.3e-6, .send_s = 20e-9, .wait_s = 10e-9, .sync_s = 0.0};

ExchangeOptions exchange(std::uint32_t microshards) {
  return {{.element = kType}, {.element = kType}, {1, microshards, 128}};
}

Program ring(std::uint32_t ranks, std::uint32_t microshards = 1) {
  return collectives::make_ring_program(RankGrid({ranks}), kElements, kType,
                                        plain(kType, microshards));
}

Program in_switch(std::uint32_t ranks, std::uint32_t pieces) {
  return collectives::make_in_switch_all_reduce(ranks, kElements, kType, exchange(pieces));
}

/// All ranks on a switch, in order.
Machine whole(const Program& program) {
  Machine machine;
  machine.dma_queue = 64;
  add_ports(kSpec, program.ranks(), machine);
  const SwitchRoutes routes(kSpec, program.ranks(), program.channels, machine);
  for (collectives::Rank rank = 0; rank < program.ranks(); ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    auto& out_ports = machine.out_ports.emplace_back();
    for (const collectives::Channel& channel : program.channels) {
      const collectives::Rank peer = program.grid().move(rank, channel.offset);
      out_ports.push_back({peer, routes.route(rank, peer, channel.ports)});
    }
  }
  return machine;
}

double time_of(const Program& program, const Machine& machine, const Costs& costs,
               Engine engine = Engine::direct) {
  return simulate(program, machine, costs, {.engine = engine}).time_s;
}

double time_of(const Program& program) {
  return time_of(program, whole(program), UniformCosts{}.of(program));
}

TEST_CASE("a ring uses the whole rate of every port, in any number of ranks") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U}) {
    CAPTURE(ranks);
    const double steps = 2.0 * (ranks - 1);
    CHECK(time_of(ring(ranks)) ==
          Approx(steps * (kSpec.latency + kBytes / ranks / kSpec.rate)).epsilon(1e-9));
  }
}

TEST_CASE("exchanges take the bytes of a port and the latency of each round") {
  for (const std::uint32_t ranks : {2U, 4U, 8U}) {
    CAPTURE(ranks);
    const double round_s = kSpec.latency + kBytes * (ranks - 1) / ranks / kSpec.rate;
    CHECK(time_of(make_direct_exchange(Collective::all_to_all, ranks, kElements, kType,
                                       exchange(1))) == Approx(round_s).epsilon(1e-9));
    CHECK(time_of(make_direct_exchange(Collective::all_reduce, ranks, kElements, kType,
                                       exchange(1))) == Approx(2.0 * round_s).epsilon(1e-9));
    CHECK(time_of(make_one_shot_all_reduce(ranks, kElements, kType, exchange(1))) ==
          Approx(kSpec.latency + kBytes * (ranks - 1) / kSpec.rate).epsilon(1e-9));
  }
}

TEST_CASE("sums in the switch take the tensor and its Nth once through every port") {
  // Three trips of the first piece: request, terms, sum. The last sum follows the last terms.
  for (const std::uint32_t ranks : {3U, 8U, 72U})
    for (const std::uint32_t pieces : {1U, 4U, 100U}) {
      CAPTURE(ranks, pieces);
      const double piece_s = kBytes / pieces * (1.0 + 1.0 / ranks) / kSpec.operation_rate;
      CHECK(time_of(in_switch(ranks, pieces)) ==
            Approx(3.0 * kSpec.latency + (pieces + 1) * piece_s).epsilon(1e-4));
    }
}

TEST_CASE("both engines agree on a switch") {
  for (const Program& program :
       {ring(4, 3), in_switch(4, 5), make_one_shot_all_reduce(5, kElements, kType, exchange(2)),
        make_direct_exchange(Collective::all_reduce, 5, kElements, kType, exchange(3)),
        make_recursive_doubling(RankGrid({2, 2}), kElements, kType, exchange(2))}) {
    const Machine machine = whole(program);
    const Costs costs = kBusy.of(program);
    CHECK(time_of(program, machine, costs, Engine::simgrid) ==
          Approx(time_of(program, machine, costs)).epsilon(1e-9));
  }
}

TEST_CASE("representative chips on a switch reproduce the timing of all") {
  for (const bool with_hbm : {false, true})
    for (const Program& program :
         {ring(2, 2), ring(7, 3), in_switch(3, 4), in_switch(9, 7),
          make_one_shot_all_reduce(6, kElements, kType, exchange(2)),
          make_direct_exchange(Collective::all_reduce, 20, kElements, kType, exchange(1)),
          make_direct_exchange(Collective::all_to_all, 6, kElements, kType, exchange(2)),
          make_recursive_doubling(RankGrid({2, 2, 2}), kElements, kType, exchange(2))}) {
      CAPTURE(with_hbm, program.ranks(), program.channels.size());
      Machine full = whole(program);
      Machine few = representative_on_switch(program, kSpec, full.dma_queue);
      Costs costs = kBusy.of(program);
      if (with_hbm) {
        for (std::size_t id = 0; id < program.instructions.size(); ++id)
          costs.hbm_bytes.push_back(is_vector_work(program.instructions[id].op) ? 5000 * (id % 5)
                                                                                : 0);
        add_hbm(1.2 * kSpec.rate, full);
        add_hbm(1.2 * kSpec.rate, few);
      }
      CHECK(few.ranks() <= full.ranks());
      CHECK(time_of(program, few, costs) == Approx(time_of(program, full, costs)).epsilon(1e-9));
    }
}

TEST_CASE("a ring of 72 chips is represented by three, sums in its switch as well") {
  CHECK(representative_on_switch(ring(72), kSpec, 8).ranks() == 3);
  CHECK(representative_on_switch(in_switch(72, 1), kSpec, 8).ranks() == 3);
}

TEST_CASE("ports are shared by the concurrent programs of a step") {
  // Two rings in different groups: each port carries four messages at once.
  const std::vector<std::uint64_t> peers = {1, 7, 1ULL << 32U, 7ULL << 32U};
  const Machine machine = representative_on_switch(peers, {}, kSpec, 8);
  CHECK(machine.ranks() == 5);
  CHECK(machine.links.size() == 10);
  for (const std::uint32_t users : users_of_links(machine)) CHECK(users == 4);
}

}  // namespace
}  // namespace equarx::sim::switch_test
