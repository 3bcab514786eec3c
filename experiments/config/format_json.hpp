// Number formats in configurations: a name, and what is changed of it.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// A format with scales: `format` by name (int8 by default), with `scale`, `layout`, `block` and `rounding`
/// of its own if they are given.
NamedBlockFormat read_scaled_format(input::ObjectReader& reader);

/// A format without scales; `fallback` if there is no `format`.
NamedBlockFormat read_plain_format(input::ObjectReader& reader, numerics::ElementFormat fallback);

/// The keys that give the format again.
input::Json format_json(const NamedBlockFormat& format);

}  // namespace equarx::config
