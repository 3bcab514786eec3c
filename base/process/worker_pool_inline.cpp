// WorkerPool of systems without processes: start() processes the jobs at once.
#include <utility>

#include "base/process/worker_pool.hpp"

namespace equarx::process {

WorkerPool::WorkerPool(std::size_t /*workers*/, Work work) : most_(1), work_(std::move(work)) {}

WorkerPool::~WorkerPool() = default;

std::size_t WorkerPool::busy() const { return finished_.size(); }

void WorkerPool::start(std::deque<Job> jobs) {
  for (const Job& job : jobs)
    finished_.push_back(
        {.job = job.number, .result = work_(job.request), .failure = {}, .next = {}});
}

std::vector<FinishedJob> WorkerPool::wait(int /*milliseconds*/) {
  return std::exchange(finished_, {});
}

}  // namespace equarx::process
