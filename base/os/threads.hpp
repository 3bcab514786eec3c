// Number of threads, and optional worker threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace equarx::os {

/// Threads for work on all cores, at least 1. Read once: the standard library opens a file at each call.
inline unsigned default_threads() {
  static const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  return threads;
}

/// Starts up to `count` threads that run `work`. Starting fewer, if the system refuses more, only
/// affects speed.
template <typename Work>
void add_threads(std::vector<std::jthread>& threads, std::size_t count, const Work& work) {
  threads.reserve(threads.size() + count);
  try {
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // continue with the threads started so far
  }
}

}  // namespace equarx::os
