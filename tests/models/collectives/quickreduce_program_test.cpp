#include "models/collectives/quickreduce_program.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "models/collectives/validate.hpp"
#include "tests/catch.hpp"

namespace equarx::collectives::quickreduce_program_test {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;

constexpr std::uint64_t kElements = 200'000;

BlockFormat named(std::string_view name) {
  return std::ranges::find(numerics::named_formats(), name, &numerics::NamedFormat::name)->format;
}

Program make(std::uint32_t ranks, std::string_view format, std::uint32_t minishards = 3,
             std::uint32_t microshards = 2) {
  const BlockFormat wire = named(format);
  return make_quickreduce(ranks, kElements, ElementFormat::fp16,
                          {wire, wire, {.minishards = minishards, .microshards = microshards}});
}

std::size_t count(const Program& program, Op op) {
  return static_cast<std::size_t>(std::ranges::count(program.instructions, op, &Instruction::op));
}

TEST_CASE(
    "QuickReduce: a rank sends every other rank one shard in both phases, encoded once in each") {
  for (const std::uint32_t ranks : {2U, 3U, 4U, 8U, 16U})
    for (const std::string_view format : {"quickreduce-int4", "quickreduce-fp8", "int8"}) {
      CAPTURE(ranks, format);
      const Program program = make(ranks, format);
      REQUIRE_NOTHROW(validate(program));
      CHECK(is_uniform(program));
      // The own part is encoded too; the gathered sum only once.
      CHECK(count(program, Op::encode_scales) == 3 * (ranks + 1));
      CHECK(count(program, Op::quantize) == 3 * 2 * (ranks + 1));
      CHECK(count(program, Op::reduce_shards) == 3 * 2);
      CHECK(count(program, Op::send) == 2 * (ranks - 1) * 3 * (2 + 1));
      std::uint64_t shard = 0;
      for (std::uint32_t i = 0; i < 3; ++i) {
        const Range minishard = program.partition.minishard({.minishard = i});
        shard += scales_bytes(named(format), scale_count(named(format), minishard.size()));
        for (std::uint32_t micro = 0; micro < 2; ++micro)
          shard += payload_bytes(
              named(format),
              program.partition.microshard({.minishard = i, .microshard = micro}).size());
      }
      for (const std::uint64_t bytes : sent_bytes(program, 0)) CHECK(bytes == 2 * shard);
    }
}

TEST_CASE("QuickReduce: streams carry rows of tiles through, each over channels of its own") {
  for (const std::string_view format : {"quickreduce-int4", "fp16"}) {
    const BlockFormat wire = named(format);
    const Program program = make_quickreduce(4, kElements, ElementFormat::fp16,
                                             {wire, wire, {}, /* rows */ 7, /* rows_at_once */ 3});
    CAPTURE(format);
    REQUIRE_NOTHROW(validate(program));
    CHECK(stream_count(program) == 3);
    CHECK(program.partition.cut(0) == Cut{.minishards = 7, .microshards = 1});
    CHECK(program.channels.size() == 3 * 3);
    // A stream completes a row before it begins its next.
    std::vector<std::uint32_t> current(3);
    std::map<ChannelId, std::uint32_t> stream_of_channel;
    for (const Instruction& instruction : program.instructions) {
      const std::uint32_t row = program.tile(instruction).minishard;
      const std::uint32_t stream = instruction.stream;
      CHECK(stream == row % 3);
      CHECK(row >= current[stream]);
      current[stream] = row;
      if (!is_transfer(instruction.op)) continue;
      const ChannelId channel = program.messages[instruction.message].channel;
      CHECK(stream_of_channel.try_emplace(channel, stream).first->second == stream);
    }
  }
}

TEST_CASE("QuickReduce: there are no more streams than rows") {
  const BlockFormat wire = named("fp16");
  const auto streams = [&](std::uint32_t rows, std::uint32_t at_once) {
    return stream_count(
        make_quickreduce(2, kElements, ElementFormat::fp16, {wire, wire, {}, rows, at_once}));
  };
  CHECK(streams(1, 4) == 1);
  CHECK(streams(2, 4) == 2);
  CHECK(streams(0, 1) == 1);
}

TEST_CASE("QuickReduce: parts of a plain format are pipelined too") {
  const Program program = make(4, "fp16", 1, 5);
  REQUIRE_NOTHROW(validate(program));
  CHECK(program.partition.cut(0).minishards == 5);
  CHECK(program.partition.cut(0).microshards == 1);
  CHECK(count(program, Op::lend) == 5 * 4);  // the inputs; sums are FP32 and have to be encoded
  CHECK(count(program, Op::find_scales) == 0);
}

TEST_CASE("QuickReduce: later parts are encoded while earlier ones are in flight") {
  const Program program = make(4, "quickreduce-int8", 8, 1);
  const auto at = [&](Op op, std::size_t which) {
    for (std::size_t i = 0; i < program.instructions.size(); ++i)
      if (program.instructions[i].op == op && which-- == 0) return i;
    return program.instructions.size();
  };
  // Two minishards of four shards each are encoded before the first wait.
  CHECK(at(Op::quantize, 3 * 4 - 1) < at(Op::wait, 0));
  CHECK(at(Op::wait, 0) < at(Op::quantize, 8 * 4));
  CHECK(at(Op::dequantize, 0) < at(Op::reduce_shards, 7));
}

TEST_CASE("QuickReduce: a program without the buffers of the other shards is rejected") {
  Program program = make(3, "quickreduce-int8");
  const auto reduce = std::ranges::find(program.instructions, Op::reduce_shards, &Instruction::op);
  const std::vector<BufferId> buffers =
      siblings(program, reduce->buffer, program.grid().all_axes());
  REQUIRE(buffers.size() == 3);
  for (Offset offset = 0; offset < 3; ++offset) {
    const Buffer& buffer = program.buffers[buffers[offset]];
    CHECK(buffer.tile.shard_offset == offset);
    CHECK(buffer.content == Content::payload);
    CHECK(buffer.phase == Phase::reduce_scatter);
  }
  program.buffers[buffers[2]].tile.shard_offset = 1;
  CHECK_THROWS_AS(siblings(program, reduce->buffer, program.grid().all_axes()), std::logic_error);
}

TEST_CASE("QuickReduce: terms that have not arrived cannot be added") {
  Program program = make(3, "quickreduce-int8", 1, 1);
  const auto first_wait = std::ranges::find(program.instructions, Op::wait, &Instruction::op);
  const auto reduce = std::ranges::find(program.instructions, Op::reduce_shards, &Instruction::op);
  std::rotate(first_wait, reduce, std::next(reduce));
  CHECK_THROWS_WITH(validate(program), ContainsSubstring("before"));
}

TEST_CASE("QuickReduce needs two ranks and elements for all parts") {
  CHECK_THROWS_AS(make(1, "fp16"), std::invalid_argument);
  CHECK_THROWS_AS(make_quickreduce(8, 10, ElementFormat::fp16,
                                   {named("quickreduce-int8"),
                                    named("quickreduce-int8"),
                                    {.minishards = 100, .microshards = 1}}),
                  std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::quickreduce_program_test
