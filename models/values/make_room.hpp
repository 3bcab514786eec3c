// Reuse of memory for units of different sizes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace equarx::values {

/// Resizes for `size` elements to be overwritten, with exact capacity: geometric growth could take
/// up to twice the memory whenever a unit is larger than the previous one. New memory holds `most`
/// elements, if larger: the blocks of slightly smaller units, once freed, would fit no other.
template <class Vector>
void make_room(Vector& elements, std::size_t size, std::size_t most = 0) {
  if (size > elements.capacity()) {
    Vector().swap(elements);
    elements.reserve(std::max(size, most));
  }
  elements.resize(size);
}

}  // namespace equarx::values
