#include "models/collectives/algorithm.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::algorithm_test {
namespace {

constexpr std::uint32_t kRanks = 8;
constexpr std::uint64_t kElements = 4099;  // a prime, so that nothing divides it

RankGrid grid_of(const AlgorithmInfo& algorithm) {
  if (algorithm.layout == RankLayout::grid) return RankGrid({4, 2});
  if (algorithm.layout == RankLayout::hypercube) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices_of_grids) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices || algorithm.layout == RankLayout::nodes)
    return RankGrid({2, 4});
  return RankGrid({kRanks});
}

RankGraph ring_of_ranks() {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 0; rank < kRanks; ++rank) edges.emplace_back(rank, (rank + 1) % kRanks);
  return {kRanks, edges};
}

ProgramRequest request_for(const AlgorithmInfo& algorithm, Collective collective, RingStyle ring) {
  numerics::BlockFormat format{.element = numerics::ElementFormat::bf16};
  if (!algorithm.can_be_plain) format = {.element = numerics::ElementFormat::int8, .scaled = true};
  return {.collective = collective,
          .grid = grid_of(algorithm),
          .elements = kElements,
          .dtype = numerics::ElementFormat::bf16,
          .ring = ring,
          .reduce_scatter = format,
          .all_gather = format,
          .cut = {.minishards = 2, .microshards = 3},
          .reduce_scatter_between = format,
          .all_gather_between = format,
          .graph = ring_of_ranks()};
}

TEST_CASE("every algorithm has a unique name and is found by it") {
  std::set<std::string_view> names;
  for (const AlgorithmInfo& algorithm : algorithms()) {
    CHECK(names.insert(algorithm.name).second);
    CHECK(find_algorithm(algorithm.name) == &algorithm);
  }
  CHECK(find_algorithm("rings") == nullptr);
  CHECK(find_algorithm("") == nullptr);
}

TEST_CASE("every row makes valid programs for all its collectives, with the estimated channels") {
  for (const AlgorithmInfo& algorithm : algorithms())
    for (const Collective collective : algorithm.collectives)
      for (const RingStyle ring : {RingStyle::full_loop, RingStyle::semi_loop}) {
        CAPTURE(algorithm.name, static_cast<int>(collective), static_cast<int>(ring));
        const ProgramRequest request = request_for(algorithm, collective, ring);
        const Program program = algorithm.make(request);
        CHECK_NOTHROW(validate(program));
        CHECK(program.ranks() == kRanks);
        CHECK(program.channels.size() <= algorithm.channels(request.grid));
        CHECK_FALSE(algorithm.rounds(request).empty());
        CHECK(algorithm.sharers(request.grid) > 0.0);
        CHECK(algorithm.does(collective));
      }
}

TEST_CASE("every collective has an algorithm with scales, and three of them no sums over ranks") {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
        Collective::all_to_all, Collective::broadcast, Collective::neighbor_average})
    CHECK(std::ranges::any_of(algorithms(), [&](const AlgorithmInfo& algorithm) {
      return algorithm.does(collective) && algorithm.can_be_quantized;
    }));
  CHECK_FALSE(sums(Collective::all_to_all));
  CHECK_FALSE(sums(Collective::broadcast));
  CHECK_FALSE(sums(Collective::neighbor_average));
}

}  // namespace
}  // namespace equarx::collectives::algorithm_test
