#include "experiments/inspect/quantize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/format_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/inspect/piece_line.hpp"
#include "experiments/output/table.hpp"
#include "models/numerics/codec/aligned_vector.hpp"
#include "models/tensors/npy_writer.hpp"

namespace equarx::inspect {
namespace {

using numerics::BlockFormat;

/// Elements that are quantized together: whole scale groups.
std::uint64_t piece_elements(const QuantizeOptions& options) {
  constexpr std::uint64_t kAbout = 128 * numerics::kRegisterElements;
  const BlockFormat& format = options.format;
  if (!format.scaled) return kAbout;
  if (format.layout == numerics::ScaleLayout::strided)
    return std::uint64_t{options.elements_per_scale} * numerics::kRegisterElements;
  return format.block * std::max<std::uint64_t>(1, kAbout / format.block);
}

/// A piece of the tensor on its way through the format.
struct Piece {
  numerics::AlignedVector<float> values;
  numerics::AlignedVector<float> decoded;
  numerics::QuantizeCounts counts;
  std::uint64_t bytes = 0;  ///< of payload and scales

  numerics::AlignedVector<float> absmax;
  numerics::AlignedVector<float> scales;
  numerics::AlignedVector<std::byte> scale_bytes;
  numerics::AlignedVector<std::byte> payload;
};

/// Reads values [first, first + size) of the file, and finds the abs-max of their scale groups.
void read(const tensors::TensorFile& file, const numerics::BlockCodec& codec, std::uint64_t first,
          std::size_t size, Piece& piece) {
  piece.values.resize(size);
  file.read(first, piece.values);
  piece.absmax.assign(numerics::scale_count(codec.format(), size), 0.0F);
  codec.find_absmax(piece.values, 0, piece.absmax);
}

/// Quantizes what was read from element `first` on; `largest` is the largest finite abs-max of the tensor,
/// if the format has a scale of it.
void quantize(const numerics::BlockCodec& codec, std::uint64_t first, float largest, Piece& piece) {
  const BlockFormat& format = codec.format();
  const std::size_t size = piece.values.size();
  piece.decoded.resize(size);
  piece.scales.resize(piece.absmax.size());
  piece.scale_bytes.resize(format.scaled ? numerics::scales_bytes(format, piece.absmax.size()) : 0);
  piece.payload.resize(numerics::payload_bytes(format, size));
  piece.counts = {};
  const numerics::RoundingKey key{.first_element = first};
  if (format.scaled) {
    codec.encode_scales(piece.absmax, piece.scale_bytes, largest);
    codec.decode_scales(piece.scale_bytes, piece.scales);
    piece.counts = codec.count(piece.values, 0, piece.scales, key);
  }
  codec.quantize(piece.values, 0, piece.scales, piece.payload, key);
  codec.dequantize(piece.payload, 0, piece.scales, piece.decoded);
  piece.bytes = piece.payload.size() + piece.scale_bytes.size();
  if (format.tensor_scale)
    piece.bytes -= numerics::kTensorScaleBytes;  // the tensor's, not a piece's
}

/// One for each core, but no more than have work, and no more than one thread can add up the errors of
/// or than have room: pieces of the largest groups take gigabytes.
unsigned threads_for(std::uint64_t pieces, std::uint64_t piece) {
  constexpr std::uint64_t kKeepUp = 8;
  constexpr std::uint64_t kRoom = 256 << 20;
  const std::uint64_t bytes = piece * 2 * sizeof(float);
  const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::uint64_t most = std::min({cores, kKeepUp, pieces, kRoom / bytes});
  return static_cast<unsigned>(std::max<std::uint64_t>(1, most));
}

/// How a tensor is cut into pieces, and how many threads do them.
struct Cut {
  std::uint64_t elements;  ///< of the tensor
  std::uint64_t size;      ///< of a piece, but for the last
  unsigned threads;

  Cut(const tensors::TensorFile& file, const QuantizeOptions& options)
      : elements(file.elements()),
        size(std::min(piece_elements(options), std::max<std::uint64_t>(1, elements))),
        threads(threads_for(pieces(), size)) {}

  std::uint64_t pieces() const { return (elements + size - 1) / size; }
  std::uint64_t first(std::uint64_t piece) const { return piece * size; }
  std::size_t size_of(std::uint64_t piece) const { return std::min(size, elements - first(piece)); }
};

/// The largest finite abs-max of the tensor; 0 if its format has no scale of the whole tensor, which alone
/// must be known before the first piece is quantized.
float largest_absmax(const tensors::TensorFile& file, const numerics::BlockCodec& codec,
                     const Cut& cut) {
  if (!codec.format().tensor_scale) return 0.0F;
  std::vector<Piece> slots(PieceLine::slots(cut.threads));
  PieceLine line(cut.pieces(), cut.threads, [&](std::uint64_t piece, std::size_t slot) {
    read(file, codec, cut.first(piece), cut.size_of(piece), slots[slot]);
  });
  float largest = 0.0F;
  for (std::uint64_t piece = 0; piece < cut.pieces(); ++piece)
    for (const float absmax : slots[line.take()].absmax)
      if (std::isfinite(absmax)) largest = std::max(largest, absmax);
  return largest;
}

/// Goes through the tensor from its start to its end. Threads quantize the pieces; errors, which are sums
/// of floating-point numbers, are added up in the order of the tensor, so that no bit of them depends
/// on the threads.
class Quantizer {
 public:
  Quantizer(const tensors::TensorFile& file, const QuantizeOptions& options)
      : file_(file),
        codec_(options.format),
        cut_(file, options),
        largest_(largest_absmax(file, codec_, cut_)),
        bytes_(options.format.tensor_scale ? numerics::kTensorScaleBytes : 0),
        slots_(PieceLine::slots(cut_.threads)),
        line_(cut_.pieces(), cut_.threads, [this](std::uint64_t piece, std::size_t slot) {
          read(file_, codec_, cut_.first(piece), cut_.size_of(piece), slots_[slot]);
          quantize(codec_, cut_.first(piece), largest_, slots_[slot]);
        }) {}

  /// The next dequantized values, as many as fit.
  void next(std::span<float> values) {
    while (!values.empty()) {
      if (left_.empty()) advance();
      const std::size_t count = std::min(values.size(), left_.size());
      std::ranges::copy(left_.first(count), values.begin());
      left_ = left_.subspan(count);
      values = values.subspan(count);
    }
  }

  void run_to_end() {
    while (at_ < file_.elements()) advance();
  }

  QuantizeReport report() const {
    return {.shape = {file_.shape().begin(), file_.shape().end()},
            .error = error_.metrics(),
            .counts = counts_,
            .bits_per_element = 8.0 * static_cast<double>(bytes_) / static_cast<double>(at_)};
  }

 private:
  void advance() {
    const Piece& piece = slots_[line_.take()];
    error_.add(piece.decoded, std::span<const float>(piece.values));
    counts_ += piece.counts;
    bytes_ += piece.bytes;
    at_ += piece.values.size();
    left_ = piece.decoded;
  }

  const tensors::TensorFile& file_;
  const numerics::BlockCodec codec_;
  const Cut cut_;
  const float largest_;  ///< abs-max, see largest_absmax()
  std::uint64_t at_ = 0;
  std::span<const float> left_;  ///< of the piece that was taken: not yet given to next()
  std::uint64_t bytes_;          ///< of what was taken, and of a scale of the tensor
  numerics::ErrorAccumulator error_;
  numerics::QuantizeCounts counts_;
  std::vector<Piece> slots_;
  PieceLine line_;  ///< last: its threads end before what they use does
};

bool names_plain(input::ObjectReader& reader) {
  const std::string wanted = reader.has("format") ? reader.text("format") : "";
  return std::ranges::any_of(numerics::named_formats(), [&](const numerics::NamedFormat& named) {
    return named.name == wanted && !named.format.scaled;
  });
}

/// Options that say nothing about the format are mistakes.
void refuse(input::ObjectReader& reader, std::span<const std::string_view> keys,
            std::string_view why) {
  for (const std::string_view key : keys)
    if (reader.has(key))
      throw input::InputError(reader.place_of(key), fmt::format("{}; remove it", why));
}

config::NamedBlockFormat read_plain(input::ObjectReader& reader) {
  constexpr std::array<std::string_view, 4> kOfScales = {"scale", "layout", "block",
                                                         "elements_per_scale"};
  config::NamedBlockFormat format =
      config::read_plain_format(reader, numerics::ElementFormat::fp32, false);
  refuse(reader, kOfScales, fmt::format("{} has no scales", format.name));
  return format;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "0 %"
                    : fmt::format("{:.3g} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

QuantizeOptions read_quantize_options(const input::Json& json) {
  constexpr std::uint64_t kMost = 1 << 20;
  constexpr std::array<std::string_view, 1> kOfStrided = {"elements_per_scale"};
  input::ObjectReader reader(json, "");
  QuantizeOptions options;
  const config::NamedBlockFormat format =
      names_plain(reader) ? read_plain(reader) : config::read_scaled_format(reader);
  options.format = format;
  if (format.layout == numerics::ScaleLayout::contiguous)
    refuse(reader, kOfStrided, "is for the strided layout; a contiguous one has \"block\"");
  if (reader.has("elements_per_scale"))
    options.elements_per_scale =
        static_cast<std::uint32_t>(reader.integer("elements_per_scale", 1, kMost));
  reader.finish();
  return options;
}

QuantizeReport quantize_file(const tensors::TensorFile& file, const QuantizeOptions& options,
                             const std::optional<std::filesystem::path>& output) {
  Quantizer quantizer(file, options);
  if (output)
    tensors::write_npy(*output, file.shape(),
                       [&](std::uint64_t, std::span<float> values) { quantizer.next(values); });
  quantizer.run_to_end();
  return quantizer.report();
}

std::string to_table(const QuantizeReport& report) {
  const numerics::ErrorMetrics& error = report.error;
  const std::vector<output::TableRow> rows = {
      {"elements", fmt::format("{} ({})", error.count, fmt::join(report.shape, " x "))},
      {"bits per element", fmt::format("{:.4g}", report.bits_per_element)},
      {"MSE", fmt::format("{:.4g}", error.mse)},
      {"NMSE", fmt::format("{:.4g}", error.nmse)},
      {"SQNR", fmt::format("{:.2f} dB", error.sqnr_db)},
      {"largest error", fmt::format("{:.4g}", error.max_abs_error)},
      {"bias (mean error)", fmt::format("{:.4g}", error.mean_signed_error)},
      {"cosine similarity", fmt::format("{:.8f}", error.cosine_similarity)},
      {"clipped", percent(report.counts.clipped, report.counts.elements)},
      {"flushed to zero", percent(report.counts.flushed, report.counts.elements)},
      {"NaN or Inf", fmt::format("{}", report.counts.non_finite)}};
  return output::aligned_table(rows);
}

}  // namespace equarx::inspect
