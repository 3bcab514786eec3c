#include "experiments/process/worker_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace equarx::process {
namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Whether all of it went into the pipe; not, if there is nobody at its other end.
bool write_all(int descriptor, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = write(descriptor, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

/// Whether that much came out of the pipe before its end.
bool read_all(int descriptor, void* data, std::size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = read(descriptor, at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

/// A message in a pipe: its length, and its bytes.
bool write_message(int descriptor, const std::string& text) {
  const std::uint64_t size = text.size();
  return write_all(descriptor, &size, sizeof size) && write_all(descriptor, text.data(), size);
}

bool read_message(int descriptor, std::string& text) {
  std::uint64_t size = 0;
  if (!read_all(descriptor, &size, sizeof size)) return false;
  text.resize(size);
  return read_all(descriptor, text.data(), size);
}

/// A worker's life.
[[noreturn]] void live(int jobs, int results, const WorkerPool::Work& work) {
  std::string request;
  while (read_message(jobs, request))
    if (!write_message(results, work(request))) break;
  _exit(EXIT_SUCCESS);  // the parent's exit handlers are not its own
}

/// Makes the process that has just been forked independent of all that its parent has set up, but for
/// ending with it.
void settle(pid_t parent) {
  setpgid(0, 0);  // so that the parent can end it with all that it starts
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // it ended meanwhile
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
}

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, Work work) : most_(workers), work_(std::move(work)) {}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) bury(worker);
}

std::size_t WorkerPool::busy() const {
  return static_cast<std::size_t>(std::ranges::count(workers_, true, &Worker::busy));
}

WorkerPool::Worker WorkerPool::make_worker() {
  std::array<int, 2> jobs{};
  std::array<int, 2> results{};
  if (pipe(jobs.data()) != 0 || pipe(results.data()) != 0) throw_errno("pipe");
  std::fflush(nullptr);  // or the child would write our text again
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw_errno("starting a worker");
  if (child == 0) {
    settle(parent);
    close(jobs[1]);
    close(results[0]);
    for (const Worker& other : workers_) {
      close(other.jobs);
      close(other.results);
    }
    live(jobs[0], results[1], work_);
  }
  setpgid(child, child);  // whoever is first
  close(jobs[0]);
  close(results[1]);
  return {.process = child, .jobs = jobs[1], .results = results[0]};
}

WorkerPool::Worker& WorkerPool::free_worker() {
  const auto found = std::ranges::find(workers_, false, &Worker::busy);
  return found == workers_.end() ? workers_.emplace_back(make_worker()) : *found;
}

void WorkerPool::start(std::size_t job, const std::string& request) {
  Worker& worker = free_worker();
  // If it has ended meanwhile, waiting for its result will tell.
  write_message(worker.jobs, request);
  worker.busy = true;
  worker.job = job;
}

/// Ends a worker. Returns how it ended, in words.
std::string WorkerPool::bury(Worker& worker) {
  kill(-worker.process, SIGKILL);
  close(worker.jobs);
  close(worker.results);
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0)
    if (errno != EINTR) return "unknown";
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

FinishedJob WorkerPool::finish(Worker& worker) {
  FinishedJob finished{.job = worker.job, .result = {}, .failure = {}};
  worker.busy = false;
  if (read_message(worker.results, finished.result)) return finished;
  finished.failure = bury(worker);
  std::swap(worker, workers_.back());
  workers_.pop_back();
  return finished;
}

std::vector<FinishedJob> WorkerPool::wait(int milliseconds) {
  std::vector<pollfd> watched;
  for (const Worker& worker : workers_)
    watched.push_back({.fd = worker.results, .events = POLLIN, .revents = 0});
  std::vector<FinishedJob> finished;
  if (poll(watched.data(), watched.size(), milliseconds) < 0) {
    if (errno == EINTR) return finished;
    throw_errno("poll");
  }
  for (const pollfd& ready : watched) {
    if (ready.revents == 0) continue;
    const auto worker = std::ranges::find(workers_, ready.fd, &Worker::results);
    if (worker->busy) finished.push_back(finish(*worker));
  }
  return finished;
}

}  // namespace equarx::process
