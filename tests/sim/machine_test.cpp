#include "sim/machine.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>

#include "models/collectives/broadcast_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::machine_test {
namespace {

using collectives::RingStyle;
using numerics::ElementFormat;
using testing::make_ring_all_reduce;
using testing::plain;
using testing::ring_machine;

constexpr double kRate = 1e9;

TEST_CASE("a full loop puts V (N-1) / (2 N) bytes of each phase on every link direction") {
  const std::uint64_t elements = 16 * 1024;
  const auto program =
      make_ring_all_reduce(8, elements, ElementFormat::bf16, plain(ElementFormat::bf16, 2));
  const Machine machine = ring_machine(8, kRate, 0.0);
  const std::uint64_t expected = 2 * (2 * elements) * 7 / 8 / 2;
  for (const std::uint64_t bytes : link_bytes(program, machine)) CHECK(bytes == expected);
  CHECK(lower_bound_s(program, machine) == Approx(static_cast<double>(expected) / kRate));
}

TEST_CASE("with two chips both directions share the single link") {
  const auto program =
      make_ring_all_reduce(2, 1024, ElementFormat::fp32, plain(ElementFormat::fp32, 1));
  const Machine machine = ring_machine(2, kRate, 0.0);
  REQUIRE(machine.links.size() == 2);
  for (const std::uint64_t bytes : link_bytes(program, machine)) CHECK(bytes == 4096);
}

TEST_CASE("the slowest busy link bounds the time") {
  const auto program =
      make_ring_all_reduce(4, 4096, ElementFormat::fp32, plain(ElementFormat::fp32, 1));
  Machine machine = ring_machine(4, kRate, 0.0);
  const double uniform = lower_bound_s(program, machine);
  machine.links[5].rate = kRate / 10.0;
  CHECK(lower_bound_s(program, machine) == Approx(10.0 * uniform));
}

TEST_CASE("a route has the rate of its slowest link and the total latency of its links") {
  Machine machine;
  machine.links = {{"fast", 3e9, 1e-6}, {"slow", 1e9, 2e-6}, {"middle", 2e9, 4e-6}};
  CHECK(bottleneck_rate(machine, {0, 1, 2}) == 1e9);
  CHECK(bottleneck_rate(machine, {0, 2}) == 2e9);
  CHECK(bottleneck_rate(machine, {}) == std::numeric_limits<double>::infinity());
  CHECK(latency_s(machine, {0, 1, 2}) == Approx(7e-6));
}

TEST_CASE("bytes are counted on every link of a route and for every sender") {
  const auto program = collectives::make_direct_broadcast(
      3, 1000, ElementFormat::fp32,
      {RingStyle::full_loop, {.element = ElementFormat::fp32}, {1, 1, 128}});
  Machine machine;
  machine.links = std::vector<LinkSpec>(4, LinkSpec{"any", kRate, 0.0});
  machine.chip_names = {"a", "b", "c"};
  machine.out_ports = {{{1, {0}}, {2, {0, 1}}}, {{2, {1}}, {0, {2}}}, {{0, {3}}, {1, {3, 0}}}};
  CHECK(link_bytes(program, machine) == std::vector<std::uint64_t>{8000, 4000, 0, 0});
  CHECK(lower_bound_s(program, machine) == Approx(8000 / kRate));
}

TEST_CASE("with HBMs every route ends with the HBMs of sender and receiver") {
  const auto program =
      make_ring_all_reduce(4, 4096, ElementFormat::fp32, plain(ElementFormat::fp32, 1));
  Machine machine = ring_machine(4, kRate, 1e-6);
  CHECK(machine.cables() == 8);
  CHECK_FALSE(shares_links(machine));
  const Machine cables_alone = machine;
  add_hbm(3e9, machine);
  CHECK(machine.cables() == 8);
  REQUIRE(machine.hbm == std::vector<LinkIndex>{8, 9, 10, 11});
  CHECK(machine.links[9] == LinkSpec{"HBM of chip 1", 3e9, 0.0});
  const OutPort& port = machine.out_ports[1][0];
  CHECK(port.route == Route{cables_alone.out_ports[1][0].route.front(), 9, 10});
  CHECK(machine.hops(port) == 1);
  CHECK(cables_alone.hops(cables_alone.out_ports[1][0]) == 1);
  CHECK(latency_s(machine, port.route) == 1e-6);
  CHECK(shares_links(machine));
  // Two neighbours it sends to, two that send to it, and its core.
  CHECK(users_of_links(machine)[9] == 5);
  CHECK(users_of_links(machine)[0] == 1);
}

TEST_CASE("bytes of a core count for the HBM of the ranks with the instruction") {
  auto program = collectives::make_direct_broadcast(
      3, 1000, ElementFormat::fp32,
      {RingStyle::full_loop, {.element = ElementFormat::fp32}, {1, 1, 128}});
  Machine machine = testing::torus_machine(program, kRate, 0.0);
  add_hbm(kRate, machine);
  Costs costs;
  costs.hbm_bytes.assign(program.instructions.size(), 0);
  costs.hbm_bytes.front() = 50'000;
  program.instructions.front().ranks = {1, 1};
  const auto bytes = link_bytes(program, machine, costs);
  CHECK(bytes[machine.hbm[0]] == 8000);           // sends twice
  CHECK(bytes[machine.hbm[1]] == 4000 + 50'000);  // receives, plus core
  CHECK(bytes[machine.hbm[2]] == 4000);
  CHECK(lower_bound_s(program, machine, costs) == Approx(54'000 / kRate));
}

TEST_CASE("a rank that sends nothing in a channel is its own peer and uses no link or HBM") {
  Machine machine;
  machine.links = {{.name = "0->1", .rate = kRate}};
  machine.chip_names = {"0", "1"};
  machine.out_ports = {{{1, {0}}}, {{1, {}}}};
  CHECK(users_of_links(machine) == std::vector<std::uint32_t>{1});
  add_hbm(kRate, machine);
  CHECK(machine.out_ports[0][0].route == Route{0, 1, 2});
  CHECK(machine.out_ports[1][0].route.empty());
  CHECK(users_of_links(machine) == std::vector<std::uint32_t>{1, 2, 2});
}

}  // namespace
}  // namespace equarx::sim::machine_test
