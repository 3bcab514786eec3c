#include "models/values/encoded_buffers.hpp"

#include <algorithm>

#include "models/values/make_room.hpp"

namespace equarx::values {

void EncodedBuffers::start() {
  if (geometry_.is_part()) encoded_.clear();
  encoded_.resize(geometry_.lane().buffers.size() * geometry_.peers().size());
}

Encoded& EncodedBuffers::at(collectives::BufferId buffer, collectives::Rank producer) {
  const std::vector<collectives::BufferId>& buffers = geometry_.lane().buffers;
  const auto index = std::ranges::lower_bound(buffers, buffer) - buffers.begin();
  return encoded_[static_cast<std::size_t>(index) * geometry_.peers().size() +
                  geometry_.slot_of(producer)];
}

numerics::AlignedVector<std::byte>& EncodedBuffers::room(collectives::BufferId buffer,
                                                         collectives::Rank producer,
                                                         std::size_t size) {
  numerics::AlignedVector<std::byte>& bytes = at(buffer, producer).bytes;
  make_room(bytes, size);
  return bytes;
}

}  // namespace equarx::values
