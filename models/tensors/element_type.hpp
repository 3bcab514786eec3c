// The element types that a tensor file may have, and their conversion to float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace equarx::tensors {

/// How the elements of a file are stored, little-endian.
enum class FileType : std::uint8_t { fp32, fp16, bf16 };

/// Bytes of one stored element.
constexpr std::size_t element_bytes(FileType type) { return type == FileType::fp32 ? 4 : 2; }

/// Converts stored elements, which need not be aligned, to float. `stored` holds exactly
/// values.size() elements; std::logic_error otherwise.
void convert_elements(FileType type, std::span<const std::byte> stored, std::span<float> values);

}  // namespace equarx::tensors
