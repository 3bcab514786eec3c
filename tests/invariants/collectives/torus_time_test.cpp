// time_executor on tori against closed forms.
#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/symmetry.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/machines.hpp"

namespace equarx::sim::torus_time_test {
namespace {

using collectives::Collective;
using collectives::make_ring_program;
using collectives::Program;
using collectives::RankGrid;
using collectives::RingOptions;
using collectives::RingStyle;
using numerics::ElementFormat;
using testing::plain;
using testing::quantized;
using testing::torus_machine;
using testing::UniformCosts;

using Lengths = std::vector<std::uint32_t>;

constexpr double kRate = 45e9;
constexpr double kLatency = 0.4e-6;

std::uint32_t product(const Lengths& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), 1U, std::multiplies<>());
}

double time_of(const Program& program, double latency = kLatency, const UniformCosts& costs = {}) {
  const Machine machine = representative(program, {"link", kRate, latency}, 16);
  return simulate(program, machine, costs.of(program)).time_s;
}

/// A number of elements that every segment can cut into whole microshards at register boundaries.
std::uint64_t whole_elements(const Lengths& lengths, std::uint32_t registers) {
  return std::uint64_t{product(lengths)} * 2 * lengths.size() * registers * 1024;
}

TEST_CASE("a torus without pipeline takes 2 (N-1)/N V / (2 D W) + 2 D (l-1) a") {
  for (const Lengths& lengths :
       {Lengths{3, 3}, {4, 4}, {8, 8}, {4, 4, 4}, {5, 5, 5}, {3, 3, 3, 3}}) {
    const auto chips = static_cast<double>(product(lengths));
    const auto axes = static_cast<double>(lengths.size());
    const std::uint64_t elements = whole_elements(lengths, 16);
    const double bytes = 2.0 * static_cast<double>(elements);
    const double one_phase = (chips - 1.0) / chips * bytes / (2.0 * axes * kRate) +
                             axes * (lengths.front() - 1.0) * kLatency;
    CAPTURE(lengths);
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      CAPTURE(collectives::name(collective));
      RingOptions options = plain(ElementFormat::bf16, 1);
      options.collective = collective;
      const double phases = collective == Collective::all_reduce ? 2.0 : 1.0;
      CHECK(time_of(make_ring_program(RankGrid(lengths), elements, ElementFormat::bf16, options)) ==
            Approx(phases * one_phase).epsilon(1e-6));
    }
  }
}

TEST_CASE("recursive halving takes log2(N) rounds of half the bytes each") {
  for (const std::size_t rounds : {1U, 2U, 4U, 6U}) {
    const Lengths lengths(rounds, 2);
    RingOptions options = plain(ElementFormat::bf16, 1, RingStyle::semi_loop);
    options.rotate_axes = false;
    const std::uint64_t elements = std::uint64_t{product(lengths)} * 16 * 1024;
    const auto chips = static_cast<double>(product(lengths));
    const double expected =
        2.0 * ((chips - 1.0) / chips * 2.0 * static_cast<double>(elements) / kRate +
               static_cast<double>(rounds) * kLatency);
    CAPTURE(rounds);
    CHECK(time_of(make_ring_program(RankGrid(lengths), elements, ElementFormat::bf16, options)) ==
          Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("a large AllReduce on a torus with equal axes keeps all links busy") {
  const UniformCosts small{.work_s = 50e-9, .send_s = 20e-9, .wait_s = 10e-9};
  for (const Lengths& lengths : {Lengths{8, 8}, {4, 4, 4}, {16, 16}})
    for (const UniformCosts& costs : {UniformCosts{}, small}) {
      const auto chips = static_cast<double>(product(lengths));
      const std::uint64_t elements = 128ULL << 20;  // 256 MiB of bf16
      const double ideal = 2.0 * (chips - 1.0) / chips * 2.0 * static_cast<double>(elements) /
                           (2.0 * static_cast<double>(lengths.size()) * kRate);
      const double time =
          time_of(make_ring_program(RankGrid(lengths), elements, ElementFormat::bf16,
                                    plain(ElementFormat::bf16, 8)),
                  kLatency, costs);
      CAPTURE(lengths, costs.work_s);
      CHECK(time >= ideal * (1.0 - 1e-9));
      CHECK(time < 1.05 * ideal);
    }
}

/// B/s leaving a chip, one way: over two links along every axis, or one along an axis of two.
double rate_of_chip(const Lengths& lengths) {
  double rate = 0.0;
  for (const std::uint32_t length : lengths) rate += length == 2 ? kRate : 2.0 * kRate;
  return rate;
}

TEST_CASE(
    "a large AllReduce on a torus of unequal sides is at most 2 % above 2 (N-1)/N V / (2 D W)") {
  const UniformCosts small{.work_s = 50e-9, .send_s = 20e-9, .wait_s = 10e-9};
  for (const Lengths& lengths :
       {Lengths{4, 8}, {8, 16}, {4, 4, 8}, {3, 5}, {4, 2}, {2, 8}, {4, 4, 2}, {2, 3, 5}})
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
      const auto chips = static_cast<double>(product(lengths));
      const std::uint64_t elements = 128ULL << 20;  // 256 MiB of bf16
      const double phases = collective == Collective::all_reduce ? 2.0 : 1.0;
      const double bound = phases * (chips - 1.0) / chips * 2.0 * static_cast<double>(elements) /
                           rate_of_chip(lengths);
      RingOptions options = plain(ElementFormat::bf16, 8);
      options.collective = collective;
      const double time =
          time_of(make_ring_program(RankGrid(lengths), elements, ElementFormat::bf16, options),
                  kLatency, small);
      CAPTURE(lengths, collectives::name(collective), time / bound);
      CHECK(time >= bound * (1.0 - 1e-9));
      // A single phase has no other phase to fill the gaps at its end.
      CHECK(time < (collective == Collective::all_reduce ? 1.02 : 1.04) * bound);
    }
}

TEST_CASE("representative chips have the timing of all chips of a torus of unequal sides") {
  const UniformCosts costs{.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9};
  for (const Lengths& lengths : {Lengths{4, 8}, {4, 2}, {2, 3, 4}})
    for (const bool scaled : {false, true}) {
      const Program program = make_ring_program(
          RankGrid(lengths), 8ULL << 20, ElementFormat::bf16,
          scaled ? quantized(3, 2, RingStyle::full_loop) : plain(ElementFormat::bf16, 4));
      const Machine machine = torus_machine(program, kRate, kLatency);
      CAPTURE(lengths, scaled);
      CHECK(program.partition.segment(0).share != program.partition.segment(2).share);
      CHECK(asymmetry(program, machine).empty());
      CHECK(time_of(program, kLatency, costs) ==
            Approx(simulate(program, machine, costs.of(program)).time_s).epsilon(1e-9));
    }
}

TEST_CASE("no torus beats its lower bound, and all bytes arrive") {
  const UniformCosts costs{.work_s = 0.2e-6, .send_s = 20e-9, .wait_s = 10e-9};
  for (const Lengths& lengths : {Lengths{4, 2}, {3, 3}, {2, 2, 2}, {2, 3, 4}})
    for (const RingStyle style : {RingStyle::full_loop, RingStyle::semi_loop})
      for (const bool scaled : {false, true}) {
        CAPTURE(lengths, collectives::name(style), scaled);
        const Program program = make_ring_program(
            RankGrid(lengths), 1'000'003, ElementFormat::bf16,
            scaled ? quantized(3, 2, style) : plain(ElementFormat::bf16, 4, style));
        const Machine machine = torus_machine(program, kRate, kLatency);
        const TimeResult result = simulate(program, machine, costs.of(program));
        CHECK(result.time_s >= lower_bound_s(program, machine));
        CHECK(result.link_bytes == link_bytes(program, machine));
        CHECK(result.messages == product(lengths) * program.messages.size());
        CHECK_FALSE(result.failure.has_value());
        for (std::size_t link = 0; link < machine.links.size(); ++link) {
          CHECK(result.link_busy_s[link] <= result.time_s * (1.0 + 1e-9));
          CHECK(result.link_busy_s[link] >=
                static_cast<double>(result.link_bytes[link]) / kRate * (1.0 - 1e-9));
        }
      }
}

}  // namespace
}  // namespace equarx::sim::torus_time_test
