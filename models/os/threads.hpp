// Threads that a computation can do without.
#pragma once

#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace equarx::os {

/// Adds `count` threads that do `work`, or as many as the system lets this process have: with fewer the same takes
/// longer.
template <typename Work>
void add_threads(std::vector<std::jthread>& threads, std::size_t count, const Work& work) {
  threads.reserve(threads.size() + count);
  try {
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more: those that there are do it all
  }
}

}  // namespace equarx::os
