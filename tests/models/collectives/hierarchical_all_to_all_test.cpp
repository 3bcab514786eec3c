#include "models/collectives/hierarchical_all_to_all.hpp"

#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/with_counts.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::hierarchical_all_to_all_test {
namespace {

using numerics::ElementFormat;

Program two_hops(std::uint32_t nodes, std::uint32_t chips, FirstHop first) {
  return make_hierarchical_all_to_all(RankGrid({nodes, chips}), std::uint64_t{nodes} * chips * 100,
                                      ElementFormat::bf16,
                                      {.reduce_scatter = {.element = ElementFormat::bf16},
                                       .all_gather = {},
                                       .cut = {.minishards = 2, .microshards = 1}},
                                      first);
}

TEST_CASE("a hierarchical AllToAll sends every shard along each axis at most once") {
  for (const FirstHop first : {FirstHop::between, FirstHop::within})
    for (const std::uint32_t nodes : {2U, 3U})
      for (const std::uint32_t chips : {2U, 4U}) {
        const Program program = two_hops(nodes, chips, first);
        CHECK(is_uniform(program));
        std::uint64_t between = 0;
        std::uint64_t within = 0;
        const std::vector<std::uint64_t> sent = sent_bytes(program);
        for (std::size_t channel = 0; channel < sent.size(); ++channel)
          (program.grid().coordinate(program.channels[channel].offset, 0) > 0 ? between : within) +=
              sent[channel];
        CHECK(between == std::uint64_t{nodes - 1} * chips * 200);
        CHECK(within == std::uint64_t{chips - 1} * nodes * 200);
      }
}

TEST_CASE("only first rows cross the network") {
  constexpr std::uint32_t kRanks = 4;
  std::vector<std::uint32_t> rows(kRanks * kRanks, 10);
  std::vector<std::uint32_t> first_rows;
  for (Rank from = 0; from < kRanks; ++from)
    for (Rank to = 0; to < kRanks; ++to) first_rows.push_back((from + to) % 2 == 1 ? 2 : 10);
  for (const FirstHop first : {FirstHop::between, FirstHop::within}) {
    const Program program = with_counts(two_hops(2, 2, first), {10, rows, first_rows});
    const std::vector<std::uint64_t> sent = sent_bytes(program);
    const std::size_t network = first == FirstHop::between ? 0 : 1;
    CHECK(sent[network] == 2 * 10 * (10 + 2));
    CHECK(sent[1 - network] == 2 * 10 * (10 + 10));
  }
}

TEST_CASE("a hierarchical AllToAll needs nodes") {
  CHECK_THROWS_AS(
      make_hierarchical_all_to_all(RankGrid({4}), 400, ElementFormat::bf16, {}, FirstHop::between),
      std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::hierarchical_all_to_all_test
