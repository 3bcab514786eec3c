#pragma once

namespace equarx::experiments {

/// Memory that the kernel says it can give; without such a statement, infinity.
double available_memory_bytes();

}  // namespace equarx::experiments
