#include "experiments/config/parameter_json.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {
namespace {

using hardware::Parameter;
using hardware::ParameterInfo;
using hardware::ParameterKind;
using hardware::Provenance;

constexpr std::array kProvenances = {Provenance::datasheet, Provenance::measured,
                                     Provenance::calibrated, Provenance::assumed};

double read_number(const input::Json& value, const std::string& pointer,
                   const ParameterInfo& info) {
  switch (info.kind) {
    case ParameterKind::quantity: return input::read_quantity(value, pointer, info.dimension);
    case ParameterKind::ratio: return input::read_share(value, pointer);
    case ParameterKind::count:
      return static_cast<double>(input::read_integer(value, pointer, 1, kMostCount));
  }
  throw std::logic_error("unknown kind of parameter");
}

std::string expected_value(const ParameterInfo& info) {
  switch (info.kind) {
    case ParameterKind::quantity: return input::expected_quantity(info.dimension);
    case ParameterKind::ratio: return std::string(input::kExpectedShare);
    case ParameterKind::count: return "an integer";
  }
  throw std::logic_error("unknown kind of parameter");
}

input::Json number_json(const ParameterInfo& info, double value) {
  switch (info.kind) {
    case ParameterKind::quantity: return format_value(info, value);
    case ParameterKind::ratio: return value;
    case ParameterKind::count: return static_cast<std::uint64_t>(value);
  }
  throw std::logic_error("unknown kind of parameter");
}

hardware::ParameterRange read_range(const input::Json& ends, const std::string& pointer,
                                    const ParameterInfo& info, double value) {
  if (!ends.is_array() || ends.size() != 2)
    throw input::InputError(pointer,
                            fmt::format("expected the lowest and the highest plausible value, like "
                                        "[{0}, {0}]",
                                        number_json(info, value).dump()));
  const hardware::ParameterRange range{
      .low = read_parameter_value(ends[0], input::pointer(pointer, 0), info),
      .high = read_parameter_value(ends[1], input::pointer(pointer, 1), info)};
  if (range.low >= range.high)
    throw input::InputError(pointer,
                            "the first value is not below the second; write the lowest first");
  if (value < range.low || value > range.high)
    throw input::InputError(pointer,
                            fmt::format("the value, {}, is not within it; widen the range, "
                                        "or leave it out",
                                        format_value(info, value)));
  return range;
}

double read_standard_error(const input::Json& value, const std::string& pointer,
                           const ParameterInfo& info, Provenance provenance) {
  if (info.kind == ParameterKind::count)
    throw input::InputError(pointer, "a count has no standard error; give a range");
  if (provenance != Provenance::measured && provenance != Provenance::calibrated)
    throw input::InputError(pointer,
                            fmt::format("only a measured or calibrated value has a standard "
                                        "error, and this one is '{}'; give a range",
                                        name(provenance)));
  // The error of a share may be below the smallest share.
  const bool is_of_share = info.kind == ParameterKind::ratio && value.is_number();
  const double error = is_of_share ? value.get<double>() : read_number(value, pointer, info);
  if (error <= 0.0) throw input::InputError(pointer, "must be above 0; omit it if it is unknown");
  if (is_of_share && error > 1.0)
    throw input::InputError(
        pointer, fmt::format("{} is above 1, the largest error of a share", value.dump()));
  return error;
}

}  // namespace

const ParameterInfo& read_parameter_key(const input::Json& value, const std::string& pointer) {
  const std::string key = value.is_string() ? value.get<std::string>() : value.dump();
  if (const ParameterInfo* info = hardware::find_parameter(key)) return *info;
  std::vector<std::string_view> keys;
  for (const ParameterInfo& known : hardware::parameters()) keys.push_back(known.key);
  throw input::InputError(
      pointer, fmt::format("'{}' is not a parameter; {}", key, input::remedy(key, keys)));
}

double read_parameter_value(const input::Json& value, const std::string& pointer,
                            const ParameterInfo& info) {
  const double number = read_number(value, pointer, info);
  if (number < 0.0 || (number == 0.0 && !info.may_be_zero))
    throw input::InputError(
        pointer,
        fmt::format("{} must {}", info.key, info.may_be_zero ? "not be negative" : "be above 0"));
  if (info.kind == ParameterKind::quantity) input::check_magnitude(number, pointer, info.dimension);
  return number;
}

void ProvenanceName::read(input::ObjectReader& reader, std::string_view key,
                          Provenance& provenance) const {
  input::Named{kProvenances}.read(reader, key, provenance);
}

input::Json ProvenanceName::write(Provenance provenance) const { return name(provenance); }

input::Json ProvenanceName::schema() const { return input::Named{kProvenances}.schema(); }

hardware::Parameter read_parameter(input::ObjectReader reader, const ParameterInfo& info) {
  Parameter parameter;
  parameter.value = read_parameter_value(reader.required("value", expected_value(info)),
                                         reader.pointer_to("value"), info);
  ProvenanceName{}.read(reader, "class", parameter.provenance);
  parameter.source = reader.text("source");
  if (reader.has("range"))
    parameter.range = read_range(reader.required("range", "two values"), reader.pointer_to("range"),
                                 info, parameter.value);
  if (reader.has("standard_error"))
    parameter.standard_error =
        read_standard_error(reader.required("standard_error", expected_value(info)),
                            reader.pointer_to("standard_error"), info, parameter.provenance);
  reader.finish();
  return parameter;
}

input::Json parameter_json(const ParameterInfo& info, const Parameter& parameter) {
  input::Json json = {{"value", number_json(info, parameter.value)}};
  if (parameter.standard_error)
    json["standard_error"] = number_json(info, *parameter.standard_error);
  if (parameter.range)
    json["range"] = {number_json(info, parameter.range->low),
                     number_json(info, parameter.range->high)};
  json["class"] = name(parameter.provenance);
  json["source"] = parameter.source;
  return json;
}

namespace {

/// Schema of a number of this kind in a file.
input::Json number_schema(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::quantity: return {{"type", "string"}};
    case ParameterKind::ratio: return input::Share{}.schema();
    case ParameterKind::count: return input::Integer{1, kMostCount}.schema();
  }
  throw std::logic_error("unknown kind of parameter");
}

std::string_view kind_name(ParameterKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"quantity", "ratio", "count"};
  return kNames[static_cast<std::size_t>(kind)];
}

input::Json standard_error_schema(ParameterKind kind) {
  if (kind == ParameterKind::quantity) return number_schema(kind);
  return {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}};
}

input::Json range_schema(ParameterKind kind) {
  return {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", number_schema(kind)}};
}

}  // namespace

input::Json parameter_schema(ParameterKind kind) {
  using input::Elsewhere;
  const input::Table<input::ReadElsewhere> table{
      {{"value", Elsewhere{[=] { return number_schema(kind); }},
        "with its unit, like `\"45 GB/s\"`, or a plain number", input::kRequired},
       {"class", Elsewhere{ProvenanceName{}},
        "`datasheet`, `measured`, `calibrated` (fitted) or `assumed`", input::kRequired},
       {"source", Elsewhere{input::Text{}},
        "origin of the value; the observation if fitted, the reasoning if assumed",
        input::kRequired},
       {"standard_error", Elsewhere{[=] { return standard_error_schema(kind); }},
        "of a `measured` or `calibrated` value, in its unit"},
       {"range", Elsewhere{[=] { return range_schema(kind); }},
        "lowest and highest plausible value, like `[\"5 ns\", \"20 ns\"]`, uniformly distributed"}},
      {.definition = kind_name(kind)}};
  input::Json schema = table.schema();
  if (kind == ParameterKind::count) schema["properties"].erase("standard_error");
  return schema;
}

input::Json changed_parameter_schema(ParameterKind kind) {
  input::Json schema = input::one_of({number_schema(kind), parameter_schema(kind)});
  schema[std::string(input::kDefinition)] = fmt::format("changed_{}", kind_name(kind));
  return schema;
}

}  // namespace equarx::config
