// The description of a number format on the wire: what it is called and how many bytes it takes.
// Kernels live elsewhere: whoever plans messages needs sizes only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace equarx::numerics {

/// How one element is stored.
enum class ElementFormat : std::uint8_t {
  fp32,
  bf16,
  int8,  ///< -127..127; of formats that somebody published also -128, as int6 and int4 have one more below
  fp8_e4m3,      ///< OFP8 E4M3: largest 448, no Inf
  fp8_e5m2,      ///< OFP8 E5M2: largest 57344
  fp8_e4m3fnuz,  ///< largest 240, no Inf, one NaN, no -0 (arXiv 2206.02915)
  fp8_e5m2fnuz,  ///< largest 57344, no Inf, one NaN, no -0
  fp16,          ///< IEEE 754 binary16
  int6,          ///< -31..31, four to three bytes
  int4,          ///< -7..7, two to a byte
  fp6_e2m3,      ///< OCP MX: largest 7.5, four to three bytes
  fp6_e3m2,      ///< OCP MX: largest 28, four to three bytes
  fp4_e2m1,      ///< OCP MX: largest 6, two to a byte
  mxint8,        ///< OCP MX INT8: -127..127 in units of 2^-6
  exp8           ///< a sign and 7 bits of exponent: +-2^-1 to +-2^-127, and 0; of Global-QSGD only
};

/// What tensors may be of: types that programs have, and that are stored without scales.
inline constexpr std::array kTensorFormats = {ElementFormat::fp32, ElementFormat::bf16,
                                              ElementFormat::fp16, ElementFormat::fp8_e4m3,
                                              ElementFormat::fp8_e5m2};

/// How the scale of a group of elements is stored.
enum class ScaleFormat : std::uint8_t {
  fp32,
  bf16,
  e8m0,  ///< OCP MX: a power of two, 2^-127 to 2^127, or NaN
  e4m3,  ///< OFP8 E4M3, 2^-9 to 448, or NaN
  fp16   ///< of QuickReduce only
};

/// Which elements of a minishard share a scale.
enum class ScaleLayout : std::uint8_t {
  strided,  ///< element e belongs to group e mod 1024, the 8 x 128 lanes of a TPU vector register
  contiguous,  ///< element e belongs to group e / block
  paired  ///< element e belongs to group 2 (e / (2 block)) + e mod 2, as where instructions take values in pairs;
          ///< QuickReduce only
};

/// How a value between two codes becomes one of them.
enum class Rounding : std::uint8_t {
  nearest,  ///< the nearer one, ties to the even one
  stochastic  ///< either, with the probabilities that make the mean right; int8, FP8 and what SDP4Bit has
};

/// How scales follow from values, and codes from both.
enum class ScaleRule : std::uint8_t {
  amax,      ///< in FP32, as BlockCodec says
  quickreduce,  ///< in FP16, as QuickReduce does it (models/numerics/codec/quickreduce.hpp)
  // The reciprocal of a factor on values (models/numerics/codec/reciprocal_scale.hpp):
  zeropp,   ///< ZeRO++'s, between FP16
  sdp4bit,  ///< SDP4Bit's, rounded stochastically
  // One scale, which all ranks agree on before (models/numerics/codec/shared_scale.hpp):
  fp8lm,       ///< FP8-LM's, a power of two times `mu`
  global_qsgd  ///< Global-QSGD's, with so much headroom that codes can be added as they are
};

/// Elements that share a scale in QuickReduce.
inline constexpr std::size_t kQuickReduceBlock = 32;

/// Lanes of a TPU vector register, 8 sublanes x 128 lanes: the number of strided scale groups.
inline constexpr std::size_t kRegisterElements = 8 * 128;

/// FP8-LM's factor on the shared scale (arXiv 2310.18313, section 2.1).
struct Mu {
  /// What it is of N ranks.
  enum class Of : std::uint8_t {
    root,          ///< 1 / sqrt(N), a constant in MS-AMP's code
    pre_scaling,   ///< 1 / N: terms are divided before they are added
    post_scaling,  ///< 1: the sum is divided
    value          ///< `value`, whatever N is
  };
  Of of = Of::root;
  float value = 1.0F;  ///< above 0, of Of::value

  bool operator==(const Mu&) const = default;
};

/// A number format as a collective uses it: elements, and scales if it has them.
struct BlockFormat {
  ElementFormat element = ElementFormat::bf16;
  bool scaled = false;  ///< dynamic amax scales; scale, layout and block count only then
  ScaleFormat scale = ScaleFormat::fp32;
  ScaleLayout layout = ScaleLayout::strided;
  std::size_t block = 0;  ///< elements per scale of the contiguous and the paired layout
  Rounding rounding = Rounding::nearest;
  /// Scales are in units of an FP32 scale of all that they are sent for, one minishard: NVIDIA's NVFP4. Of
  /// E4M3 scales only, which have the range for it.
  bool tensor_scale = false;
  ScaleRule rule = ScaleRule::amax;
  /// Of ScaleRule::fp8lm: how much of the range a rank's codes may take, so that their sum stays in it; above 0.
  Mu mu = {};

  bool operator==(const BlockFormat&) const = default;
};

/// Largest code of the integers: they are symmetric, so the lowest code of two's complement is not used.
inline constexpr int kInt8LargestCode = 127;  ///< of mxint8 too, in units of 2^-6
/// Largest code of int6.
inline constexpr int kInt6LargestCode = 31;
/// Largest code of int4.
inline constexpr int kInt4LargestCode = 7;

/// Bits of one stored element.
std::size_t element_bits(ElementFormat format);

/// Bytes of one stored scale.
std::size_t scale_bytes(ScaleFormat format);

/// Bytes of `elements` stored elements, rounded up to a whole byte. What is sent at once is packed on
/// its own, from its first byte on: the bytes of two pieces are not those of both together.
std::size_t payload_bytes(const BlockFormat& format, std::size_t elements);

/// Scales of a minishard of `elements` elements. A strided minishard shorter than a register has
/// one group per element; the last contiguous block may be short. 0 for a format without scales.
std::size_t scale_count(const BlockFormat& format, std::size_t elements);

/// Bytes of `scales` scales of one minishard as they are sent, behind that of the tensor if there is one.
std::size_t scales_bytes(const BlockFormat& format, std::size_t scales);

/// Bytes of an FP32 scale of the tensor.
inline constexpr std::size_t kTensorScaleBytes = 4;

/// Whether codes are multiples of one scale that all ranks have in common, and so can be added without it.
bool has_shared_scale(const BlockFormat& format);

/// Whether two codes make one by a rule of their own, which needs random bits, and not as numbers: so sums are of two
/// terms at a time.
bool adds_by_code(const BlockFormat& format);

/// Most ranks whose codes a format with a shared scale can add: of integers 127, since codes of one of more ranks do
/// not fit into an int8 together. FP8 saturates, and exp8 has headroom for any number, so they have no limit.
std::uint32_t most_ranks(const BlockFormat& format);

/// Whether both formats have scales, and for the same groups of elements.
bool same_groups(const BlockFormat& one, const BlockFormat& other);

std::string_view name(ElementFormat format);
std::string_view name(ScaleFormat format);
std::string_view name(ScaleLayout layout);
std::string_view name(Rounding rounding);

/// A format that is known by one word.
struct NamedFormat {
  std::string_view name;
  BlockFormat format;
};

/// All of them. fp32, bf16, fp16 have no scales; int8, int6, int4 and those that begin with fp8 have FP32
/// scales of strided groups; those that begin with mx are of the OCP Microscaling Formats (MX)
/// Specification v1.0, blocks of 32 with E8M0 scales; nvfp4 is FP4 E2M1 in blocks of 16 with E4M3 scales
/// below an FP32 scale of the tensor (NVIDIA, "Pretraining Large Language Models with NVFP4", arXiv
/// 2509.25149); nvfp4-block is the same without the tensor's: amax beyond 6 x 448 clips, and below
/// 6 x 2^-9 loses precision.
///
/// Those that begin with quickreduce are what an AllReduce of that name for AMD's GPUs sends, in groups of 32 with FP16
/// scales; those that begin with zeropp and sdp4bit what ZeRO++ and SDP4Bit send, in blocks of 2048 and 128 with FP32
/// scales. Who looks for a good format has more choice without them.
///
/// fp8lm-e4m3, fp8lm-e5m2, global-qsgd-int8 and global-qsgd-exp8 have one scale that all ranks agree on before
/// (has_shared_scale()): what FP8-LM and Global-QSGD send. They are sent and added without scales.
std::span<const NamedFormat> named_formats();

}  // namespace equarx::numerics
