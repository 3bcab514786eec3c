// Processes that work side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "models/os/file_descriptor.hpp"

namespace equarx::process {

/// A job that has ended.
struct FinishedJob {
  std::size_t job = 0;  ///< the number that it was given
  std::string result;
  std::string failure;  ///< in words, if its process ended before the job did; empty otherwise
};

/// Forked copies of this process, each with one thread and in a process group of its own, that take one job
/// after the other. They end with this process, however it ends. One that crashes is replaced.
class WorkerPool {
 public:
  /// What a worker does with what start() is given; it must not throw.
  using Work = std::function<std::string(const std::string& request)>;

  /// Processes are made as they are needed. This process must have no other threads then.
  WorkerPool(std::size_t workers, Work work);
  /// Ends all workers, and what they started, at once.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  bool has_free() const { return busy() < most_; }
  std::size_t busy() const;

  /// Gives a job to a free worker. @throws std::system_error if no process can be made.
  void start(std::size_t job, const std::string& request);
  /// Waits until at least one job has ended, a signal comes, or the time is over. Returns those that ended.
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
  std::string bury(Worker& worker);

  std::size_t most_;
  Work work_;
  std::vector<Worker> workers_;
};

}  // namespace equarx::process
