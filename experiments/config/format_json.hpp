// Number formats in configurations: a name, and what is changed of it.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// A format with scales: `format` by name (int8 by default), with `scale`, `layout`, `block` and `rounding`
/// of its own if they are given.
NamedBlockFormat read_scaled_format(input::ObjectReader& reader);

/// A format without scales; the type of the `tensor` if there is no `format`. Types that formats with scales are
/// made of have names of their own, like "int8-cast": each value is cast as it is, unless it is of that type.
/// `has_quantized_twin`: a quantized algorithm can be named to who asks for scales.
NamedBlockFormat read_plain_format(input::ObjectReader& reader, numerics::ElementFormat tensor,
                                   bool has_quantized_twin);

/// The keys that give the format again.
input::Json format_json(const NamedBlockFormat& format);

}  // namespace equarx::config
