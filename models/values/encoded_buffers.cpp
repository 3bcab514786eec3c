#include "models/values/encoded_buffers.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/values/make_room.hpp"

namespace equarx::values {

void EncodedBuffers::start() {
  if (geometry_.is_part()) encoded_.clear();
  encoded_.resize(geometry_.lane().buffers.size() * geometry_.peers().size());
}

void EncodedBuffers::release(collectives::BufferId buffer) {
  const std::vector<collectives::BufferId>& buffers = geometry_.lane().buffers;
  const auto index = std::ranges::lower_bound(buffers, buffer) - buffers.begin();
  const std::size_t producers = geometry_.peers().size();
  for (std::size_t i = 0; i < producers; ++i) {
    Encoded& encoded = encoded_[static_cast<std::size_t>(index) * producers + i];
    if (const std::size_t capacity = encoded.bytes.capacity(); capacity > 0)
      spare_[capacity].push_back(std::exchange(encoded.bytes, {}));
    encoded.scales = {};
  }
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
  if (bytes.capacity() < size) {
    const auto found = spare_.lower_bound(size);
    if (found != spare_.end() && found->first / 2 <= size) {  // much larger ones are for others
      bytes.swap(found->second.back());
      found->second.pop_back();
      if (found->second.empty()) spare_.erase(found);
    }
  }
  make_room(bytes, size);
  return bytes;
}

}  // namespace equarx::values
