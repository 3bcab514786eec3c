// Loops over independent tasks on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace equarx::process {

/// Calls work(index) once for each index in [0, count), on up to `threads` threads including the
/// caller's. Unlike os::parallel_for(), runs every index even if some throw. Returns once all
/// threads have ended. @throws the exception of the lowest index that threw
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& work);

}  // namespace equarx::process
