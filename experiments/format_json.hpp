// Number formats in configurations: a name, and what is changed of it.
#pragma once

#include "experiments/config.hpp"
#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// A format with scales: `format` by name (int8 by default), with `scale`, `layout`, `block` and `rounding`
/// of its own if they are given.
NamedBlockFormat read_scaled_format(ObjectReader& reader);

/// A format without scales; `fallback` if there is no `format`.
NamedBlockFormat read_plain_format(ObjectReader& reader, numerics::ElementFormat fallback);

/// The keys that give the format again.
Json format_json(const NamedBlockFormat& format);

}  // namespace equarx::experiments
