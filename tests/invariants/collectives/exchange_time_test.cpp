// time_executor on exchanges and broadcasts, over separate and shared links.
#include <algorithm>
#include <string>
#include <vector>

#include "models/collectives/broadcast_program.hpp"
#include "models/collectives/exchange_program.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::exchange_time_test {
namespace {

using collectives::BroadcastOptions;
using collectives::Collective;
using collectives::ExchangeOptions;
using collectives::make_direct_broadcast;
using collectives::make_direct_exchange;
using collectives::make_one_shot_all_reduce;
using collectives::make_recursive_doubling;
using collectives::make_ring_broadcast;
using collectives::Program;
using collectives::RingStyle;
using numerics::ElementFormat;
using testing::torus_machine;
using testing::UniformCosts;

constexpr double kRate = 50e9;
constexpr double kLatency = 0.4e-6;
constexpr double kRelative = 1e-6;
constexpr std::uint64_t kElements = 1 << 20;
constexpr double kTensorS = 2.0 * static_cast<double>(kElements) / kRate;  // over one link

ExchangeOptions exchange(std::uint32_t microshards = 1) {
  return {{.element = ElementFormat::bf16},
          {.element = ElementFormat::bf16},
          {.minishards = 1, .microshards = microshards}};
}

BroadcastOptions broadcast(RingStyle style, std::uint32_t microshards) {
  return {style, {.element = ElementFormat::bf16}, {.minishards = 1, .microshards = microshards}};
}

double time_of(const Program& program, const Machine& machine, const UniformCosts& costs = {}) {
  const TimeResult result = simulate(program, machine, costs.of(program));
  REQUIRE_FALSE(result.failure.has_value());
  REQUIRE(result.time_s >= lower_bound_s(program, machine) * (1.0 - kRelative));
  REQUIRE(result.link_bytes == link_bytes(program, machine));
  return result.time_s;
}

/// A broadcast from chip 0 with these routes per channel, over links of these rates.
Machine star(const std::vector<double>& rates, const std::vector<Route>& routes,
             double latency = 0.0) {
  Machine machine;
  machine.dma_queue = 16;
  for (const double rate : rates)
    machine.links.push_back({"link " + std::to_string(machine.links.size()), rate, latency});
  const auto chips = static_cast<collectives::Rank>(routes.size() + 1);
  for (collectives::Rank rank = 0; rank < chips; ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    auto& out_ports = machine.out_ports.emplace_back();
    for (collectives::Rank channel = 0; channel < routes.size(); ++channel) {
      // Only the root sends; the others' routes exist, over one unused link each.
      if (rank == 0) {
        out_ports.push_back({channel + 1, routes[channel]});
        continue;
      }
      out_ports.push_back(
          {(rank + channel + 1) % chips, {static_cast<LinkIndex>(machine.links.size())}});
      machine.links.push_back({"idle " + std::to_string(machine.links.size()), kRate, 0.0});
    }
  }
  return machine;
}

TEST_CASE("a one-shot takes one transfer, a two-shot two, with a link per pair") {
  for (const std::uint32_t ranks : {2U, 3U, 6U}) {
    CAPTURE(ranks);
    const std::uint64_t elements = std::uint64_t{ranks} * 64 * 1024;
    const double tensor_s = 2.0 * static_cast<double>(elements) / kRate;
    const Program one_shot =
        make_one_shot_all_reduce(ranks, elements, ElementFormat::bf16, exchange());
    CHECK(time_of(one_shot, torus_machine(one_shot, kRate, kLatency)) ==
          Approx(tensor_s + kLatency).epsilon(kRelative));
    const Program two_shot = make_direct_exchange(Collective::all_reduce, ranks, elements,
                                                  ElementFormat::bf16, exchange());
    CHECK(time_of(two_shot, torus_machine(two_shot, kRate, kLatency)) ==
          Approx(2.0 * (tensor_s / ranks + kLatency)).epsilon(kRelative));
  }
}

TEST_CASE("recursive doubling takes log2(N) transfers of the whole tensor") {
  for (const std::size_t rounds : {1U, 2U, 4U}) {
    const Program program =
        make_recursive_doubling(collectives::RankGrid(std::vector<std::uint32_t>(rounds, 2)),
                                kElements, ElementFormat::bf16, exchange());
    CHECK(time_of(program, torus_machine(program, kRate, kLatency)) ==
          Approx(static_cast<double>(rounds) * (kTensorS + kLatency)).epsilon(kRelative));
  }
}

TEST_CASE("two transfers over one link take twice as long, a third one on its own link does not") {
  const Program program =
      make_direct_broadcast(4, kElements, ElementFormat::bf16, broadcast(RingStyle::full_loop, 1));
  const std::vector<Route> apart = {{0}, {1}, {2}};
  const std::vector<Route> shared = {{0}, {0, 1}, {2}};
  CHECK(time_of(program, star({kRate, kRate, kRate}, apart)) ==
        Approx(kTensorS).epsilon(kRelative));
  CHECK(time_of(program, star({kRate, kRate, kRate}, shared)) ==
        Approx(2.0 * kTensorS).epsilon(kRelative));
  // The third transfer's link may be nearly half as fast without an effect, but not slower.
  CHECK(time_of(program, star({kRate, kRate, kRate / 1.9}, shared)) ==
        Approx(2.0 * kTensorS).epsilon(kRelative));
  CHECK(time_of(program, star({kRate, kRate, kRate / 2.5}, shared)) ==
        Approx(2.5 * kTensorS).epsilon(kRelative));
}

TEST_CASE("the unused share of a transfer goes to another") {
  // Link 0 leads to both chips, link 1 only to chip 2 and at a quarter of the rate: chip 1 gets
  // three quarters of link 0. Its semaphore takes long, so it finishes last.
  const Program program =
      make_direct_broadcast(3, kElements, ElementFormat::bf16, broadcast(RingStyle::full_loop, 1));
  Machine machine = star({kRate, kRate / 4.0}, {{0}, {0, 1}});
  CHECK(time_of(program, machine) == Approx(4.0 * kTensorS).epsilon(kRelative));
  constexpr double kWait = 1e-9;
  machine.slowdown = {1.0, 1e6, 1.0};
  CHECK(time_of(program, machine, {.wait_s = kWait}) ==
        Approx(4.0 / 3.0 * kTensorS + 1e6 * kWait).epsilon(kRelative));
}

TEST_CASE("a link shared by messages of all chips carries its share of each") {
  // Three chips in a one-way ring: two of every link's three transfers come from other chips'
  // pairs.
  const Program program = make_one_shot_all_reduce(3, kElements, ElementFormat::bf16, exchange());
  Machine machine;
  machine.dma_queue = 16;
  for (LinkIndex rank = 0; rank < 3; ++rank) {
    machine.chip_names.push_back("chip " + std::to_string(rank));
    machine.links.push_back({"link " + std::to_string(rank), kRate, 0.0});
    const LinkIndex next = (rank + 1) % 3;
    machine.out_ports.push_back({{next, {rank}}, {(rank + 2) % 3, {rank, next}}});
  }
  CHECK(lower_bound_s(program, machine) == Approx(3.0 * kTensorS));
  CHECK(time_of(program, machine) == Approx(3.0 * kTensorS).epsilon(kRelative));
}

TEST_CASE("the transfers of one pair of chips keep their order on a shared link") {
  // With two microshards to each of two chips over one link, the first ones arrive half way, not
  // all at the end.
  const Program program =
      make_direct_broadcast(3, kElements, ElementFormat::bf16, broadcast(RingStyle::full_loop, 2));
  Machine machine = star({kRate}, {{0}, {0}});
  CHECK(time_of(program, machine) == Approx(2.0 * kTensorS).epsilon(kRelative));
  constexpr double kWait = 1e-9;
  constexpr double kSlow = 1e6;  // a semaphore of chip 1 takes longer than both transfers
  machine.slowdown = {1.0, kSlow, 1.0};
  CHECK(time_of(program, machine, {.wait_s = kWait}) ==
        Approx(kTensorS + 2.0 * kSlow * kWait).epsilon(kRelative));
}

TEST_CASE("a route takes the latency of all its links, and the rate of the slowest") {
  const Program program =
      make_direct_broadcast(2, kElements, ElementFormat::bf16, broadcast(RingStyle::full_loop, 1));
  CHECK(time_of(program, star({kRate, kRate / 3.0, kRate}, {{0, 1, 2}}, kLatency)) ==
        Approx(3.0 * kTensorS + 3.0 * kLatency).epsilon(kRelative));
}

TEST_CASE("an AllToAll on shared links transfers all bytes, no faster than its links") {
  // A line of four chips: the links in the middle carry four pairs each.
  for (const bool scaled : {false, true}) {
    ExchangeOptions options = exchange(2);
    if (scaled) options.reduce_scatter = {.element = ElementFormat::int8, .scaled = true};
    const Program program =
        make_direct_exchange(Collective::all_to_all, 4, kElements, ElementFormat::bf16, options);
    Machine machine;
    machine.dma_queue = 2;
    for (LinkIndex link = 0; link < 6; ++link)  // 0 to 2 up the line, 3 to 5 down
      machine.links.push_back({"link " + std::to_string(link), kRate, kLatency});
    for (LinkIndex rank = 0; rank < 4; ++rank) {
      machine.chip_names.push_back("chip " + std::to_string(rank));
      auto& out_ports = machine.out_ports.emplace_back();
      for (const auto& channel : program.channels) {
        const collectives::Rank peer = program.grid().move(rank, channel.offset);
        OutPort port{peer, {}};
        for (LinkIndex at = rank; at < peer; ++at) port.route.push_back(at);
        for (LinkIndex at = rank; at > peer; --at) port.route.push_back(3 + at - 1);
        out_ports.push_back(port);
      }
    }
    CAPTURE(scaled);
    const TimeResult result = simulate(program, machine, UniformCosts{}.of(program));
    CHECK(result.messages == 4 * program.messages.size());
    CHECK(result.link_bytes == link_bytes(program, machine));
    CHECK(result.link_bytes[1] * 3 == result.link_bytes[0] * 4);  // 2 x 2 pairs, and 1 x 3
    const double bound = lower_bound_s(program, machine);
    CHECK(result.time_s >= bound);
    CHECK(result.time_s < 1.7 * bound);
  }
}

TEST_CASE("an AllToAll with scales takes the time of codes and scales, with a link per pair") {
  for (const std::uint32_t ranks : {2U, 5U, 8U})
    for (const std::size_t block : {32U, 128U}) {
      CAPTURE(ranks, block);
      ExchangeOptions options = exchange();
      options.reduce_scatter = testing::int8_blocks(block);
      const std::uint64_t shard = std::uint64_t{block} * 1024;
      const Program program = make_direct_exchange(Collective::all_to_all, ranks, ranks * shard,
                                                   ElementFormat::bf16, options);
      const double bytes =
          static_cast<double>(shard + 1024 * numerics::scale_bytes(options.reduce_scatter.scale));
      CHECK(time_of(program, torus_machine(program, kRate, 0.0)) ==
            Approx(bytes / kRate).epsilon(kRelative));
    }
}

TEST_CASE("a ring broadcast takes a pipelined chain's time") {
  // Half of the tensor each way, in u microshards over N - 1 hops: the first one reaches the end
  // after (N - 1) (a + t), and then one every t.
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U})
    for (const std::uint32_t micro : {1U, 2U, 8U}) {
      CAPTURE(ranks, micro);
      const Program program = make_ring_broadcast(ranks, kElements, ElementFormat::bf16,
                                                  broadcast(RingStyle::full_loop, micro));
      const double micro_s = kTensorS / 2.0 / micro;
      const auto time = [&](double latency) {
        return time_of(program, torus_machine(program, kRate, latency));
      };
      if (ranks == 2) {  // one link for both directions
        CHECK(time(kLatency) == Approx(kTensorS + kLatency).epsilon(kRelative));
        continue;
      }
      CHECK(time(0.0) == Approx((ranks + micro - 2.0) * micro_s).epsilon(kRelative));
      // Ranks process messages in the order of bytes alone, so that one may wait for the other
      // direction's by a latency per hop.
      const double expected = (ranks - 1.0) * (kLatency + micro_s) + (micro - 1.0) * micro_s;
      CHECK(time(kLatency) >= expected * (1.0 - kRelative));
      CHECK(time(kLatency) <= expected + (ranks - 2.0) * kLatency * (1.0 + kRelative));
    }
}

TEST_CASE("a semi-loop broadcast sends twice as much over half the distance") {
  for (const std::uint32_t ranks : {3U, 4U, 5U, 8U})
    for (const std::uint32_t micro : {1U, 4U}) {
      CAPTURE(ranks, micro);
      const Program program = make_ring_broadcast(ranks, kElements, ElementFormat::bf16,
                                                  broadcast(RingStyle::semi_loop, micro));
      const double micro_s = kTensorS / micro;
      CHECK(
          time_of(program, torus_machine(program, kRate, kLatency)) ==
          Approx((ranks / 2) * (kLatency + micro_s) + (micro - 1.0) * micro_s).epsilon(kRelative));
    }
}

TEST_CASE("a direct broadcast takes one transfer if the root has a link to each chip") {
  const Program program =
      make_direct_broadcast(7, kElements, ElementFormat::bf16, broadcast(RingStyle::full_loop, 1));
  CHECK(time_of(program, torus_machine(program, kRate, kLatency)) ==
        Approx(kTensorS + kLatency).epsilon(kRelative));
}

}  // namespace
}  // namespace equarx::sim::exchange_time_test
