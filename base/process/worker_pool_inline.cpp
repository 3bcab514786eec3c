// WorkerPool of systems without processes: start() processes the jobs at once.
#include <utility>

#include "base/process/worker_pool.hpp"

namespace equarx::process {

WorkerPool::WorkerPool(std::size_t /*workers*/, Work work) : most_(1), work_(std::move(work)) {}

WorkerPool::~WorkerPool() = default;

std::size_t WorkerPool::busy() const { return finished_.size(); }

void WorkerPool::start(std::deque<Job> jobs) {
  for (; !jobs.empty(); jobs.pop_front()) {
    FinishedJob& done = finished_.emplace_back();
    done.job = jobs.front().number;
    done.result = work_(jobs.front().request);
    if (jobs.size() > 1) done.next = jobs[1].number;
  }
}

std::vector<FinishedJob> WorkerPool::wait(int /*milliseconds*/) {
  return std::exchange(finished_, {});
}

}  // namespace equarx::process
