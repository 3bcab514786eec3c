// Worker processes.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/os/file_descriptor.hpp"

namespace equarx::process {

/// A request to a worker.
struct Job {
  std::size_t number = 0;  ///< of the caller's choice
  std::string request;
};

/// A finished job.
struct FinishedJob {
  std::size_t job = 0;  ///< Job::number
  std::string result;
  std::string failure;  ///< description if its process ended before the job did; empty otherwise
  std::optional<std::size_t> next;  ///< number of the job that its worker begins now
};

/// Forked copies of this process, each with one thread and its own process group, that process jobs
/// one after the other. They end with this process, however it ends. A crashed worker is replaced, and
/// its replacement processes the jobs that were queued behind the failed one.
class WorkerPool {
 public:
  /// Processes the request of a job in the worker; must not throw.
  using Work = std::function<std::string(const std::string& request)>;

  /// Workers are forked on demand, when this process must have no other threads.
  WorkerPool(std::size_t workers, Work work);
  /// Kills all workers and their child processes.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// True if a worker has no job.
  bool has_free() const { return busy() < most_; }
  /// Number of workers with jobs.
  std::size_t busy() const;

  /// Gives jobs to a free worker, which processes them in this order: without waiting for this process,
  /// and with what it has cached for those before. @throws std::system_error if no process can be
  /// created.
  void start(std::deque<Job> jobs);
  /// Waits until at least one job has ended, a signal arrives, or the time is over. Returns the
  /// finished jobs.
  std::vector<FinishedJob> wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = 0;
    os::FileDescriptor jobs;     ///< pipe to it
    os::FileDescriptor results;  ///< pipe from it
    std::deque<Job> queue{};     ///< the first one is being processed
  };

  Worker& free_worker();
  Worker make_worker();
  FinishedJob finish(Worker& worker);
  std::string reap(Worker& worker);

  std::size_t most_;
  Work work_;
  std::vector<Worker> workers_;
  std::vector<FinishedJob> finished_;  ///< without processes (worker_pool_inline.cpp)
};

}  // namespace equarx::process
