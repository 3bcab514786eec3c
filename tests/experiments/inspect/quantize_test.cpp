#include "experiments/inspect/quantize.hpp"

#include <cmath>

#include "base/input/json.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/tensors/npy_writer.hpp"
#include "tests/catch.hpp"
#include "tests/models/numerics/codec/codecs.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::quantize_test {
namespace {

using equarx::testing::read_all;
using equarx::testing::TemporaryDirectory;
using testing::check_refused;

QuantizeOptions options_of(const std::string& text) {
  return read_quantize_options(input::parse_json(text));
}

std::vector<float> normal_values(std::size_t count) {
  std::vector<float> values(count);
  numerics::generate({}, 0, 0, values);
  return values;
}

tensors::TensorFile file_of(const TemporaryDirectory& directory, const std::vector<float>& values) {
  const auto path = directory.path() / "in.npy";
  const std::vector<std::uint64_t> shape = {values.size()};
  tensors::write_npy(path, shape, [&](std::uint64_t first, std::span<float> piece) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), piece.size(), piece.begin());
  });
  return tensors::TensorFile::open(path);
}

/// Independent implementation of int8 with an FP32 amax scale per group.
std::vector<float> int8_of(const std::vector<float>& values,
                           const std::function<std::size_t(std::size_t)>& group) {
  std::vector<float> amax;
  for (std::size_t i = 0; i < values.size(); ++i) {
    amax.resize(std::max(amax.size(), group(i) + 1));
    amax[group(i)] = std::max(amax[group(i)], std::abs(values[i]));
  }
  std::vector<float> decoded;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scale = amax[group(i)] / 127.0F;
    decoded.push_back(scale == 0.0F ? 0.0F : std::nearbyint(values[i] / scale) * scale);
  }
  return decoded;
}

void check_quantized(const std::vector<float>& values, const std::string& options,
                     const std::vector<float>& expected) {
  CAPTURE(values.size(), options);
  const TemporaryDirectory directory;
  const tensors::TensorFile file = file_of(directory, values);
  const auto output = directory.path() / "out.npy";
  const QuantizeReport report = quantize_file(file, options_of(options), output);
  const tensors::TensorFile written = tensors::TensorFile::open(output);
  CHECK(equarx::testing::shape_of(written) == report.shape);
  CHECK(read_all(written) == expected);
  double squares = 0.0;
  std::size_t finite = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(expected[i])) continue;
    squares += std::pow(double{expected[i]} - double{values[i]}, 2);
    ++finite;
  }
  CHECK(report.error.count == values.size());
  CHECK(report.error.nonfinite == values.size() - finite);
  CHECK(report.error.mse == Approx(squares / static_cast<double>(finite)).epsilon(1e-12));
  const QuantizeReport without = quantize_file(file, options_of(options), std::nullopt);
  CHECK(without.error.mse == report.error.mse);
  CHECK(without.counts == report.counts);
}

TEST_CASE("strided groups restart in each minishard, and the last one may be short") {
  for (const std::size_t count : {1U, 1023U, 1024U, 2048U, 2049U, 10000U}) {
    const auto group = [](std::size_t i) { return i / 2048 * 1024 + i % 1024; };
    const std::vector<float> values = normal_values(count);
    check_quantized(values, R"({"elements_per_scale": 2})", int8_of(values, group));
  }
}

TEST_CASE("contiguous blocks continue across pieces") {
  for (const std::size_t block : {1U, 7U, 32U, 1000000U})
    for (const std::size_t count : {1U, 31U, 131072U, 131074U, 300001U}) {
      const std::vector<float> values = normal_values(count);
      check_quantized(values, R"({"layout": "contiguous", "block": )" + std::to_string(block) + "}",
                      int8_of(values, [&](std::size_t i) { return i / block; }));
    }
}

TEST_CASE("the tensor scale covers the whole tensor, wherever its largest value is") {
  for (const std::size_t largest_at : {0U, 140000U, 300000U}) {
    std::vector<float> values = normal_values(300001);
    values[largest_at] = -3e5F;
    values[7] = std::numeric_limits<float>::infinity();  // ignored by the scale
    const QuantizeOptions options = options_of(R"({"format": "nvfp4"})");
    const TemporaryDirectory directory;
    const auto output = directory.path() / "out.npy";
    quantize_file(file_of(directory, values), options, output);
    const std::vector<float> written = read_all(tensors::TensorFile::open(output));
    // The oracle treats the whole tensor as one minishard.
    const std::vector<float> expected =
        numerics::run<numerics::ReferenceCodec>(options.format, values).values;
    CAPTURE(largest_at);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (written[i] != expected[i] && !(std::isnan(written[i]) && std::isnan(expected[i])))
        FAIL("element " << i << ": " << written[i] << ", not " << expected[i]);
  }
}

TEST_CASE("a format without scales is a cast") {
  const std::vector<float> values = {0.0F, 1.0F, 1.00390625F, -3.0F, 65536.0F};
  check_quantized(values, R"({"format": "fp32"})", values);
  check_quantized(values, R"({"format": "bf16"})", {0.0F, 1.0F, 1.0F, -3.0F, 65536.0F});
  check_quantized(values, R"({"format": "fp16"})",
                  {0.0F, 1.0F, 1.00390625F, -3.0F, std::numeric_limits<float>::infinity()});
}

TEST_CASE("bits per element include payload and scales") {
  const TemporaryDirectory directory;
  const tensors::TensorFile file = file_of(directory, normal_values(1 << 18));
  const std::vector<std::pair<std::string, double>> formats = {
      {R"({"format": "fp32"})", 32.0},
      {R"({"format": "bf16"})", 16.0},
      {R"({"format": "int8"})", 8.0 + 32.0 / 128},
      {R"({"format": "int8", "elements_per_scale": 32, "scale": "bf16"})", 8.5},
      {R"({"format": "int6"})", 6.25},
      {R"({"format": "int4"})", 4.25},
      {R"({"format": "fp8-e4m3fnuz"})", 8.25},
      {R"({"format": "mxfp8-e5m2"})", 8.25},
      {R"({"format": "mxfp6-e3m2"})", 6.25},
      {R"({"format": "mxfp4"})", 4.25},
      {R"({"format": "mxfp4", "block": 8})", 5.0},
      {R"({"format": "nvfp4"})", 4.5 + 32.0 / (1 << 18)},
      {R"({"format": "nvfp4-block"})", 4.5}};
  for (const auto& [options, bits] : formats) {
    CAPTURE(options);
    CHECK(quantize_file(file, options_of(options), std::nullopt).bits_per_element == bits);
  }
}

TEST_CASE("stochastic rounding is unbiased, has a larger error, and is reproducible") {
  const TemporaryDirectory directory;
  const tensors::TensorFile file = file_of(directory, normal_values(300000));
  for (const std::string format : {"int8", "fp8-e4m3", "fp8-e5m2", "mxfp8-e4m3"}) {
    CAPTURE(format);
    const auto report = [&](const std::string& rounding) {
      return quantize_file(
          file, options_of(R"({"format": ")" + format + R"(", "rounding": ")" + rounding + "\"}"),
          std::nullopt);
    };
    const double nearest = report("nearest").error.mse;
    const numerics::ErrorMetrics stochastic = report("stochastic").error;
    CHECK(stochastic.mse > 1.5 * nearest);
    CHECK(stochastic.mse < 2.5 * nearest);
    CHECK(std::abs(stochastic.mean_signed_error) < 5.0 * std::sqrt(stochastic.mse / 300000.0));
    CHECK(report("stochastic").error.mse == stochastic.mse);
  }
}

TEST_CASE("non-finite values are counted and leave the metrics finite") {
  std::vector<float> values = normal_values(4096);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[2048 + 9] = -std::numeric_limits<float>::infinity();
  const TemporaryDirectory directory;
  const auto output = directory.path() / "out.npy";
  const QuantizeReport report =
      quantize_file(file_of(directory, values), options_of(R"({"format": "mxfp8-e4m3"})"), output);
  CHECK(report.counts.non_finite == 64);
  CHECK(report.error.nonfinite == 64);
  CHECK(report.error.nonfinite_exact == 2);
  CHECK(report.error.sqnr_db > 25.0);
  const std::vector<float> decoded = read_all(tensors::TensorFile::open(output));
  for (std::size_t i = 0; i < decoded.size(); ++i)
    if (std::isnan(decoded[i]) != (i / 32 == 0 || i / 32 == 2057 / 32)) FAIL("element " << i);
  CHECK_THAT(to_table(report), ContainsSubstring("NaN or Inf") && ContainsSubstring("64"));
}

TEST_CASE("a tensor of zeros has no error") {
  const TemporaryDirectory directory;
  const tensors::TensorFile file = file_of(directory, std::vector<float>(1000));
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    CAPTURE(named.name);
    if (numerics::has_shared_scale(named.format)) continue;
    const QuantizeReport report = quantize_file(
        file, options_of(R"({"format": ")" + std::string(named.name) + "\"}"), std::nullopt);
    CHECK(report.error.mse == 0.0);
    CHECK(report.counts.flushed == 0);
  }
}

TEST_CASE("invalid and inapplicable options are refused") {
  const std::vector<std::vector<std::string>> mistakes = {
      {R"({"format": "int9"})", "/format", "did you mean"},
      {R"({"format": "fp8lm-e4m3"})", "/format", "`run` a collective with it"},
      {R"({"format": "bf16", "scale": "fp32"})", "/scale", "bf16 has no scales; remove it"},
      {R"({"format": "fp32", "layout": "strided"})", "/layout", "fp32 has no scales"},
      {R"({"format": "fp16", "block": 4})", "/block", "fp16 has no scales"},
      {R"({"format": "bf16", "elements_per_scale": 4})", "/elements_per_scale", "remove it"},
      {R"({"format": "mxfp4", "elements_per_scale": 4})", "/elements_per_scale",
       "has \"block\"; remove it"},
      {R"({"elements_per_scale": 0})", "/elements_per_scale", "from 1"},
      {R"({"elements_per_scale": "x"})", "/elements_per_scale", "expected an integer"},
      {R"({"block": 32})", "/block", "contiguous"},
      {R"({"layout": "contiguous"})", "/block", "is missing"},
      {R"({"layout": "contiguous", "block": 0})", "/block", "from 1"},
      {R"({"format": "bf16", "rounding": "stochastic"})", "/rounding", "use int8 or FP8"},
      {R"({"formt": "bf16"})", "/formt", "did you mean 'format'?"}};
  for (const auto& mistake : mistakes) {
    CAPTURE(mistake[0]);
    check_refused([&] { options_of(mistake[0]); }, mistake[1], mistake[2]);
  }
}

}  // namespace
}  // namespace equarx::inspect::quantize_test
