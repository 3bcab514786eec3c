#include "experiments/config/format_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/config/tensor_json.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::config {
namespace {

using numerics::BlockFormat;
using numerics::ElementFormat;
using numerics::NamedFormat;
using numerics::Rounding;
using numerics::ScaleFormat;
using numerics::ScaleLayout;
using numerics::ScaleRounding;
using numerics::ScaleRule;

constexpr std::array kScaleFormats = {ScaleFormat::fp32, ScaleFormat::bf16, ScaleFormat::e8m0,
                                      ScaleFormat::e4m3};
constexpr std::array kLayouts = {ScaleLayout::strided, ScaleLayout::contiguous};
constexpr input::EnumNames<numerics::Mu::Of, 3> kMus({
    {numerics::Mu::Of::root, "root"},
    {numerics::Mu::Of::pre_scaling, "pre-scaling"},
    {numerics::Mu::Of::post_scaling, "post-scaling"},
});
constexpr std::array kScaleRoundings = {ScaleRounding::floor, ScaleRounding::up,
                                        ScaleRounding::even};
constexpr std::array kRoundings = {Rounding::nearest, Rounding::stochastic};

constexpr NamedFormat cast_to(std::string_view name, ElementFormat element) {
  return {name, {.element = element}};
}

/// Formats without scales. The suffix "-cast" avoids the names of scaled formats.
constexpr std::array kCasts = {cast_to("bf16", ElementFormat::bf16),
                               cast_to("fp32", ElementFormat::fp32),
                               cast_to("fp16", ElementFormat::fp16),
                               cast_to("fp8-e4m3-cast", ElementFormat::fp8_e4m3),
                               cast_to("fp8-e5m2-cast", ElementFormat::fp8_e5m2),
                               cast_to("fp8-e4m3fnuz-cast", ElementFormat::fp8_e4m3fnuz),
                               cast_to("fp8-e5m2fnuz-cast", ElementFormat::fp8_e5m2fnuz),
                               cast_to("int8-cast", ElementFormat::int8)};

/// kCasts, and formats with a scale shared by all ranks.
std::vector<NamedFormat> plain_formats() {
  std::vector<NamedFormat> formats(kCasts.begin(), kCasts.end());
  std::ranges::copy_if(
      numerics::named_formats(), std::back_inserter(formats),
      [](const NamedFormat& named) { return numerics::has_shared_scale(named.format); });
  return formats;
}

/// Explains formats that plain algorithms support and quantized ones do not, instead of listing
/// names.
NamedBlockFormat choose_scaled(input::ObjectReader& reader) {
  std::vector<std::string_view> names;
  const std::string wanted = reader.has("format") ? reader.text("format") : "int8";
  for (const numerics::NamedFormat& named : numerics::named_formats()) {
    if (named.format.scaled) names.push_back(named.name);
    if (named.name != wanted) continue;
    if (named.format.scaled) return {std::string(named.name), named.format};
    if (numerics::has_shared_scale(named.format))
      throw input::InputError(
          reader.pointer_to("format"),
          fmt::format(
              "'{}' has one scale for all ranks, and its codes are summed directly: use an "
              "algorithm like "
              "\"ring\" or \"torus\", without \"quantize\", \"scale\", \"layout\" and \"block\"",
              named.name));
    throw input::InputError(
        reader.pointer_to("format"),
        fmt::format("'{}' is not quantized; use \"algorithm\": \"ring\" for it, or a "
                    "format with scales, like \"int8\"",
                    named.name));
  }
  reader.choice("format", names);  // throws, listing the formats
  throw std::logic_error("an unknown format was accepted");
}

std::vector<std::string_view> plain_names() {
  std::vector<std::string_view> names;
  for (const NamedFormat& plain : plain_formats()) names.push_back(plain.name);
  return names;
}

/// Rejects a scaled format for a collective without scales.
void check_no_scales(input::ObjectReader& reader, bool has_quantized_twin) {
  const std::string wanted = reader.text("format");
  const auto named =
      std::ranges::find(numerics::named_formats(), wanted, &numerics::NamedFormat::name);
  if (named == numerics::named_formats().end() || !named->format.scaled) return;
  const auto cast = std::ranges::find(kCasts, wanted + "-cast", &NamedFormat::name);
  std::vector<std::string> remedies;
  if (has_quantized_twin) remedies.emplace_back("use \"algorithm\": \"equarx\"");
  if (cast != kCasts.end())
    remedies.push_back(fmt::format("\"{}\" casts each value without a scale", cast->name));
  if (remedies.empty())
    remedies.push_back(fmt::format("use one of {}", input::list_of(plain_names())));
  throw input::InputError(reader.pointer_to("format"),
                          fmt::format("'{}' has scales, and this collective has none; {}", wanted,
                                      fmt::join(remedies, ", or ")));
}

std::size_t read_block(input::ObjectReader& reader, const BlockFormat& format) {
  if (format.layout == ScaleLayout::contiguous) {
    if (format.block != 0 && !reader.has("block")) return format.block;
    return reader.integer("block", 1, kMostElements);
  }
  reader.reject("block",
                "applies to \"layout\": \"contiguous\" only; a strided minishard has 1024 groups");
  return 0;
}

/// Block scales below a tensor scale must be e4m3.
void check_tensor_scale(input::ObjectReader& reader, const NamedBlockFormat& format) {
  if (format.tensor_scale && format.scale != ScaleFormat::e4m3)
    throw input::InputError(
        reader.pointer_to("scale"),
        fmt::format("'{}' has e4m3 block scales below a tensor scale; remove it, or use "
                    "\"nvfp4-block\", which has no tensor scale",
                    format.name));
}

/// Published formats are fixed; with contiguous blocks, the block length is a parameter.
void check_as_published(input::ObjectReader& reader, const NamedBlockFormat& format) {
  const bool has_blocks = format.layout == ScaleLayout::contiguous;
  for (const std::string_view key : {"scale", "scale_rounding", "layout", "block", "rounding"})
    if (!has_blocks || key != "block")
      reader.reject(
          key, fmt::format("'{}' follows its published code, so {} can be chosen; "
                           "remove it",
                           format.name, has_blocks ? "only its \"block\"" : "nothing about it"));
}

/// Reads FP8-LM's factor mu: a keyword or a number.
numerics::Mu read_mu(input::ObjectReader& reader) {
  constexpr std::string_view kExpected =
      R"(a number above 0, "root", "pre-scaling" or "post-scaling")";
  if (!reader.has("mu")) return {};
  if (reader.required("mu", kExpected).is_string()) return {.of = reader.choice("mu", kMus)};
  const double mu = reader.number("mu", kExpected);
  const auto value = static_cast<float>(mu);
  if (!(value > 0.0F && std::isfinite(value)))
    throw input::InputError(reader.pointer_to("mu"),
                            fmt::format("must be {}, is {}", kExpected, mu));
  return {.of = numerics::Mu::Of::value, .value = value};
}

/// Formats with a scale shared by all ranks are fixed, except for FP8-LM's factor.
NamedBlockFormat read_shared_format(input::ObjectReader& reader, const NamedFormat& plain) {
  NamedBlockFormat format{std::string(plain.name), plain.format};
  check_as_published(reader, format);
  if (format.rule == ScaleRule::fp8lm) format.mu = read_mu(reader);
  return format;
}

/// Reports a combination that has no codec at the key that made it invalid.
void check_codec(input::ObjectReader& reader, std::string_view key,
                 const NamedBlockFormat& format) {
  try {
    const numerics::BlockCodec codec(format);
  } catch (const std::invalid_argument& error) {
    throw input::InputError(reader.pointer_to(key),
                            fmt::format("format '{}': {}", format.name, error.what()));
  }
}

bool has_e8m0_scales(const BlockFormat& format) {
  return format.scaled && format.scale == ScaleFormat::e8m0;
}

/// Reads the rounding of scales that are powers of two.
void read_scale_rounding(input::ObjectReader& reader, NamedBlockFormat& format) {
  if (!has_e8m0_scales(format))
    return reader.reject(
        "scale_rounding",
        fmt::format("is for e8m0 scales, and '{}' has {} scales here; use \"scale\": \"e8m0\" or "
                    "a format like \"mxfp8-e4m3\", or remove it",
                    format.name, numerics::name(format.scale)));
  format.scale_rounding =
      input::choose(reader, "scale_rounding", kScaleRoundings, format.scale_rounding);
  check_codec(reader, "scale_rounding", format);
}

/// Reads the rounding of elements.
void read_rounding(input::ObjectReader& reader, NamedBlockFormat& format) {
  format.rounding = input::choose(reader, "rounding", kRoundings, format.rounding);
  check_codec(reader, "rounding", format);
}

}  // namespace

void check_format_name(const std::string& name, const std::string& pointer) {
  const std::vector<std::string_view> plain = plain_names();
  std::vector<std::string_view> scaled;
  for (const NamedFormat& named : numerics::named_formats())
    if (named.format.scaled) scaled.push_back(named.name);
  std::vector<std::string_view> all = scaled;
  all.insert(all.end(), plain.begin(), plain.end());
  if (std::ranges::find(all, name) != all.end()) return;
  const auto meant = input::near(name, all);
  const std::string lists =
      fmt::format("with scales: {}; without: {}", input::list_of(scaled), input::list_of(plain));
  throw input::InputError(pointer,
                          fmt::format("'{}' is not known; {}", name,
                                      meant ? fmt::format("did you mean '{}'? ({})", *meant, lists)
                                            : fmt::format("use one {}", lists)));
}

bool is_format_name(std::string_view name) {
  const auto is_name = [&](const NamedFormat& format) { return format.name == name; };
  return std::ranges::any_of(kCasts, is_name) ||
         std::ranges::any_of(numerics::named_formats(), is_name);
}

NamedBlockFormat read_scaled_format(input::ObjectReader& reader) {
  if (has_own_format(reader)) return read_own_format(reader);
  NamedBlockFormat format = choose_scaled(reader);
  if (format.rule != ScaleRule::amax) {
    check_as_published(reader, format);
    if (format.layout == ScaleLayout::contiguous) format.block = read_block(reader, format);
    return format;
  }
  format.scale = input::choose(reader, "scale", kScaleFormats, format.scale);
  check_tensor_scale(reader, format);
  format.layout = input::choose(reader, "layout", kLayouts, format.layout);
  format.block = read_block(reader, format);
  read_scale_rounding(reader, format);
  read_rounding(reader, format);
  return format;
}

NamedBlockFormat read_plain_format(input::ObjectReader& reader, ElementFormat tensor,
                                   bool has_quantized_twin) {
  NamedBlockFormat format{std::string(numerics::name(tensor)), {.element = tensor}};
  if (reader.has("format") && reader.text("format") != format.name) {
    if (has_quantized_twin) check_format_name(reader.text("format"), reader.pointer_to("format"));
    check_no_scales(reader, has_quantized_twin);
    const NamedFormat plain = plain_formats()[reader.choice("format", plain_names())];
    if (numerics::has_shared_scale(plain.format)) return read_shared_format(reader, plain);
    format = {std::string(plain.name), plain.format};
  }
  read_rounding(reader, format);
  return format;
}

namespace {

input::Json mu_json(const numerics::Mu& mu) {
  if (mu.of == numerics::Mu::Of::value) return mu.value;
  return kMus[mu.of];
}

}  // namespace

std::string format_label(const NamedBlockFormat& format) {
  if (format.scale_rounding == ScaleRounding::floor) return format.name;
  return fmt::format("{}, scales {}", format.name, numerics::name(format.scale_rounding));
}

input::Json format_json(const NamedBlockFormat& format) {
  if (format.rule == ScaleRule::own) return own_format_json(format);
  input::Json json = {{"format", format.name}};
  if (format.rule == ScaleRule::fp8lm) json["mu"] = mu_json(format.mu);
  if (format.scaled && format.layout == ScaleLayout::contiguous) json["block"] = format.block;
  if (format.rule != ScaleRule::amax) return json;  // the name implies the rest
  if (format.scaled) {
    json["scale"] = numerics::name(format.scale);
    if (has_e8m0_scales(format)) json["scale_rounding"] = numerics::name(format.scale_rounding);
    json["layout"] = numerics::name(format.layout);
  }
  json["rounding"] = numerics::name(format.rounding);
  return json;
}

namespace {

/// All formats, with scales and without.
input::Json format_key_schema() {
  std::vector<std::string_view> names = plain_names();
  for (const NamedFormat& named : numerics::named_formats())
    if (named.format.scaled) names.push_back(named.name);
  names.push_back(kOwnFormat);
  return format_name_schema(names, "otherFormatName");
}

/// A keyword or a number.
input::Json mu_schema() {
  return {{"anyOf", {input::enum_schema(kMus.all()), input::Positive{}.schema()}}};
}

}  // namespace

input::Json format_schema() {
  using input::Elsewhere, input::Named;
  static const input::Table<input::ReadElsewhere> table{
      {"format", Elsewhere{format_key_schema},
       "number format on the wire: [supported formats](#formats)",
       input::otherwise("the tensor's type, as cast; for `equarx` int8")},
      {"codec", Elsewhere{own_codec_schema},
       R"(`"own"`: size and work of codes that functions of the user compute, like )"
       "[`equarx.Codec`](python.md#own-codecs); `name`, `bits_per_element`, `block` (1), "
       "`encode_operations` and `decode_operations` (0)"},
      {"mu", Elsewhere{mu_schema},
       R"(`fp8lm-e4m3`, `fp8lm-e5m2`: factor on the shared scale, a positive number or `"root"`, )"
       R"(`"pre-scaling"`, `"post-scaling"` ([numerics.md](numerics.md#shared-scales)))",
       input::by_default(R"("root")")},
      {"scale", Elsewhere{Named{kScaleFormats}},
       R"(scale type on the wire: `"fp32"`, `"bf16"`, `"e8m0"`, `"e4m3"`)",
       input::otherwise("by format")},
      {"scale_rounding", Elsewhere{Named{kScaleRoundings}},
       R"(`"e8m0"` scales: `"floor"`, `"up"` or `"even"` )"
       "([numerics.md](numerics.md#scales-that-are-powers-of-two))",
       input::by_default(R"("floor")")},
      {"layout", Elsewhere{Named{kLayouts}},
       R"(scale group of element e in a minishard: e mod 1024 (`"strided"`; a TPU vector register )"
       R"(is 8 x 128) or e / `block` (`"contiguous"`))",
       input::otherwise("by format")},
      {"block", Elsewhere{input::Integer{1, kMostElements}},
       "elements per scale of the contiguous layout", input::otherwise("by format")},
      {"rounding", Elsewhere{Named{kRoundings}}, R"(ties to even; `"stochastic"` for int8 and FP8)",
       input::by_default(R"("nearest")")},
  };
  return table.schema();
}

}  // namespace equarx::config
