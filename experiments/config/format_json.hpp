// Number formats in configurations: a name, and overrides of its properties.
#pragma once

#include <string>
#include <string_view>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"

namespace equarx::config {

/// @throws InputError at `pointer`, listing all formats, if `name` is not one of them
void check_format_name(const std::string& name, const std::string& pointer);

/// True for a name that some collective takes as its `format`.
bool is_format_name(std::string_view name);

/// Reads a scaled format: `format` by name (int8 by default), with optional overrides `scale`,
/// `scale_rounding`, `layout`, `block` and `rounding`.
NamedBlockFormat read_scaled_format(input::ObjectReader& reader);

/// Reads a format without scales; the type of the `tensor` if `format` is absent. Element types of
/// scaled formats have names of their own here, like "int8-cast": each value is cast without a
/// scale, unless it already has that type. `has_quantized_twin`: errors may recommend a quantized
/// algorithm, and formats with scales.
NamedBlockFormat read_plain_format(input::ObjectReader& reader, numerics::ElementFormat tensor,
                                   bool has_quantized_twin);

/// The format in generated labels: "mxfp4"; "mxfp4, scales up" with another rounding of scales than
/// the default.
std::string format_label(const NamedBlockFormat& format);

/// The format's keys in a configuration.
input::Json format_json(const NamedBlockFormat& format);

/// Schema of an object with the format's keys, with annotations.
input::Json format_schema();

}  // namespace equarx::config
