// Threads that work side by side.
#pragma once

#include <cstddef>
#include <functional>

namespace equarx::process {

/// Calls `work` with 0 to count - 1, each once, on up to `threads` threads, this one among them. All have
/// ended when it returns. @throws what the first call threw that did, by number, once all have ended
void for_each_side_by_side(std::size_t count, unsigned threads,
                           const std::function<void(std::size_t)>& work);

}  // namespace equarx::process
