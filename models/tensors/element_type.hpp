// Element types of tensor files and their conversion to float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace equarx::tensors {

/// Stored element type, little-endian.
enum class FileType : std::uint8_t {
  fp32,
  fp16,
  bf16,
  fp8_e4m3,  ///< OFP8 E4M3 ("E4M3FN"): largest 448, no Inf
  fp8_e5m2,  ///< OFP8 E5M2
  fp64,      ///< write-only, as the following types
  int8,
  uint8,
  int32,
  int64
};

/// Bytes of one stored element.
constexpr std::size_t element_bytes(FileType type) {
  switch (type) {
    case FileType::fp32: return 4;
    case FileType::fp16:
    case FileType::bf16: return 2;
    case FileType::fp8_e4m3:
    case FileType::fp8_e5m2:
    case FileType::int8:
    case FileType::uint8: return 1;
    case FileType::int32: return 4;
    case FileType::fp64:
    case FileType::int64: return 8;
  }
  throw std::logic_error("unknown type of a file's elements");
}

/// Converts stored elements (any alignment) to float. Throws std::logic_error unless `stored` holds
/// exactly values.size() elements, or if `type` is write-only.
void convert_elements(FileType type, std::span<const std::byte> stored, std::span<float> values);

}  // namespace equarx::tensors
