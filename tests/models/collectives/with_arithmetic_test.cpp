#include "models/collectives/with_arithmetic.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/casts.hpp"
#include "models/collectives/exchange_program.hpp"
#include "models/collectives/in_switch_program.hpp"
#include "models/collectives/ring_program.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::collectives::with_arithmetic_test {
namespace {

using numerics::ElementFormat;

constexpr numerics::BlockFormat kBf16{.element = ElementFormat::bf16};

Program two_shot(const numerics::BlockFormat& format,
                 Collective collective = Collective::all_reduce) {
  return make_direct_exchange(collective, 4, 4096, ElementFormat::bf16,
                              {.reduce_scatter = format, .all_gather = format, .cut = {2, 2}});
}

Program ring(const numerics::BlockFormat& format) {
  return testing::make_ring_all_reduce(
      4, 4096, ElementFormat::bf16,
      {.style = RingStyle::full_loop, .reduce_scatter = format, .all_gather = format});
}

std::size_t count(const Program& program, Op op) {
  return static_cast<std::size_t>(std::ranges::count(program.instructions, op, &Instruction::op));
}

}  // namespace

TEST_CASE("the default arithmetic changes nothing") {
  const Program program = two_shot(kBf16);
  CHECK(with_arithmetic(program, {}).instructions.size() == program.instructions.size());
}

TEST_CASE("owners store their sums instead of decoding what they sent") {
  const numerics::BlockFormat int8 = testing::int8_blocks(32);
  for (const Program& program : {two_shot(int8), ring(int8)}) {
    const Program kept = with_arithmetic(program, {.owner = OwnerKeeps::summed});
    CHECK(count(program, Op::store) == 0);
    CHECK(count(kept, Op::store) > 0);
    CHECK(count(kept, Op::store) + count(kept, Op::dequantize) == count(program, Op::dequantize));
    for (const Instruction& instruction : kept.instructions)
      if (instruction.op == Op::store) CHECK(instruction.operand == Operand::sums);
  }
}

TEST_CASE("a residual is added once to every sum, and the last term leaves scales to it") {
  const Program program = two_shot(testing::int8_blocks(32));
  const Program fused = with_arithmetic(program, {.residual = Residual::before});
  CHECK(count(fused, Op::add_residual) == 4);  // minishards x microshards of the own shard
  const auto finds = [](const Program& some, Op op) {
    return std::ranges::count_if(some.instructions, [&](const Instruction& instruction) {
      return instruction.op == op && instruction.finds_scales;
    });
  };
  CHECK(finds(program, Op::accumulate) > 0);
  CHECK(finds(fused, Op::accumulate) == 0);
  CHECK(finds(fused, Op::add_residual) == finds(program, Op::accumulate));
  for (std::size_t i = 0; i < fused.instructions.size(); ++i)
    if (fused.instructions[i].op == Op::add_residual)
      CHECK(fused.instructions[i - 1].tile == fused.instructions[i].tile);
}

TEST_CASE("a residual after rounding covers the whole tensor, or the own shard") {
  const Arithmetic after{.residual = Residual::after};
  CHECK(count(with_arithmetic(two_shot(kBf16), after), Op::add_residual_after) == 16);
  CHECK(count(with_arithmetic(two_shot(kBf16, Collective::reduce_scatter), after),
              Op::add_residual_after) == 4);
  CHECK(count(with_arithmetic(ring(kBf16), after), Op::add_residual_after) > 0);
}

TEST_CASE("programs that send or round partial sums have no place for a residual") {
  CHECK(sums_at_once(two_shot(kBf16)));
  CHECK(sums_at_once(two_shot(testing::int8_blocks(32))));
  CHECK_FALSE(sums_at_once(ring(kBf16)));
  CHECK_FALSE(sums_at_once(ring(testing::int8_blocks(32))));
  CHECK_FALSE(
      sums_at_once(make_recursive_doubling(RankGrid({2, 2}), 4096, ElementFormat::bf16,
                                           {.reduce_scatter = kBf16, .all_gather = kBf16})));
  CHECK_FALSE(sums_at_once(make_in_switch_all_reduce(
      4, 4096, ElementFormat::bf16, {.reduce_scatter = kBf16, .all_gather = kBf16})));
  CHECK_THROWS_AS(with_arithmetic(ring(kBf16), {.residual = Residual::before}),
                  std::invalid_argument);
}

TEST_CASE("programs with casts keep what they send, and have no residual") {
  const Program cast = with_casts(two_shot(testing::int8_blocks(32)), ElementFormat::fp32);
  CHECK_THROWS_AS(with_arithmetic(cast, {.owner = OwnerKeeps::summed}), std::invalid_argument);
  CHECK_THROWS_AS(with_arithmetic(cast, {.residual = Residual::after}), std::invalid_argument);
  CHECK(with_arithmetic(cast, {.accumulate = ElementFormat::fp16}).arithmetic.accumulate ==
        ElementFormat::fp16);
}

}  // namespace equarx::collectives::with_arithmetic_test
