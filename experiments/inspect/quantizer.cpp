#include "experiments/inspect/quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/os/threads.hpp"

namespace equarx::inspect {
namespace {

using numerics::BlockFormat;

/// Elements per piece: whole scale groups.
std::uint64_t piece_elements(const QuantizeOptions& options) {
  constexpr std::uint64_t kAbout = 128 * numerics::kRegisterElements;
  const BlockFormat& format = options.format;
  if (!format.scaled) return kAbout;
  if (format.layout == numerics::ScaleLayout::strided)
    return std::uint64_t{options.elements_per_scale} * numerics::kRegisterElements;
  return format.block * std::max<std::uint64_t>(1, kAbout / format.block);
}

/// Reads values [first, first + size) of the tensor and computes the amax of their scale groups.
void read(const Values& tensor, const numerics::BlockCodec& codec, std::uint64_t first,
          std::size_t size, Piece& piece) {
  piece.values.resize(size);
  tensor.read(first, piece.values);
  piece.amax.assign(numerics::scale_count(codec.format(), size), 0.0F);
  codec.find_amax(piece.values, 0, piece.amax);
}

/// Quantizes a piece that starts at element `first`; `largest` is the largest finite amax of the
/// tensor, if the format has a tensor scale.
void quantize(const numerics::BlockCodec& codec, std::uint64_t first, float largest, Piece& piece) {
  const BlockFormat& format = codec.format();
  const std::size_t size = piece.values.size();
  piece.decoded.resize(size);
  piece.scales.resize(piece.amax.size());
  piece.scale_bytes.resize(format.scaled ? numerics::scales_bytes(format, piece.amax.size()) : 0);
  piece.payload.resize(numerics::payload_bytes(format, size));
  piece.counts = {};
  const numerics::RoundingKey key{.first_element = first};
  if (format.scaled) {
    codec.encode_scales(piece.amax, piece.scale_bytes, largest);
    codec.decode_scales(piece.scale_bytes, piece.scales);
    piece.counts = codec.count(piece.values, 0, piece.scales, key);
  }
  codec.quantize(piece.values, 0, piece.scales, piece.payload, key);
  codec.dequantize(piece.payload, 0, piece.scales, piece.decoded);
  piece.bytes = piece.payload.size() + piece.scale_bytes.size();
  if (format.tensor_scale) piece.bytes -= numerics::kTensorScaleBytes;  // belongs to the tensor
}

/// One per core, limited by the pieces, by the rate at which one thread accumulates errors, and by
/// memory: pieces of the largest groups take gigabytes.
unsigned threads_for(std::uint64_t pieces, std::uint64_t piece) {
  constexpr std::uint64_t kKeepUp = 8;
  constexpr std::uint64_t kMostBytes = 256 << 20;
  const std::uint64_t bytes = piece * 2 * sizeof(float);
  const std::uint64_t cores = os::default_threads();
  const std::uint64_t most = std::min({cores, kKeepUp, pieces, kMostBytes / bytes});
  return static_cast<unsigned>(std::max<std::uint64_t>(1, most));
}

/// Largest finite amax of the tensor, needed before the first piece is quantized; 0 for formats
/// without a tensor scale.
float largest_amax(const Values& tensor, const numerics::BlockCodec& codec, const PieceCut& cut) {
  if (!codec.format().tensor_scale) return 0.0F;
  std::vector<Piece> slots(PieceLine::slots(cut.threads));
  PieceLine line(cut.pieces(), cut.threads, [&](std::uint64_t piece, std::size_t slot) {
    read(tensor, codec, cut.first(piece), cut.size_of(piece), slots[slot]);
  });
  float largest = 0.0F;
  for (std::uint64_t piece = 0; piece < cut.pieces(); ++piece)
    for (const float amax : slots[line.take()].amax)
      if (std::isfinite(amax)) largest = std::max(largest, amax);
  return largest;
}

}  // namespace

PieceCut::PieceCut(std::uint64_t elements_, const QuantizeOptions& options)
    : elements(elements_),
      size(std::min(piece_elements(options), std::max<std::uint64_t>(1, elements_))),
      threads(threads_for(pieces(), size)) {}

std::size_t PieceCut::size_of(std::uint64_t piece) const {
  return std::min(size, elements - first(piece));
}

Quantizer::Quantizer(Values values, const QuantizeOptions& options)
    : values_(std::move(values)),
      codec_(options.format),
      cut_(values_.elements, options),
      largest_(largest_amax(values_, codec_, cut_)),
      bytes_(options.format.tensor_scale ? numerics::kTensorScaleBytes : 0),
      slots_(PieceLine::slots(cut_.threads)),
      line_(cut_.pieces(), cut_.threads, [this](std::uint64_t piece, std::size_t slot) {
        read(values_, codec_, cut_.first(piece), cut_.size_of(piece), slots_[slot]);
        quantize(codec_, cut_.first(piece), largest_, slots_[slot]);
      }) {}

const Piece& Quantizer::advance() {
  const Piece& piece = slots_[line_.take()];
  error_.add(piece.decoded, std::span<const float>(piece.values));
  counts_ += piece.counts;
  bytes_ += piece.bytes;
  at_ += piece.values.size();
  left_ = piece.decoded;
  return piece;
}

void Quantizer::next(std::span<float> values) {
  while (!values.empty()) {
    if (left_.empty()) advance();
    const std::size_t count = std::min(values.size(), left_.size());
    std::ranges::copy(left_.first(count), values.begin());
    left_ = left_.subspan(count);
    values = values.subspan(count);
  }
}

QuantizeReport Quantizer::report() const {
  return {.shape = {},
          .error = error_.metrics(),
          .counts = counts_,
          .bits_per_element = 8.0 * static_cast<double>(bytes_) / static_cast<double>(at_)};
}

}  // namespace equarx::inspect
