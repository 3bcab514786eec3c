#include "experiments/process/side_by_side.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "models/os/threads.hpp"

namespace equarx::process {

void for_each_side_by_side(std::size_t count, unsigned threads,
                           const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(count);
  const auto go_on = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    os::add_threads(others, std::max<std::size_t>(std::min<std::size_t>(threads, count), 1) - 1,
                    go_on);
    go_on();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace equarx::process
