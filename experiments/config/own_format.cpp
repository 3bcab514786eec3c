#include "experiments/config/own_format.hpp"

#include <string>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/os/printable.hpp"
#include "experiments/config/tensor_json.hpp"

namespace equarx::config {
namespace {

constexpr std::string_view kCodec = "codec";

/// A number above 0, or from 0 if `with_zero`, up to `most`.
struct Limited {
  double most;
  bool with_zero = false;

  void read(input::ObjectReader& reader, std::string_view key, double& number) const {
    input::Number{}.read(reader, key, number);
    if (number <= most && (number > 0.0 || (with_zero && number == 0.0))) return;
    throw input::InputError(reader.pointer_to(key),
                            fmt::format("must be a number {} to {:g}, is {:g}",
                                        with_zero ? "from 0" : "above 0, up", most, number));
  }
  input::Json write(double number) const { return number; }
  input::Json schema() const {
    return {{"type", "number"}, {with_zero ? "minimum" : "exclusiveMinimum", 0}, {"maximum", most}};
  }
};

/// Printed in labels and tables.
struct Name {
  void read(input::ObjectReader& reader, std::string_view key, std::string& name) const {
    input::Text{}.read(reader, key, name);
    if (name.empty() || os::printable(name) != name)
      throw input::InputError(reader.pointer_to(key),
                              "must be a name without control characters, like \"block-fp8\"");
  }
  input::Json write(const std::string& name) const { return name; }
  input::Json schema() const { return {{"type", "string"}, {"minLength", 1}}; }
};

const input::Table<NamedBlockFormat>& codec_table() {
  constexpr double kMostBits = 64.0;
  constexpr double kMostOperations = 1e6;
  const auto own = [](auto member) { return input::in(&NamedBlockFormat::own, member); };
  static const input::Table<NamedBlockFormat> table{
      {"name", &NamedBlockFormat::name, Name{}, "name in labels and tables", input::kRequired},
      {"bits_per_element", own(&numerics::OwnCodes::bits_per_element), Limited{kMostBits},
       "bits on the wire per element, with everything that a message needs to be decoded",
       input::kRequired},
      {"block", &NamedBlockFormat::block, input::Integer{1, kMostElements},
       "elements that are coded together, from the beginning of each message",
       input::by_default("1")},
      {"encode_operations", own(&numerics::OwnCodes::encode_operations),
       Limited{kMostOperations, true}, "vector operations per element to encode",
       input::by_default("0")},
      {"decode_operations", own(&numerics::OwnCodes::decode_operations),
       Limited{kMostOperations, true}, "vector operations per element to decode",
       input::by_default("0")},
  };
  return table;
}

NamedBlockFormat unnamed() {
  return {"",
          {.element = numerics::ElementFormat::fp32,
           .scaled = true,
           .layout = numerics::ScaleLayout::contiguous,
           .block = 1,
           .rule = numerics::ScaleRule::own}};
}

}  // namespace

bool has_own_format(input::ObjectReader& reader) {
  return reader.has(kCodec) || (reader.has("format") && reader.text("format") == kOwnFormat);
}

NamedBlockFormat read_own_format(input::ObjectReader& reader) {
  if (!reader.has("format") || reader.text("format") != kOwnFormat)
    throw input::InputError(reader.pointer_to(kCodec),
                            R"(is for "format": "own"; add that, or remove it)");
  if (!reader.has(kCodec))
    throw input::InputError(
        reader.pointer_to("format"),
        R"('own' needs "codec": {"name": ..., "bits_per_element": ...}, which states its size)");
  for (const std::string_view key :
       {"scale", "scale_rounding", "layout", "block", "rounding", "mu"})
    reader.reject(key, R"(does not apply to "format": "own"; remove it)");
  NamedBlockFormat format = unnamed();
  input::ObjectReader codec = reader.object(kCodec);
  codec_table().read(codec, format);
  codec.finish();
  return format;
}

input::Json own_format_json(const NamedBlockFormat& format) {
  input::Json codec = input::Json::object();
  codec_table().write(format, codec);
  return {{"format", kOwnFormat}, {kCodec, codec}};
}

void check_has_values(const CollectiveConfig& collective, const std::string& pointer) {
  const auto is_own = [](const NamedBlockFormat& format) {
    return format.rule == numerics::ScaleRule::own;
  };
  if (is_own(collective.format) || (collective.between && is_own(*collective.between)))
    throw input::InputError(
        pointer,
        "'own' is coded by functions, which a configuration lacks; compute its time alone, with "
        "\"numerics\": \"off\", or its values by equarx.allreduce(..., format=codec)");
}

void check_have_values(const std::vector<CollectiveConfig>& collectives) {
  for (std::size_t i = 0; i < collectives.size(); ++i)
    check_has_values(collectives[i], fmt::format("/collectives/{}/format", i));
}

input::Json own_codec_schema() { return codec_table().schema(unnamed()); }

}  // namespace equarx::config
