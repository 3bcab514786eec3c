// Weighted means over neighbours against scalar loops, bit by bit.
#include <algorithm>
#include <vector>

#include "models/collectives/neighbor_program.hpp"
#include "models/collectives/traffic.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"
#include "tests/support/scalar_exchange.hpp"

namespace equarx::value_executor_neighbors_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;
using equarx::numerics::InputSpec;

namespace {

constexpr std::uint64_t kElements = 9'001;

std::vector<RankGraph> graphs() {
  return {RankGraph(2, {{0, 1}}), RankGraph(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}),
          RankGraph(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 4}})};
}

/// Metropolis weight of a neighbour, from the definition.
float weight(const RankGraph& graph, Rank one, Rank other) {
  const std::size_t degree = std::max(graph.neighbors(one).size(), graph.neighbors(other).size());
  return 1.0F / static_cast<float>(degree + 1);
}

/// Results of all ranks, one after the other.
std::vector<float> scalar_average(const TensorSource& source, const RankGraph& graph,
                                  const BlockFormat& format, std::uint32_t minishards) {
  const auto inputs = padded_inputs(source, graph.ranks(), 1);
  std::vector<float> all;
  for (Rank rank = 0; rank < graph.ranks(); ++rank) {
    float own = 1.0F;
    for (const Rank from : graph.neighbors(rank)) own -= weight(graph, rank, from);
    std::vector<float> mean = inputs[rank];
    for (float& value : mean) value *= own;
    for (const Rank from : graph.neighbors(rank)) {
      const auto sent = pieces_through_wire(format, 1, minishards, inputs[from]);
      for (std::size_t i = 0; i < mean.size(); ++i) {
        const float term = weight(graph, rank, from) * sent[i];
        mean[i] = mean[i] + term;
      }
    }
    const auto result = as_tensor(source, mean);
    all.insert(all.end(), result.begin(), result.end());
  }
  return all;
}

std::vector<BlockFormat> formats() {
  std::vector<BlockFormat> all = {{.element = ElementFormat::bf16}, int8_blocks(32)};
  for (const equarx::numerics::NamedFormat& named : equarx::numerics::named_formats())
    if (named.name == "int4" || named.name == "mxfp8-e4m3") all.push_back(named.format);
  return all;
}

}  // namespace

TEST_CASE("a mean over neighbours has the scalar loop's bits, in every format and tiling") {
  REQUIRE(formats().size() == 4);
  for (const RankGraph& graph : graphs())
    for (const BlockFormat& format : formats())
      for (const auto& [minishards, microshards] : {std::pair{1U, 1U}, {3U, 2U}})
        for (const ElementFormat dtype : {ElementFormat::fp32, ElementFormat::bf16}) {
          CAPTURE(graph.ranks(), static_cast<int>(format.element), minishards,
                  static_cast<int>(dtype));
          const Program program = make_neighbor_average(
              graph, kElements, dtype,
              {format, format, {.minishards = minishards, .microshards = microshards}});
          const TensorSource source(InputSpec{.seed = 22}, kElements, dtype);
          ResultTensor result(graph.ranks() * kElements, dtype);
          const ValueResult values = execute(program, source, {.result = &result});
          std::vector<float> got(graph.ranks() * kElements);
          result.read(0, got);
          REQUIRE(got == scalar_average(source, graph, format, minishards));
          CHECK(values.ranks_identical);
          CHECK(values.sent_bytes == total_sent_bytes(program));
          CHECK(values.received_bytes == values.sent_bytes);
        }
}

TEST_CASE("equal tensors stay equal, and the exact result is the weighted mean") {
  const RankGraph graph = graphs().back();
  const BlockFormat fp32{.element = ElementFormat::fp32};
  const Program program =
      make_neighbor_average(graph, kElements, ElementFormat::fp32, {fp32, fp32, {}});
  const TensorSource source(InputSpec{.seed = 3}, kElements, ElementFormat::fp32);
  const ValueResult values = execute(program, source, {});
  CHECK(values.against_exact.nmse < 1e-13);
  CHECK(values.against_exact.nmse > 0.0);
  CHECK(values.computed_elements == graph.ranks() * kElements);
}

}  // namespace equarx::value_executor_neighbors_test
