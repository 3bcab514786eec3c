// Description of a number format on the wire: its name and its size in bytes. Kernels live
// elsewhere (models/numerics/codec): planning messages only needs sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace equarx::numerics {

/// Storage format of one element.
enum class ElementFormat : std::uint8_t {
  fp32,
  bf16,
  /// -127..127; formats of published systems also use -128, and likewise the lowest code of int6
  /// and int4.
  int8,
  fp8_e4m3,      ///< OFP8 E4M3: largest 448, no Inf
  fp8_e5m2,      ///< OFP8 E5M2: largest 57344
  fp8_e4m3fnuz,  ///< largest 240, no Inf, one NaN, no -0 (arXiv 2206.02915)
  fp8_e5m2fnuz,  ///< largest 57344, no Inf, one NaN, no -0
  fp16,          ///< IEEE 754 binary16
  int6,          ///< -31..31, four codes in three bytes
  int4,          ///< -7..7, two codes per byte
  fp6_e2m3,      ///< OCP MX: largest 7.5, four codes in three bytes
  fp6_e3m2,      ///< OCP MX: largest 28, four codes in three bytes
  fp4_e2m1,      ///< OCP MX: largest 6, two codes per byte
  mxint8,        ///< OCP MX INT8: -127..127 in units of 2^-6
  exp8           ///< sign and 7 exponent bits: +-2^-1 to +-2^-127, and 0; Global-QSGD only
};

/// Element types of tensors: types used by programs and stored without scales.
inline constexpr std::array kTensorFormats = {ElementFormat::fp32, ElementFormat::bf16,
                                              ElementFormat::fp16, ElementFormat::fp8_e4m3,
                                              ElementFormat::fp8_e5m2};

/// Storage format of the scale of a group of elements.
enum class ScaleFormat : std::uint8_t {
  fp32,
  bf16,
  e8m0,  ///< OCP MX: a power of two, 2^-127 to 2^127, or NaN
  e4m3,  ///< OFP8 E4M3, 2^-9 to 448, or NaN
  fp16   ///< QuickReduce only
};

/// Assignment of the elements of a minishard to scale groups.
enum class ScaleLayout : std::uint8_t {
  strided,  ///< element e belongs to group e mod 1024, the 8 x 128 lanes of a TPU vector register
  contiguous,  ///< element e belongs to group e / block
  /// Element e belongs to group 2 (e / (2 block)) + e mod 2, matching instructions on packed pairs;
  /// QuickReduce only.
  paired
};

/// Rounding of values between two codes.
enum class Rounding : std::uint8_t {
  nearest,    ///< to nearest, ties to even
  stochastic  ///< unbiased stochastic rounding; int8, FP8 and the SDP4Bit formats only
};

/// Choice of a power of two for the scale of a group; E8M0 scales of ScaleRule::amax only. Exact rules
/// and sources: models/numerics/codec/amax_scale.hpp.
enum class ScaleRounding : std::uint8_t {
  floor,  ///< OCP MX v1.0: exponent of amax minus exponent of the largest element; values may clip
  up,     ///< smallest power of two with amax / scale <= largest element; nothing clips
  even    ///< as floor, from amax rounded to the mantissa of the element; FP8, FP6 and FP4 only
};

/// Derivation of scales from values, and of codes from both; a file of models/numerics/codec each.
enum class ScaleRule : std::uint8_t {
  amax,         ///< in FP32 (models/numerics/codec/amax_scale.hpp)
  quickreduce,  ///< in FP16, as in QuickReduce (models/numerics/codec/quickreduce.hpp)
  // Reciprocal scales: the reciprocal of a factor applied to values
  // (models/numerics/codec/reciprocal_scale.hpp).
  zeropp,   ///< ZeRO++, on FP16 values (zeropp.hpp)
  sdp4bit,  ///< SDP4Bit, with stochastic rounding (sdp4bit.hpp)
  // One scale that all ranks agree on beforehand (models/numerics/codec/shared_scale.hpp).
  fp8lm,        ///< FP8-LM: a power of two times `mu` (fp8lm.hpp)
  global_qsgd,  ///< Global-QSGD, with headroom to add codes directly (global_qsgd.hpp)
  own           ///< functions of the user, with stated sizes and work (own_codec.hpp)
};

/// Elements per scale in QuickReduce.
inline constexpr std::size_t kQuickReduceBlock = 32;

/// Lanes of a TPU vector register, 8 sublanes x 128 lanes: the number of strided scale groups.
inline constexpr std::size_t kRegisterElements = 8 * 128;
/// Granularity of BlockFormat::columns: the longest vector of any processor.
inline constexpr std::size_t kFewestColumns = 64;

/// FP8-LM's factor on the shared scale (arXiv 2310.18313, section 2.1).
struct Mu {
  /// The factor as a function of the number of ranks N.
  enum class Of : std::uint8_t {
    root,          ///< 1 / sqrt(N), a constant in MS-AMP's code
    pre_scaling,   ///< 1 / N: terms are divided before the addition
    post_scaling,  ///< 1: the sum is divided
    value          ///< `value`, independent of N
  };
  Of of = Of::root;
  float value = 1.0F;  ///< > 0; used if `of` is Of::value

  bool operator==(const Mu&) const = default;
};

/// Sizes and work of ScaleRule::own, as its user states them.
struct OwnCodes {
  double bits_per_element = 0.0;   ///< of a payload with everything in it, above 0
  double encode_operations = 0.0;  ///< of the vector unit per element (vector_work.hpp)
  double decode_operations = 0.0;

  bool operator==(const OwnCodes&) const = default;
};

/// Wire format of a collective: an element format, and optionally scales.
struct BlockFormat {
  ElementFormat element = ElementFormat::bf16;
  /// True if it has dynamic amax scales; otherwise scale, layout and block are ignored.
  bool scaled = false;
  ScaleFormat scale = ScaleFormat::fp32;
  ScaleLayout layout = ScaleLayout::strided;
  std::size_t block = 0;  ///< elements per scale in the contiguous and paired layouts
  Rounding rounding = Rounding::nearest;
  /// Scales are relative to one FP32 scale per minishard, as in NVIDIA's NVFP4. E4M3 scales only,
  /// which have the range for it.
  bool tensor_scale = false;
  ScaleRule rule = ScaleRule::amax;
  /// For ScaleRule::fp8lm: share of the range that the codes of one rank may use, so that their sum
  /// stays in range; > 0.
  Mu mu = {};
  /// Other than floor requires E8M0 scales.
  ScaleRounding scale_rounding = ScaleRounding::floor;
  /// For ScaleRule::own, which is `scaled`, because it quantizes, with contiguous blocks. `block`
  /// elements from the beginning of a message form a block; `element` is fp32, the type of decoded
  /// values.
  OwnCodes own = {};
  /// Groups of the strided layout: a multiple of kFewestColumns. Fewer than a register for some columns
  /// of a minishard, gathered row by row: element e of these belongs to group e mod `columns`.
  std::size_t columns = kRegisterElements;

  bool operator==(const BlockFormat&) const = default;
};

/// Largest code of int8. Integer formats are symmetric: the lowest two's complement code is unused.
inline constexpr int kInt8LargestCode = 127;  ///< also of mxint8, in units of 2^-6
/// Largest code of int6.
inline constexpr int kInt6LargestCode = 31;
/// Largest code of int4.
inline constexpr int kInt4LargestCode = 7;

/// Bits of one stored element.
std::size_t element_bits(ElementFormat format);

/// Bytes of one stored scale.
std::size_t scale_bytes(ScaleFormat format);

/// Bytes of `elements` stored elements, rounded up to a whole byte. Every piece sent is packed
/// separately and starts at a byte boundary, so sizes do not add up over pieces.
std::uint64_t payload_bytes(const BlockFormat& format, std::uint64_t elements);

/// True if scales have messages of their own; those of ScaleRule::own are part of its payloads.
bool sends_scales(const BlockFormat& format);

/// Bytes per element of a payload; of int4, 0.5.
double element_bytes(const BlockFormat& format);

/// Number of scales of a minishard of `elements` elements. A strided minishard shorter than a
/// register has one group per element; the last contiguous block may be short. 0 for a format
/// that sends none.
std::uint64_t scale_count(const BlockFormat& format, std::uint64_t elements);

/// Bytes of `scales` scales of one minishard on the wire, including the preceding tensor scale if
/// any.
std::uint64_t scales_bytes(const BlockFormat& format, std::uint64_t scales);

/// Bytes of the FP32 tensor scale.
inline constexpr std::size_t kTensorScaleBytes = 4;

/// True if all ranks share one scale, so that codes can be added without it.
bool has_shared_scale(const BlockFormat& format);

/// True if codes are added by a stochastic rule on pairs of codes instead of as numbers; sums then
/// combine two terms at a time and need random bits.
bool adds_by_code(const BlockFormat& format);

/// True if values or sums are rounded by random bits, which a seed determines.
bool rounds_randomly(const BlockFormat& format);

/// Largest number of ranks whose codes can be added in a format with a shared scale: 127 for int8,
/// where the sum of more non-zero codes may overflow. FP8 saturates and exp8 has headroom for any
/// number of ranks, so these are unlimited.
std::uint32_t most_ranks(const BlockFormat& format);

/// True if both formats have scales with identical scale groups.
bool same_groups(const BlockFormat& first, const BlockFormat& second);

std::string_view name(ElementFormat format);
std::string_view name(ScaleFormat format);
std::string_view name(ScaleLayout layout);
std::string_view name(Rounding rounding);
std::string_view name(ScaleRounding rounding);

/// A predefined format and its name.
struct NamedFormat {
  std::string_view name;
  BlockFormat format;
};

/// Returns the predefined formats:
/// - fp32, bf16, fp16: no scales.
/// - int8, int6, int4, fp8-*: FP32 scales of strided groups.
/// - mx*: OCP Microscaling Formats (MX) Specification v1.0, blocks of 32 with E8M0 scales.
/// - nvfp4: FP4 E2M1 in blocks of 16 with E4M3 scales relative to an FP32 tensor scale (NVIDIA,
///   "Pretraining Large Language Models with NVFP4", arXiv 2509.25149).
/// - nvfp4-block: the same without the tensor scale; an amax above 6 x 448 clips, one below 6 x
///   2^-9 loses precision.
/// - quickreduce-*: wire formats of QuickReduce, an AllReduce for AMD GPUs; groups of 32 with
///   FP16 scales.
/// - zeropp-*, sdp4bit-*: wire formats of ZeRO++ and SDP4Bit; blocks of 2048 and 128 with FP32
///   scales.
/// - fp8lm-*, global-qsgd-*: wire formats of FP8-LM and Global-QSGD with one scale shared by all
///   ranks (has_shared_scale()); sent and added without scales.
std::span<const NamedFormat> named_formats();

}  // namespace equarx::numerics
