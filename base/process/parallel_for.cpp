#include "base/process/parallel_for.hpp"

#include <exception>
#include <vector>

#include "base/os/parallel_for.hpp"

namespace equarx::process {

void parallel_for(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  os::parallel_for(count, threads, [&](std::size_t i, unsigned) {
    try {
      work(i);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace equarx::process
