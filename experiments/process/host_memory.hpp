#pragma once

namespace equarx::process {

/// Memory that the kernel says it can give; without such a statement, infinity.
double available_memory_bytes();

}  // namespace equarx::process
