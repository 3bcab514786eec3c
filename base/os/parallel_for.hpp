// Loops whose iterations run on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace equarx::os {

/// Calls body(index, thread) once for each index in [0, count), on up to `threads` threads
/// including the caller's, and returns once all of them have ended. Indices are handed out in
/// ascending order. `thread` is 0 on the caller's thread and below min(threads, count) on all;
/// calls with the same `thread` never overlap, so it can index per-thread state. Runs on fewer
/// threads if the system refuses to create more; `threads` = 0 means 1. If the process has
/// thread_tokens(), each thread besides the caller's needs one, which may become free meanwhile.
///
/// No further index is started after an exception. @throws the exception of the lowest index
/// that threw
void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t index, unsigned thread)>& body);

}  // namespace equarx::os
