#include "models/values/scale_exchange.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::scale_exchange_test {
namespace {

using collectives::Instruction;
using collectives::Op;
using namespace unit_rings;

/// The first instruction of a lane with the operation.
const Instruction& first_of(const Ring& ring, Op op) {
  for (const collectives::InstructionId id : ring.geometry.lane().instructions)
    if (ring.program.instructions[id].op == op) return ring.program.instructions[id];
  throw std::logic_error("no such instruction");
}

TEST_CASE("amax accumulate over the microshards of a minishard, for each rank") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 0, 1));
  EncodedBuffers buffers(ring.geometry);
  ScaleExchange scales(ring.geometry, buffers);
  scales.start();
  const numerics::BlockFormat& format = ring.program.formats[0];
  collectives::Tile tile{.minishard = 1};
  const std::size_t groups =
      numerics::scale_count(format, ring.program.partition.minishard(tile).size());
  std::span<float> amax = scales.amax_of(tile, {.rank = 2, .range = {}}, format);
  REQUIRE(amax.size() == groups);
  CHECK(std::ranges::count(amax, 0.0F) == static_cast<std::ptrdiff_t>(groups));
  amax[0] = 5.0F;
  tile.microshard = 1;
  CHECK(scales.amax_of(tile, {.rank = 2, .range = {}, .in_minishard = 1024}, format)[0] == 5.0F);
  tile.microshard = 0;
  CHECK(scales.amax_of(tile, {.rank = 3, .range = {}}, format)[0] == 0.0F);
  CHECK(scales.amax_of(tile, {.rank = 2, .range = {}}, format)[0] ==
        0.0F);  // reset at the first microshard
}

TEST_CASE("readers get the scales that a producer encodes, for each payload") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 0, 1));
  EncodedBuffers buffers(ring.geometry);
  buffers.start();
  ScaleExchange scales(ring.geometry, buffers);
  scales.start();
  const Instruction& encode = first_of(ring, Op::encode_scales);
  const Instruction& quantize = first_of(ring, Op::quantize);
  const numerics::BlockCodec codec(ring.program.formats[0]);
  REQUIRE(ring.program.buffers[quantize.buffer].scales == encode.buffer);
  const collectives::Rank rank = ring.geometry.first_rank(encode.tile);
  collectives::Tile tile = encode.tile;
  tile.microshard = 0;
  std::ranges::fill(scales.amax_of(tile, {.rank = rank, .range = {}}, codec.format()), 127.0F);
  scales.encode(encode.buffer, encode.tile, rank, codec);
  CHECK(buffers.at(encode.buffer, rank).bytes.size() == ring.program.buffers[encode.buffer].bytes);
  const std::span<const float> received = scales.scales_of(quantize.buffer, rank);
  CHECK_FALSE(received.empty());
  CHECK(std::ranges::count(received, 1.0F) == static_cast<std::ptrdiff_t>(received.size()));
}

}  // namespace
}  // namespace equarx::values::scale_exchange_test
