// Collectives of tensors that are cast first, against the same collectives of tensors of that type.
#include <string_view>
#include <vector>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/casts.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"

namespace equarx::values {
namespace {

using collectives::Collective;
using collectives::Program;
using collectives::RankGrid;
using collectives::RankLayout;
using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 4099;  // a prime, so that nothing divides
const numerics::InputSpec kInputs{.seed = 7};

RankGrid grid_of(const collectives::AlgorithmInfo& algorithm) {
  if (algorithm.layout == RankLayout::grid) return RankGrid({4, 2});
  if (algorithm.layout == RankLayout::hypercube) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices_of_grids) return RankGrid({2, 2, 2});
  if (algorithm.layout == RankLayout::slices) return RankGrid({2, 4});
  return RankGrid({8});
}

Program program_of(const collectives::AlgorithmInfo& algorithm, Collective collective,
                   ElementFormat type) {
  BlockFormat format{.element = type};
  if (!algorithm.can_be_plain) format = {.element = ElementFormat::int8, .scaled = true};
  return algorithm.make({.collective = collective,
                         .grid = grid_of(algorithm),
                         .elements = kElements,
                         .dtype = type,
                         .reduce_scatter = format,
                         .all_gather = format,
                         .cut = {.minishards = 2, .microshards = 3},
                         .reduce_scatter_between = format,
                         .all_gather_between = format});
}

/// The results of `program` on tensors of `tensor`, kept in `kept`.
std::vector<float> result_of(const Program& program, ElementFormat tensor, ElementFormat kept) {
  ResultTensor result(result_elements(program), kept);
  const ValueResult values =
      execute(program, TensorSource(kInputs, kElements, tensor), {.threads = 1, .result = &result});
  CHECK(values.ranks_identical);
  std::vector<float> read(result.elements());
  result.read(0, read);
  return read;
}

template <class Check>
void for_all(Check check) {
  for (const collectives::AlgorithmInfo& algorithm : collectives::algorithms())
    for (const Collective collective : algorithm.collectives) {
      CAPTURE(algorithm.name, name(collective));
      check(algorithm, collective);
    }
}

TEST_CASE("a cast to FP8 gives the bits of the collective of an FP8 tensor") {
  for_all([](const collectives::AlgorithmInfo& algorithm, Collective collective) {
    for (const ElementFormat fp8 : {ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2}) {
      const Program program = program_of(algorithm, collective, fp8);
      const Program cast = collectives::with_casts(program, ElementFormat::fp32);
      REQUIRE(result_of(cast, ElementFormat::fp32, ElementFormat::fp32) ==
              result_of(program, fp8, fp8));
    }
  });
}

TEST_CASE("a cast to FP32 changes sums on the way, and only rounds the result") {
  for_all([](const collectives::AlgorithmInfo& algorithm, Collective collective) {
    const Program program = program_of(algorithm, collective, ElementFormat::fp32);
    const Program cast = collectives::with_casts(program, ElementFormat::fp16);
    std::vector<float> expected = result_of(program, ElementFormat::fp16, ElementFormat::fp32);
    round_to_tensor(ElementFormat::fp16, expected);
    REQUIRE(result_of(cast, ElementFormat::fp16, ElementFormat::fp32) == expected);
  });
}

TEST_CASE("errors are against the sum of tensors as they were before the cast") {
  const Program program = program_of(*collectives::find_algorithm("one-shot"),
                                     Collective::all_reduce, ElementFormat::fp8_e4m3);
  const auto nmse = [](const Program& run, ElementFormat tensor) {
    return execute(run, TensorSource(kInputs, kElements, tensor)).against_exact.nmse;
  };
  // Of an FP8 tensor one-shot rounds the result only; cast, the inputs' rounding is an error as well.
  const double of_fp8 = nmse(program, ElementFormat::fp8_e4m3);
  const double cast =
      nmse(collectives::with_casts(program, ElementFormat::fp32), ElementFormat::fp32);
  CHECK(cast > 1.8 * of_fp8);
  CHECK(cast < 2.2 * of_fp8);
}

}  // namespace
}  // namespace equarx::values
