// The description of a number format on the wire: what it is called and how many bytes it takes.
// Kernels live elsewhere: whoever plans messages needs sizes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace equarx::numerics {

/// How one element is stored.
enum class ElementFormat : std::uint8_t { fp32, bf16, int8, fp8_e4m3, fp8_e5m2 };

/// How the scale of a group of elements is stored.
enum class ScaleFormat : std::uint8_t { fp32, bf16 };

/// Which elements of a minishard share a scale.
enum class ScaleLayout : std::uint8_t {
  strided,    ///< element e belongs to group e mod 1024, the 8 x 128 lanes of a TPU vector register
  contiguous  ///< element e belongs to group e / block
};

/// Lanes of a TPU vector register, 8 sublanes x 128 lanes: the number of strided scale groups.
inline constexpr std::size_t kRegisterElements = 8 * 128;

/// A number format as a collective uses it: elements, and scales if it has them.
struct BlockFormat {
  ElementFormat element = ElementFormat::bf16;
  bool scaled = false;  ///< dynamic abs-max scales; the three fields below count only then
  ScaleFormat scale = ScaleFormat::fp32;
  ScaleLayout layout = ScaleLayout::strided;
  std::size_t block = 0;  ///< elements per scale of the contiguous layout

  bool operator==(const BlockFormat&) const = default;
};

/// Bits of one stored element.
std::size_t element_bits(ElementFormat format);

/// Bytes of one stored scale.
std::size_t scale_bytes(ScaleFormat format);

/// Bytes of `elements` stored elements, rounded up to a whole byte.
std::size_t payload_bytes(const BlockFormat& format, std::size_t elements);

/// Scales of a minishard of `elements` elements. A strided minishard shorter than a register has
/// one group per element; the last contiguous block may be short. 0 for a format without scales.
std::size_t scale_count(const BlockFormat& format, std::size_t elements);

/// Whether both formats have scales, and for the same groups of elements.
bool same_groups(const BlockFormat& one, const BlockFormat& other);

std::string_view name(ElementFormat format);
std::string_view name(ScaleFormat format);
std::string_view name(ScaleLayout layout);

}  // namespace equarx::numerics
