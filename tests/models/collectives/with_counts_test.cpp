#include "models/collectives/with_counts.hpp"

#include <stdexcept>

#include "models/collectives/exchange_program.hpp"
#include "models/collectives/traffic.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::with_counts_test {
namespace {

using numerics::ElementFormat;

Program exchange(Collective collective) {
  return make_direct_exchange(collective, 2, 400, ElementFormat::bf16,
                              {.reduce_scatter = {.element = ElementFormat::bf16},
                               .all_gather = {.element = ElementFormat::bf16},
                               .cut = {.minishards = 2, .microshards = 1}});
}

TEST_CASE("with_counts: pairs without rows have no messages") {
  const Program program = with_counts(exchange(Collective::all_to_all), {10, {0, 20, 0, 3}});
  CHECK(total_messages(program, 2) == 2);
  CHECK(sent_bytes(program, 0) == std::vector<std::uint64_t>{400});
  CHECK(sent_bytes(program, 1) == std::vector<std::uint64_t>{0});
  CHECK_FALSE(is_uniform(program));
}

TEST_CASE("with_counts: a tile ends with the rows of its pair") {
  const Program program = with_counts(exchange(Collective::all_to_all), {10, {0, 12, 0, 3}});
  const Tile second{.shard_offset = 1, .minishard = 1};
  const Range whole = program.partition.microshard(second);
  CHECK(program.microshard({second, 0}) == Range{whole.begin, 120});
  CHECK(program.microshard({second, 1}).size() == 0);
  CHECK(program.microshard({{.shard_offset = 0}, 1}) == Range{0, 30});
}

TEST_CASE("with_counts: wrong counts are refused") {
  const auto check = [](Collective collective, RowCounts counts, const char* message) {
    CHECK_THROWS_WITH(with_counts(exchange(collective), std::move(counts)),
                      ContainsSubstring(message));
  };
  check(Collective::all_reduce, {10, {0, 1, 1, 0}}, "AllToAll");
  check(Collective::all_to_all, {10, {0, 1, 1}}, "3 row counts for 4 pairs");
  check(Collective::all_to_all, {10, {0, 21, 1, 0}}, "a shard has 200");
  check(Collective::all_to_all, {10, {0, 0, 0, 0}}, "0 elements");
}

}  // namespace
}  // namespace equarx::collectives::with_counts_test
