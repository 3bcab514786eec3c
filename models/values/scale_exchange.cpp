#include "models/values/scale_exchange.hpp"

#include <algorithm>

#include "models/values/make_room.hpp"

namespace equarx::values {
namespace {

/// The minishard that contains a tile.
collectives::Tile minishard_of(collectives::Tile tile) {
  tile.microshard = 0;
  return tile;
}

}  // namespace

ScaleExchange::ScaleExchange(const UnitGeometry& geometry, EncodedBuffers& buffers)
    : geometry_(geometry), buffers_(buffers), amax_(geometry.program().ranks()) {}

void ScaleExchange::start() {
  for (std::vector<Amax>& amax : amax_) amax.clear();
}

std::span<float> ScaleExchange::amax_of(const collectives::Tile& tile, const RankTile& at,
                                        const numerics::BlockFormat& format) {
  std::vector<Amax>& all = amax_[at.rank];
  const collectives::Tile minishard = minishard_of(tile);
  auto found = std::ranges::find(all, minishard, &Amax::tile);
  if (found == all.end()) found = all.insert(all.end(), {minishard, {}});
  if (at.in_minishard == 0) {
    const std::size_t elements = geometry_.minishard_elements({tile, at.rank});
    found->values.assign(numerics::scale_count(format, elements), 0.0F);
  }
  return found->values;
}

void ScaleExchange::encode(collectives::BufferId buffer, const collectives::Tile& tile,
                           collectives::Rank rank, const numerics::BlockCodec& codec) {
  std::vector<Amax>& all = amax_[rank];
  const auto found = std::ranges::find(all, minishard_of(tile), &Amax::tile);
  Encoded& encoded = buffers_.at(buffer, rank);
  buffers_.room(buffer, rank, numerics::scales_bytes(codec.format(), found->values.size()));
  make_room(encoded.scales, found->values.size());
  codec.encode_scales(found->values, encoded.bytes);
  codec.decode_scales(encoded.bytes, encoded.scales);
  all.erase(found);
}

std::span<const float> ScaleExchange::scales_of(collectives::BufferId payload,
                                                collectives::Rank producer) {
  const collectives::Program& program = geometry_.program();
  const collectives::Buffer& buffer = program.buffers[payload];
  if (!numerics::sends_scales(program.format(buffer.phase))) return {};
  return buffers_.at(buffer.scales, producer).scales;
}

}  // namespace equarx::values
