// Chakra trace files: protobuf messages, each preceded by its length.
#pragma once

#include <string>
#include <string_view>

#include "importers/chakra/trace.hpp"

namespace equarx::chakra {

/// Parses the bytes of a trace file. Node kinds newer than this schema become `invalid`; their
/// dependents inherit their dependencies.
/// @throws exceptions::UserError if the bytes are not a trace, or a size or time is not a number >= 0
Trace read_trace(std::string_view bytes);

/// Serializes a trace; read_trace() restores it. Durations are written in whole microseconds, at
/// least 1 unless they are 0.
std::string write_trace(const Trace& trace);

}  // namespace equarx::chakra
