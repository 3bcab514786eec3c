// A served load as a trace, for Perfetto and chrome://tracing.
#pragma once

#include <ostream>

#include "experiments/serve/serve.hpp"

namespace equarx::serve {

/// Writes a process per replica with its steps and counters, and one with all requests. The result
/// must have recorded steps.
void write_trace(std::ostream& out, const ServeResult& result);

}  // namespace equarx::serve
