#include "models/collectives/work.hpp"

#include <algorithm>

#include "models/collectives/casts.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::work_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;
using equarx::numerics::ScaleFormat;
using equarx::numerics::ScaleLayout;

namespace {

constexpr std::uint64_t kSegment = 6144;  // two minishards of three microshards
constexpr double kMicroshard = 1024.0;

Program ring_program(RingStyle style, ElementFormat tensor, const BlockFormat& reduce,
                     const BlockFormat& gather) {
  return make_ring_all_reduce(4, 4 * ring_segments(style) * kSegment, tensor,
                              {.style = style,
                               .reduce_scatter = reduce,
                               .all_gather = gather,
                               .cut = {.minishards = 2, .microshards = 3}});
}

// Work per element of a microshard of the first instruction of this kind.
Work per_element(const Program& program, Op op, Phase phase, Operand operand,
                 bool finds_scales = false, WireBuffers buffers = WireBuffers::vmem) {
  const auto found = std::ranges::find_if(program.instructions, [&](const Instruction& i) {
    return i.op == op && i.phase == phase && i.operand == operand && i.finds_scales == finds_scales;
  });
  REQUIRE(found != program.instructions.end());
  const Work work = work_of(program, *found, buffers);
  return {work.alu_operations / kMicroshard, work.vmem_bytes / kMicroshard,
          work.hbm_bytes / kMicroshard};
}

void check(const Work& work, double operations, double bytes, double hbm_bytes = 0.0) {
  CHECK(work.alu_operations == operations);
  CHECK(work.vmem_bytes == bytes);
  CHECK(work.hbm_bytes == hbm_bytes);
}

const BlockFormat kInt8 = int8_blocks(32);
const BlockFormat kE4m3{ElementFormat::fp8_e4m3, true, ScaleFormat::bf16, ScaleLayout::strided, 0};
const BlockFormat kBf16 = plain(ElementFormat::bf16);
constexpr Phase kReduce = Phase::reduce_scatter;
constexpr Phase kGather = Phase::all_gather;

}  // namespace

TEST_CASE("work of int8 hops on a bf16 tensor, by hand") {
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::bf16, kInt8, kInt8);
  // Decode bf16 1, amax 2; reads bf16.
  check(per_element(program, Op::find_scales, kReduce, Operand::input), 3.0, 2.0, 2.0);
  // Decode bf16 1, scale 1, encode int8 4; reads bf16, writes int8.
  check(per_element(program, Op::quantize, kReduce, Operand::input), 6.0, 3.0, 2.0);
  // Decode int8 2, scale 1, decode bf16 1, add 1, amax 2; reads int8 and bf16, writes FP32.
  check(per_element(program, Op::accumulate, kReduce, Operand::input, true), 7.0, 7.0, 2.0);
  // Scale 1, encode int8 4; reads FP32, writes int8.
  check(per_element(program, Op::quantize, kReduce, Operand::sums), 5.0, 5.0);
  check(per_element(program, Op::quantize, kGather, Operand::sums), 5.0, 5.0);
  // Decode int8 2, scale 1, encode bf16 2; reads int8, writes bf16 to HBM.
  check(per_element(program, Op::dequantize, kGather, Operand::input), 5.0, 3.0, 2.0);
}

TEST_CASE("the second of two converging sums reads FP32") {
  const Program program = ring_program(RingStyle::semi_loop, ElementFormat::bf16, kInt8, kInt8);
  check(per_element(program, Op::accumulate, kReduce, Operand::input), 5.0, 7.0, 2.0);
  check(per_element(program, Op::accumulate, kReduce, Operand::sums, true), 6.0, 9.0);
}

TEST_CASE("work of FP8 hops on an FP32 tensor, by hand") {
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::fp32, kE4m3, kE4m3);
  check(per_element(program, Op::find_scales, kReduce, Operand::input), 2.0, 4.0, 4.0);
  check(per_element(program, Op::quantize, kReduce, Operand::input), 7.0, 5.0, 4.0);
  check(per_element(program, Op::accumulate, kReduce, Operand::input, true), 8.0, 9.0, 4.0);
  check(per_element(program, Op::dequantize, kGather, Operand::input), 5.0, 5.0, 4.0);
}

TEST_CASE("work of a plain bf16 ring, by hand") {
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::bf16, kBf16, kBf16);
  // Decode two bf16 2, add 1, encode bf16 2; reads two bf16, writes one.
  check(per_element(program, Op::add, kReduce, Operand::input), 5.0, 6.0, 2.0);
}

TEST_CASE("work of a stochastic sum of two codes of one byte") {
  BlockFormat exp8 = plain(ElementFormat::exp8);
  exp8.rule = equarx::numerics::ScaleRule::global_qsgd;
  const Program program = with_casts(
      ring_program(RingStyle::full_loop, ElementFormat::exp8, exp8, exp8), ElementFormat::bf16);
  // Reads two codes, writes one.
  check(per_element(program, Op::add, kReduce, Operand::input), 31.0, 3.0, 1.0);
  // Decode bf16 1, encode exp8 11, scale 1; decode exp8 5, encode bf16 2, scale 1.
  check(per_element(program, Op::cast, kReduce, Operand::input), 13.0, 3.0, 3.0);
  check(per_element(program, Op::cast_back, kReduce, Operand::input), 8.0, 3.0, 3.0);
}

TEST_CASE("work of a plain FP32 ring is an addition") {
  const BlockFormat fp32 = plain(ElementFormat::fp32);
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::fp32, fp32, fp32);
  check(per_element(program, Op::add, kReduce, Operand::input), 1.0, 12.0, 4.0);
}

TEST_CASE("a bf16 ring passes bf16 sums to an int8 AllGather and converts an FP32 tensor") {
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::fp32, kBf16, kInt8);
  check(per_element(program, Op::quantize, kReduce, Operand::input), 2.0, 6.0, 4.0);
  check(per_element(program, Op::find_scales, kGather, Operand::rounded_sums), 3.0, 2.0);
  check(per_element(program, Op::quantize, kGather, Operand::rounded_sums), 6.0, 3.0);
  check(per_element(program, Op::dequantize, kGather, Operand::input), 3.0, 5.0, 4.0);
}

TEST_CASE("scales are encoded for a whole minishard at once") {
  const auto encode = [](const BlockFormat& format) {
    const Program program = ring_program(RingStyle::full_loop, ElementFormat::bf16, format, format);
    return work_of(program,
                   *std::ranges::find(program.instructions, Op::encode_scales, &Instruction::op));
  };
  check(encode(kInt8), 8.0 * 96, (4.0 + 4.0) * 96);      // 3072 elements in blocks of 32
  check(encode(kE4m3), 8.0 * 1024, (4.0 + 2.0) * 1024);  // a register of lanes
}

TEST_CASE("a tensor scale is computed from its minishard's scales and divides them") {
  const BlockFormat nvfp4{ElementFormat::fp4_e2m1,
                          true,
                          ScaleFormat::e4m3,
                          ScaleLayout::contiguous,
                          16,
                          equarx::numerics::Rounding::nearest,
                          true};
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::bf16, nvfp4, nvfp4);
  const auto encode = std::ranges::find(program.instructions, Op::encode_scales, &Instruction::op);
  // 3072 elements; make 8, amax 2, scale 1; reads FP32, writes E4M3, and one FP32.
  check(work_of(program, *encode), 11.0 * 192, (4.0 + 1.0) * 192 + 4.0);
  CHECK(program.buffers[encode->buffer].bytes == 192 + 4);
}

TEST_CASE("a cast reads one type from HBM and writes the other to HBM, by hand") {
  Program program = ring_program(RingStyle::full_loop, ElementFormat::fp8_e5m2,
                                 plain(ElementFormat::fp8_e5m2), plain(ElementFormat::fp8_e5m2));
  program = with_casts(std::move(program), ElementFormat::bf16);
  // Decode bf16 1, encode FP8 6; decode FP8 4, encode bf16 2.
  check(per_element(program, Op::cast, kReduce, Operand::input), 7.0, 3.0, 3.0);
  check(per_element(program, Op::cast_back, kReduce, Operand::input), 6.0, 3.0, 3.0);
}

TEST_CASE("a rotation adds five butterflies to a cast, plus a factor to the cast back, by hand") {
  const auto rotated = [](bool rotate) {
    return with_casts(ring_program(RingStyle::full_loop, ElementFormat::fp32,
                                   plain(ElementFormat::fp32), plain(ElementFormat::fp32)),
                      ElementFormat::bf16, rotate);
  };
  check(per_element(rotated(false), Op::cast, kReduce, Operand::input), 1.0, 6.0, 6.0);
  check(per_element(rotated(true), Op::cast, kReduce, Operand::input), 6.0, 6.0, 6.0);
  check(per_element(rotated(true), Op::cast_back, kReduce, Operand::input), 8.0, 6.0, 6.0);
}

TEST_CASE("with wire buffers in HBM, accesses to them count as HBM bytes, by hand") {
  const auto in_hbm = [](const Program& program, Op op, Phase phase, Operand operand,
                         bool finds_scales = false) {
    const Work vmem = per_element(program, op, phase, operand, finds_scales);
    const Work hbm = per_element(program, op, phase, operand, finds_scales, WireBuffers::hbm);
    CHECK(hbm.alu_operations == vmem.alu_operations);
    CHECK(hbm.vmem_bytes == vmem.vmem_bytes);
    return hbm.hbm_bytes;
  };
  const Program int8 = ring_program(RingStyle::full_loop, ElementFormat::bf16, kInt8, kInt8);
  CHECK(in_hbm(int8, Op::find_scales, kReduce, Operand::input) == 2.0);
  CHECK(in_hbm(int8, Op::quantize, kReduce, Operand::input) == 3.0);          // and writes int8
  CHECK(in_hbm(int8, Op::accumulate, kReduce, Operand::input, true) == 3.0);  // and reads int8
  CHECK(in_hbm(int8, Op::quantize, kReduce, Operand::sums) == 1.0);
  CHECK(in_hbm(int8, Op::dequantize, kGather, Operand::input) == 3.0);
  const Program bf16 = ring_program(RingStyle::full_loop, ElementFormat::bf16, kBf16, kBf16);
  CHECK(in_hbm(bf16, Op::add, kReduce, Operand::input) == 6.0);  // reads two, writes one
  const Program mixed = ring_program(RingStyle::full_loop, ElementFormat::fp32, kBf16, kInt8);
  CHECK(in_hbm(mixed, Op::quantize, kGather, Operand::rounded_sums) == 3.0);
  const auto encode = std::ranges::find(int8.instructions, Op::encode_scales, &Instruction::op);
  CHECK(work_of(int8, *encode).hbm_bytes == 0.0);
  CHECK(work_of(int8, *encode, WireBuffers::hbm).hbm_bytes == 4.0 * 96);  // FP32 scales
}

TEST_CASE("instructions other than vector work have no operations") {
  const Program program = ring_program(RingStyle::full_loop, ElementFormat::bf16, kBf16, kBf16);
  for (const Op op : {Op::send, Op::wait, Op::lend, Op::deliver, Op::barrier})
    REQUIRE_THROWS_AS(work_of(program, {.op = op}), std::logic_error);
}

}  // namespace equarx::work_test
