#include "experiments/plan/program_cache.hpp"

#include <stdexcept>
#include <vector>

#include "experiments/config/config.hpp"
#include "tests/catch.hpp"

namespace equarx::plan::program_cache_test {
namespace {

using collectives::ProgramRequest;
using collectives::RankGrid;

constexpr std::uint64_t kMuch = 1 << 24;
const numerics::BlockFormat kInt8{.element = numerics::ElementFormat::int8, .scaled = true};
const numerics::BlockFormat kFp8{.element = numerics::ElementFormat::fp8_e4m3, .scaled = true};

ProgramRequest request() {
  return {.grid = RankGrid({4}),
          .elements = 1 << 16,
          .reduce_scatter = kInt8,
          .all_gather = kInt8,
          .cut = {.minishards = 2, .microshards = 2}};
}

config::Algorithm equarx() { return collectives::find_algorithm("equarx"); }

TEST_CASE("an equal request gets the same program, which a new one equals") {
  ProgramCache cache(kMuch);
  const auto first = cache.make(equarx(), request());
  CHECK(cache.make(equarx(), request()) == first);
  const collectives::Program fresh = equarx()->make(request());
  CHECK(first->instructions.size() == fresh.instructions.size());
  CHECK(first->messages.size() == fresh.messages.size());
  CHECK(first->buffers.size() == fresh.buffers.size());
  CHECK(cache.bytes() > 0);
}

TEST_CASE("a copy is the caller's own, and keeps a program for others") {
  ProgramCache cache(kMuch);
  const collectives::Program copy = cache.copy(equarx(), request());
  const std::uint64_t bytes = cache.bytes();
  CHECK(bytes > 0);
  const auto kept = cache.make(equarx(), request());
  CHECK(cache.bytes() == bytes);
  CHECK(kept->instructions.size() == copy.instructions.size());
  CHECK(cache.copy(equarx(), request()).messages.size() == copy.messages.size());
  ProgramCache none(0);
  CHECK(none.copy(equarx(), request()).buffers.size() == copy.buffers.size());
  CHECK(none.bytes() == 0);
}

TEST_CASE("every member of a request matters") {
  ProgramCache cache(kMuch);
  const auto first = cache.make(equarx(), request());
  std::vector<ProgramRequest> others(13, request());
  others[0].grid = RankGrid({2, 2});
  others[1].elements += 1024;
  others[2].dtype = numerics::ElementFormat::fp32;
  others[3].ring = collectives::RingStyle::semi_loop;
  others[4].all_gather = kFp8;
  others[5].reduce_scatter = kFp8;
  others[6].cut.minishards = 3;
  others[7].cut.microshards = 3;
  others[8].cut = {.minishards = {}, .microshards = 2, .elements_per_scale = 16};
  others[9].cut = {.minishards = {}, .microshards = 2, .sizes = {.minishard = 4096}};
  others[10].collective = collectives::Collective::reduce_scatter;
  others[11].folded_rate = 0.5;
  others[12].rows_at_once = 2;
  for (const ProgramRequest& other : others) {
    const auto made = cache.make(equarx(), other);
    CHECK(made != first);
    CHECK(cache.make(equarx(), other) == made);
  }
  CHECK(cache.make(collectives::find_algorithm("torus"), request()) != first);
  CHECK(cache.make(equarx(), request()) == first);
}

TEST_CASE("the least recently used programs are dropped") {
  ProgramCache one(kMuch);
  one.make(equarx(), request());
  ProgramCache cache(2 * one.bytes() + one.bytes() / 2);
  ProgramRequest other = request();
  other.elements += 1024;
  ProgramRequest third = request();
  third.elements += 2048;
  const auto first = cache.make(equarx(), request());
  const auto second = cache.make(equarx(), other);
  CHECK(cache.make(equarx(), request()) == first);
  cache.make(equarx(), third);
  CHECK(cache.bytes() == 2 * one.bytes());
  CHECK(cache.make(equarx(), request()) == first);
  CHECK(cache.make(equarx(), other) != second);
}

TEST_CASE("programs that are too large, or of other algorithms, are not kept") {
  ProgramCache none(0);
  CHECK(none.make(equarx(), request()) != none.make(equarx(), request()));
  ProgramCache cache(kMuch);
  const collectives::AlgorithmInfo own = *equarx();
  CHECK(cache.make(&own, request()) != cache.make(&own, request()));
  ProgramRequest graph = request();
  graph.graph = collectives::RankGraph(2, {{0, 1}});
  CHECK(cache.make(equarx(), graph) != cache.make(equarx(), graph));
  CHECK(cache.bytes() == 0);
}

TEST_CASE("an invalid request throws each time, and is not kept") {
  ProgramCache cache(kMuch);
  ProgramRequest small = request();
  small.elements = 2;
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(cache.make(equarx(), small), std::invalid_argument);
  CHECK(cache.bytes() == 0);
}

}  // namespace
}  // namespace equarx::plan::program_cache_test
