#include "models/collectives/casts.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::casts_test {
namespace {

using numerics::ElementFormat;

constexpr std::uint64_t kElements = 4099;  // a prime, so that nothing divides it

Program program_of(const char* algorithm, Collective collective, const RankGrid& grid) {
  const numerics::BlockFormat fp8{.element = ElementFormat::fp8_e4m3};
  return find_algorithm(algorithm)->make({.collective = collective,
                                          .grid = grid,
                                          .elements = kElements,
                                          .dtype = ElementFormat::fp8_e4m3,
                                          .reduce_scatter = fp8,
                                          .all_gather = fp8,
                                          .cut = {.minishards = 2, .microshards = 3}});
}

std::uint64_t elements(const Program& program, Op op) {
  std::uint64_t sum = 0;
  for (const Instruction& instruction : program.instructions)
    if (instruction.op == op) sum += program.partition.microshard(instruction.tile).size();
  return sum;
}

std::uint64_t padded_elements(const Program& program) {
  std::uint64_t sum = 0;
  for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment)
    sum += program.partition.segment_elements(segment);
  return sum;
}

TEST_CASE("a rank casts its whole input first and its whole result last") {
  struct Case {
    const char* algorithm;
    Collective collective;
    RankGrid grid;
    std::uint64_t parts_brought;  ///< number of parts that the tensor is cut into: 1 or ranks
    std::uint64_t parts_got;
  };
  const std::vector<Case> cases = {
      {"ring", Collective::all_reduce, RankGrid({8}), 1, 1},
      {"torus", Collective::all_reduce, RankGrid({4, 2}), 1, 1},
      {"halving-doubling", Collective::all_reduce, RankGrid({2, 2, 2}), 1, 1},
      {"one-shot", Collective::all_reduce, RankGrid({8}), 1, 1},
      {"ring", Collective::reduce_scatter, RankGrid({8}), 1, 8},
      {"torus", Collective::all_gather, RankGrid({4, 2}), 8, 1},
      {"direct", Collective::all_to_all, RankGrid({8}), 1, 1},
      {"ring", Collective::broadcast, RankGrid({8}), 1, 1},
  };
  for (const auto& [algorithm, collective, grid, brought, got] : cases) {
    CAPTURE(algorithm, name(collective));
    const Program plain = program_of(algorithm, collective, grid);
    const Program program = with_casts(plain, ElementFormat::bf16);
    CHECK(program.cast_from == ElementFormat::bf16);
    CHECK(program.tensor_format == ElementFormat::fp8_e4m3);
    CHECK(elements(program, Op::cast) * brought == padded_elements(plain));
    CHECK(elements(program, Op::cast_back) * got == padded_elements(plain));
    CHECK(program.instructions.front().op == Op::cast);
    CHECK(program.instructions.back().op == Op::cast_back);
    CHECK(std::ranges::count_if(program.instructions, [](const Instruction& instruction) {
            return instruction.op != Op::cast && instruction.op != Op::cast_back;
          }) == std::ssize(plain.instructions));
    const Rank last = collective == Collective::broadcast ? 0 : RankRange{}.last;
    CHECK(program.instructions.front().ranks.last == last);
    CHECK(program.instructions.back().ranks == RankRange{});
  }
}

TEST_CASE("a rotation requires FP32 sums") {
  const auto plain = [](Collective collective, ElementFormat type) {
    const numerics::BlockFormat format{.element = type};
    return find_algorithm("ring")->make({.collective = collective,
                                         .grid = RankGrid({8}),
                                         .elements = kElements,
                                         .dtype = type,
                                         .reduce_scatter = format,
                                         .all_gather = format,
                                         .cut = {}});
  };
  for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter}) {
    const Program program =
        with_casts(plain(collective, ElementFormat::fp32), ElementFormat::bf16, true);
    CHECK(program.rotated);
    CHECK_FALSE(with_casts(plain(collective, ElementFormat::fp32), ElementFormat::bf16).rotated);
  }
  CHECK_THROWS_AS(
      with_casts(plain(Collective::all_reduce, ElementFormat::bf16), ElementFormat::fp32, true),
      std::logic_error);
  for (const Collective collective : {Collective::all_gather, Collective::broadcast})
    CHECK_THROWS_AS(with_casts(plain(collective, ElementFormat::fp32), ElementFormat::bf16, true),
                    std::logic_error);
  Program without = plain(Collective::all_reduce, ElementFormat::fp32);
  without.rotated = true;
  CHECK_THROWS_AS(validate(without), std::logic_error);
}

TEST_CASE("a program cannot have casts twice") {
  const Program program =
      with_casts(program_of("ring", Collective::all_reduce, RankGrid({8})), ElementFormat::bf16);
  CHECK_THROWS_AS(with_casts(program, ElementFormat::bf16), std::logic_error);
}

}  // namespace
}  // namespace equarx::collectives::casts_test
