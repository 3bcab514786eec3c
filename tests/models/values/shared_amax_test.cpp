#include "models/values/shared_amax.hpp"

#include <limits>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/collectives/traffic.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "tests/catch.hpp"

namespace equarx::values::shared_amax_test {
namespace {

using collectives::RankGrid;
using numerics::ElementFormat;

constexpr std::size_t kElements = 200'000;  // several pieces

SharedAmax shared(std::string_view algorithm, const RankGrid& grid,
                  const std::vector<std::vector<float>>& tensors, unsigned threads) {
  constexpr numerics::BlockFormat kFormat{.element = ElementFormat::fp8_e4m3,
                                          .rule = numerics::ScaleRule::fp8lm};
  const collectives::Program program = collectives::with_casts(
      collectives::find_algorithm(algorithm)->make({.grid = grid,
                                                    .elements = kElements,
                                                    .dtype = ElementFormat::fp8_e4m3,
                                                    .reduce_scatter = kFormat,
                                                    .all_gather = kFormat,
                                                    .cut = {}}),
      ElementFormat::fp32);
  std::vector<tensors::MemoryTensor> memory;
  for (const auto& tensor : tensors)
    memory.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(tensor)));
  const SharedAmax found =
      share_amax(program, TensorSource(std::move(memory), kElements, ElementFormat::fp32), threads);
  std::uint64_t bytes = 0;
  for (collectives::Rank rank = 0; rank < grid.ranks(); ++rank)
    for (const std::uint64_t sent :
         collectives::sent_bytes(program, collectives::Content::amax, rank))
      bytes += sent;
  std::uint64_t sent = 0;
  for (const std::uint64_t channel : found.sent_bytes) sent += channel;
  CHECK(sent == bytes);
  CHECK(found.received_bytes == found.sent_bytes);
  return found;
}

TEST_CASE("all ranks obtain the largest magnitude, on any rank and at any position") {
  const std::vector<std::pair<std::string_view, RankGrid>> cases = {
      {"ring", RankGrid({8})},
      {"ring", RankGrid({7})},
      {"torus", RankGrid({4, 2})},
      {"torus", RankGrid({2, 2, 2})},
      {"one-shot", RankGrid({5})},
      {"two-shot", RankGrid({8})},
      {"binomial-tree", RankGrid({2, 2, 2})}};
  for (const auto& [algorithm, grid] : cases)
    for (collectives::Rank rank = 0; rank < grid.ranks(); ++rank) {
      CAPTURE(algorithm, grid.ranks(), rank);
      std::vector<std::vector<float>> tensors(grid.ranks(), std::vector<float>(kElements, 0.5F));
      tensors[rank][(rank * 77'777U) % kElements] = -3.25F;
      const SharedAmax found = shared(algorithm, grid, tensors, 1 + rank % 2);
      CHECK(found.amax == 3.25F);
      CHECK(found.ranks_identical);
    }
}

TEST_CASE("a NaN or an Inf makes the amax of all ranks Inf") {
  for (const float value :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<std::vector<float>> tensors(4, std::vector<float>(kElements, 0.5F));
    tensors[3][kElements - 1] = value;
    CHECK(shared("ring", RankGrid({4}), tensors, 2).amax == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("tensors of zeros have an amax of 0") {
  const std::vector<std::vector<float>> tensors(2, std::vector<float>(kElements));
  CHECK(shared("ring", RankGrid({2}), tensors, 1).amax == 0.0F);
}

}  // namespace
}  // namespace equarx::values::shared_amax_test
