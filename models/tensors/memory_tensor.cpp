#include "models/tensors/memory_tensor.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::tensors {

MemoryTensor::MemoryTensor(FileType type, std::span<const std::byte> stored)
    : type_(type), stored_(stored) {
  if (stored.size() % element_bytes(type) != 0)
    throw std::invalid_argument(fmt::format("{} bytes are not a multiple of the element size {}",
                                            stored.size(), element_bytes(type)));
}

void MemoryTensor::read(std::uint64_t first, std::span<float> values) const {
  if (first > elements() || values.size() > elements() - first)
    throw std::out_of_range(fmt::format("elements {} to {} of a tensor of {}", first,
                                        first + values.size(), elements()));
  const std::size_t width = element_bytes(type_);
  convert_elements(type_, stored_.subspan(first * width, values.size() * width), values);
}

}  // namespace equarx::tensors
