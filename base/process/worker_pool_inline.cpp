// WorkerPool of systems without processes: start() processes the job at once.
#include <utility>

#include "base/process/worker_pool.hpp"

namespace equarx::process {

WorkerPool::WorkerPool(std::size_t /*workers*/, Work work) : most_(1), work_(std::move(work)) {}

WorkerPool::~WorkerPool() = default;

std::size_t WorkerPool::busy() const { return finished_.size(); }

void WorkerPool::start(std::size_t job, const std::string& request) {
  finished_.push_back({.job = job, .result = work_(request), .failure = {}});
}

std::vector<FinishedJob> WorkerPool::wait(int /*milliseconds*/) {
  return std::exchange(finished_, {});
}

}  // namespace equarx::process
