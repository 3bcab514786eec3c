#include "sim/machine.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>

#include "models/collectives/broadcast_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim {
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

TEST_CASE("with two chips both directions share the one link there is") {
  const auto program =
      make_ring_all_reduce(2, 1024, ElementFormat::fp32, plain(ElementFormat::fp32, 1));
  const Machine machine = ring_machine(2, kRate, 0.0);
  REQUIRE(machine.links.size() == 2);
  for (const std::uint64_t bytes : link_bytes(program, machine)) CHECK(bytes == 4096);
}

TEST_CASE("the slowest of the busy links bounds the time") {
  const auto program =
      make_ring_all_reduce(4, 4096, ElementFormat::fp32, plain(ElementFormat::fp32, 1));
  Machine machine = ring_machine(4, kRate, 0.0);
  const double uniform = lower_bound_s(program, machine);
  machine.links[5].rate = kRate / 10.0;
  CHECK(lower_bound_s(program, machine) == Approx(10.0 * uniform));
}

TEST_CASE("a route carries what its slowest link does, and is as late as all its links") {
  Machine machine;
  machine.links = {{"fast", 3e9, 1e-6}, {"slow", 1e9, 2e-6}, {"middle", 2e9, 4e-6}};
  CHECK(bottleneck_rate(machine, {0, 1, 2}) == 1e9);
  CHECK(bottleneck_rate(machine, {0, 2}) == 2e9);
  CHECK(bottleneck_rate(machine, {}) == std::numeric_limits<double>::infinity());
  CHECK(latency_s(machine, {0, 1, 2}) == Approx(7e-6));
}

TEST_CASE("bytes are counted on every link of a route, and of every rank that sends") {
  const auto program = collectives::make_direct_broadcast(
      3, 1000, ElementFormat::fp32,
      {RingStyle::full_loop, {.element = ElementFormat::fp32}, {1, 1, 128}});
  Machine machine;
  machine.links = std::vector<LinkSpec>(4, LinkSpec{"any", kRate, 0.0});
  machine.chip_names = {"a", "b", "c"};
  machine.ways = {{{1, {0}}, {2, {0, 1}}}, {{2, {1}}, {0, {2}}}, {{0, {3}}, {1, {3, 0}}}};
  CHECK(link_bytes(program, machine) == std::vector<std::uint64_t>{8000, 4000, 0, 0});
  CHECK(lower_bound_s(program, machine) == Approx(8000 / kRate));
}

}  // namespace
}  // namespace equarx::sim
