#include "base/os/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/os/threads.hpp"

namespace equarx::os {

void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t index, unsigned thread)>& body) {
  std::atomic<std::size_t> next = 0;
  std::atomic<unsigned> started = 0;  // threads besides the caller's
  std::mutex mutex;
  std::size_t failed = count;  // lowest index that threw
  std::exception_ptr error;
  const auto work = [&](unsigned thread) {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        body(i, thread);
      } catch (...) {
        next = count;
        const std::scoped_lock lock(mutex);
        if (i > failed) continue;
        failed = i;
        error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min<std::size_t>(threads, count);
    add_threads(others, std::max<std::size_t>(wanted, 1) - 1, [&] { work(++started); });
    work(0);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace equarx::os
