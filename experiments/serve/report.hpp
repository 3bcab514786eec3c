// A served load as a table of text.
#pragma once

#include <string>

#include "experiments/serve/serve.hpp"

namespace equarx::serve {

/// Latencies, rates, waiting and memory.
std::string to_table(const ServeResult& result);

}  // namespace equarx::serve
