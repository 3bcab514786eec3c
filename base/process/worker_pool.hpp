// Worker processes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/os/file_descriptor.hpp"

namespace equarx::process {

/// A finished job.
struct FinishedJob {
  std::size_t job = 0;  ///< the number passed to start()
  std::string result;
  std::string failure;  ///< description if its process ended before the job did; empty otherwise
};

/// Forked copies of this process, each with one thread and its own process group, that process jobs
/// one after the other. They end with this process, however it ends. A crashed worker is replaced.
class WorkerPool {
 public:
  /// Processes a request of start() in the worker; must not throw.
  using Work = std::function<std::string(const std::string& request)>;

  /// Workers are forked on demand, when this process must have no other threads.
  WorkerPool(std::size_t workers, Work work);
  /// Kills all workers and their child processes.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  bool has_free() const { return busy() < most_; }
  std::size_t busy() const;

  /// Sends a job to a free worker. @throws std::system_error if no process can be created.
  void start(std::size_t job, const std::string& request);
  /// Waits until at least one job has ended, a signal arrives, or the time is over. Returns the
  /// finished jobs.
  std::vector<FinishedJob> wait(int milliseconds);

 private:
  struct Worker {
    pid_t process = 0;
    os::FileDescriptor jobs;     ///< pipe to it
    os::FileDescriptor results;  ///< pipe from it
    bool busy = false;
    std::size_t job = 0;
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
