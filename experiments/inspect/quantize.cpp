#include "experiments/inspect/quantize.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/format_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/output/table.hpp"
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

/// Goes through the tensor from its start to its end.
class Quantizer {
 public:
  Quantizer(const tensors::TensorFile& file, const QuantizeOptions& options)
      : file_(file), codec_(options.format), piece_(piece_elements(options)) {}

  /// The next dequantized values, as many as fit.
  void next(std::span<float> values) {
    while (!values.empty()) {
      if (taken_ == decoded_.size()) advance();
      const std::size_t count = std::min(values.size(), decoded_.size() - taken_);
      std::ranges::copy_n(decoded_.begin() + static_cast<std::ptrdiff_t>(taken_),
                          static_cast<std::ptrdiff_t>(count), values.begin());
      taken_ += count;
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
  /// Quantizes the next piece.
  void advance() {
    const BlockFormat& format = codec_.format();
    const std::size_t size = std::min(piece_, file_.elements() - at_);
    values_.resize(size);
    decoded_.resize(size);
    file_.read(at_, values_);
    absmax_.assign(numerics::scale_count(format, size), 0.0F);
    scales_.resize(absmax_.size());
    scale_bytes_.resize(format.scaled ? absmax_.size() * numerics::scale_bytes(format.scale) : 0);
    payload_.resize(numerics::payload_bytes(format, size));
    const numerics::RoundingKey key{.first_element = at_};
    if (format.scaled) {
      codec_.find_absmax(values_, 0, absmax_);
      codec_.encode_scales(absmax_, scale_bytes_);
      codec_.decode_scales(scale_bytes_, scales_);
      counts_ += codec_.count(values_, 0, scales_, key);
    }
    codec_.quantize(values_, 0, scales_, payload_, key);
    codec_.dequantize(payload_, 0, scales_, decoded_);
    error_.add(decoded_, std::span<const float>(values_));
    bytes_ += payload_.size() + scale_bytes_.size();
    at_ += size;
    taken_ = 0;
  }

  const tensors::TensorFile& file_;
  numerics::BlockCodec codec_;
  std::uint64_t piece_;
  std::uint64_t at_ = 0;
  std::size_t taken_ = 0;  // of decoded_
  std::uint64_t bytes_ = 0;
  std::vector<float> values_;
  std::vector<float> absmax_;
  std::vector<float> scales_;
  std::vector<float> decoded_;
  std::vector<std::byte> scale_bytes_;
  std::vector<std::byte> payload_;
  numerics::ErrorAccumulator error_;
  numerics::QuantizeCounts counts_;
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
      config::read_plain_format(reader, numerics::ElementFormat::fp32);
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
