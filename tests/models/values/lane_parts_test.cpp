#include "models/values/lane_parts.hpp"

#include <vector>

#include "models/values/lanes.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/models/values/same_results.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::lane_parts_test {
namespace {

using collectives::Program;
using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 4 * (3 * kPartElements + 5000) + 3;

BlockFormat named(std::string_view name) {
  for (const numerics::NamedFormat& known : numerics::named_formats())
    if (known.name == name) return known.format;
  throw std::logic_error("no such format");
}

/// A ring with one lane per chunk, in `microshards` messages.
Program ring_of(const BlockFormat& format, std::uint32_t microshards) {
  return testing::make_ring_all_reduce(
      4, kElements, ElementFormat::fp16,
      testing::ring(collectives::RingStyle::full_loop, {true, true}, format, 1, microshards));
}

struct Outcome {
  ValueResult values;
  std::vector<float> result;
};

Outcome computed(const Program& program, bool whole, unsigned threads = 2) {
  const std::uint64_t elements = program.partition.elements();
  Outcome outcome;
  ResultTensor result(elements, ElementFormat::fp32);
  ValueRecord record;  // values are recorded in whole lanes
  const TensorSource source(numerics::InputSpec{.seed = 3}, elements, ElementFormat::fp16);
  outcome.values = execute(program, source,
                           {.threads = threads,
                            .result = &result,
                            .contract = true,
                            .record = whole ? &record : nullptr});
  outcome.result.resize(elements);
  result.read(0, outcome.result);
  return outcome;
}

void check_same_with_ranges(const ValueResult& one, const ValueResult& other) {
  check_same(one, other);
  CHECK(one.ranges.largest_sum == other.ranges.largest_sum);
  CHECK(one.ranges.underflows.count == other.ranges.underflows.count);
  CHECK(one.ranges.underflows.element == other.ranges.underflows.element);
}

TEST_CASE("parts cover their range in order") {
  const auto ranges_of = [](std::uint64_t elements, std::uint64_t most) {
    std::vector<collectives::Range> ranges;
    for (const LanePart& part : parts_of(elements, most)) {
      CHECK(part.has_all_columns());
      CHECK(part.size() == part.range.size());
      ranges.push_back(part.range);
    }
    return ranges;
  };
  using Ranges = std::vector<collectives::Range>;
  CHECK(ranges_of(10, 10) == Ranges{{0, 10}});
  CHECK(ranges_of(kPartElements, kPartElements) == Ranges{{0, kPartElements}});
  CHECK(ranges_of(3 * kPartElements, 3 * kPartElements) == Ranges{{0, 3 * kPartElements}});
  CHECK(ranges_of(2 * kPartElements + 1, kPartElements) ==
        Ranges{{0, kPartElements},
               {kPartElements, 2 * kPartElements},
               {2 * kPartElements, 2 * kPartElements + 1}});
}

TEST_CASE("parts of columns have each element of their lane once, in its place") {
  for (const std::uint64_t elements : {5000U, 4096U, 700U}) {
    std::uint64_t covered = 0;
    for (const LanePart& part : column_parts_of(elements, 256)) {
      std::uint64_t before = 0;
      for (std::uint64_t at = 0; at < elements; ++at) {
        REQUIRE(part.before(at) == before);
        const std::uint64_t column = at % numerics::kRegisterElements;
        before += part.columns.begin <= column && column < part.columns.end ? 1 : 0;
      }
      CHECK(part.size() == before);
      covered += before;
    }
    CHECK(covered == elements);
  }
}

TEST_CASE("values, errors, counts and bytes are those of whole lanes, bit for bit") {
  for (const char* name :
       {"bf16", "fp32", "fp16", "mxfp8-e4m3", "mxfp4", "mxfp6-e2m3", "nvfp4-block",
        "quickreduce-int4", "quickreduce-fp8", "zeropp-int4", "sdp4bit-int8"})
    for (const std::uint32_t microshards : {1U, 3U}) {
      CAPTURE(name, microshards);
      const Program program = ring_of(named(name), microshards);
      REQUIRE(divides_into_parts(program));
      const Outcome parts = computed(program, false);
      const Outcome whole = computed(program, true);
      CHECK(parts.result == whole.result);
      check_same_with_ranges(parts.values, whole.values);
      check_same_with_ranges(computed(program, false, 1).values, parts.values);
    }
}

/// Parts of all lanes.
std::size_t parts_in(const Program& program) {
  std::size_t parts = 0;
  const LaneTable table(program);
  for (const Lane& lane : table.lanes()) parts += parts_of(lane).size();
  return parts;
}

TEST_CASE("lanes of several minishards have parts where scale groups end together") {
  const auto torus = [](std::vector<std::uint32_t> lengths, std::uint64_t elements) {
    return collectives::make_ring_program(
        collectives::RankGrid(std::move(lengths)), elements, ElementFormat::fp16,
        testing::ring(collectives::RingStyle::full_loop, {true, true}, named("mxfp4"), 1, 2));
  };
  const Program aligned = torus({2, 2}, 16 * kPartElements);
  const Program other = torus({2, 4}, 16 * kPartElements + 1000);  // segments of different sizes
  CHECK(parts_in(aligned) > LaneTable(aligned).lanes().size());
  CHECK(parts_in(other) < parts_in(aligned));
  for (const Program& program : {aligned, other}) {
    const Outcome parts = computed(program, false);
    const Outcome whole = computed(program, true);
    CHECK(parts.result == whole.result);
    check_same_with_ranges(parts.values, whole.values);
  }
}

TEST_CASE("many ranks have smaller parts, of whole groups of all published formats") {
  CHECK(part_elements(2) == kPartElements);
  CHECK(part_elements(64) == kPartElements);
  CHECK(part_elements(128) == kPartElements / 2);
  CHECK(part_elements(4096) == kPartElements / 4);
  for (const numerics::NamedFormat& known : numerics::named_formats())
    if (known.format.block != 0) CHECK(part_elements(4096) % (2 * known.format.block) == 0);
}

TEST_CASE("scale groups that parts would cut, and own codecs, take whole lanes") {
  const auto divides = [](const BlockFormat& format) {
    return divides_into_parts(ring_of(format, 1));
  };
  CHECK_FALSE(divides(named("int8")));   // strided
  CHECK_FALSE(divides(named("nvfp4")));  // a scale per minishard
  CHECK(divides(testing::int8_blocks(1)));
  CHECK_FALSE(divides(testing::int8_blocks(48)));
  CHECK_FALSE(divides({.element = ElementFormat::int4}));
  Program program = ring_of(named("bf16"), 1);
  program.rotated = true;
  CHECK_FALSE(divides_into_parts(program));
  program.rotated = false;
  program.collective = collectives::Collective::all_to_all;
  CHECK_FALSE(divides_into_parts(program));
  program.collective = collectives::Collective::all_reduce;
  program.formats[0].rule = numerics::ScaleRule::own;
  CHECK_FALSE(divides_into_parts(program));
}

TEST_CASE("memory is that of parts, whatever the size of a lane") {
  const Program small = ring_of(named("bf16"), 1);
  const Program large = testing::make_ring_all_reduce(
      4, 64 * kElements, ElementFormat::bf16,
      testing::ring(collectives::RingStyle::full_loop, {true, true}, named("bf16"), 1, 1));
  CHECK(memory_bytes(large, 1) == memory_bytes(small, 1));
  CHECK(memory_bytes(large, 1) < 12 * 4 * kPartElements);
}

}  // namespace
}  // namespace equarx::values::lane_parts_test
