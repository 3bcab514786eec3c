#include "models/values/encoded_buffers.hpp"

#include <algorithm>

#include "models/numerics/codec/block_codec.hpp"
#include "models/values/make_room.hpp"

namespace equarx::values {

namespace {

std::size_t held_bytes(const collectives::Program& program, collectives::BufferId id,
                       collectives::Rank producer) {
  const collectives::Buffer& buffer = program.buffers[id];
  if (program.format(buffer.phase).rule != numerics::ScaleRule::own)
    return program.buffer_bytes(id, producer);
  return numerics::held_bytes(program.format(buffer.phase),
                              program.microshard({buffer.tile, producer}).size());
}

}  // namespace

void EncodedBuffers::start() {
  encoded_.resize(geometry_.lane().buffers.size() * geometry_.peers().size());
}

Encoded& EncodedBuffers::at(collectives::BufferId buffer, collectives::Rank producer) {
  const std::vector<collectives::BufferId>& buffers = geometry_.lane().buffers;
  const auto index = std::ranges::lower_bound(buffers, buffer) - buffers.begin();
  return encoded_[static_cast<std::size_t>(index) * geometry_.peers().size() +
                  geometry_.slot_of(producer)];
}

numerics::AlignedVector<std::byte>& EncodedBuffers::room(collectives::BufferId buffer,
                                                         collectives::Rank producer) {
  numerics::AlignedVector<std::byte>& bytes = at(buffer, producer).bytes;
  make_room(bytes, held_bytes(geometry_.program(), buffer, producer));
  return bytes;
}

}  // namespace equarx::values
