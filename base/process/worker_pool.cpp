#include "base/process/worker_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/os/child.hpp"
#include "base/os/pipe.hpp"

namespace equarx::process {
namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Appends a message: its length and its bytes.
void append_message(const std::string& text, std::string& message) {
  const std::uint64_t size = text.size();
  message.append(reinterpret_cast<const char*>(&size), sizeof size);
  message += text;
}

bool write(const os::FileDescriptor& pipe, const std::string& text) {
  return os::write_all(pipe, std::as_bytes(std::span(text)));
}

/// Reads a message; returns false if the pipe ends before it is complete.
bool read_message(const os::FileDescriptor& pipe, std::string& text) {
  std::uint64_t size = 0;
  if (os::read_up_to(pipe, std::as_writable_bytes(std::span(&size, 1))) < sizeof size) return false;
  text.resize(size);
  return os::read_up_to(pipe, std::as_writable_bytes(std::span(text))) == size;
}

/// The requests of several jobs, as one message, which a worker reads before it writes results: writer
/// and reader never wait for each other.
std::string requests_of(const std::deque<Job>& jobs) {
  std::string requests;
  for (const Job& job : jobs) append_message(job.request, requests);
  std::string message;
  append_message(requests, message);
  return message;
}

/// Main loop of a worker process.
[[noreturn]] void worker_main(const os::FileDescriptor& jobs, const os::FileDescriptor& results,
                              const WorkerPool::Work& work) {
  std::string requests;
  while (read_message(jobs, requests))
    for (std::size_t at = 0; at < requests.size();) {
      std::uint64_t size = 0;
      std::memcpy(&size, &requests[at], sizeof size);
      std::string result;
      append_message(work(requests.substr(at + sizeof size, size)), result);
      if (!write(results, result)) _exit(EXIT_SUCCESS);
      at += sizeof size + size;
    }
  _exit(EXIT_SUCCESS);  // skips the parent's exit handlers
}

/// Resets process group and signal handling of a freshly forked worker, and makes it end with its
/// parent.
void detach_from_parent(pid_t parent) {
  setpgid(0, 0);  // lets the parent kill it with all its children
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // the parent ended meanwhile
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
}

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, Work work) : most_(workers), work_(std::move(work)) {}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) reap(worker);
}

std::size_t WorkerPool::busy() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(workers_, [](const Worker& worker) { return !worker.queue.empty(); }));
}

WorkerPool::Worker WorkerPool::make_worker() {
  os::Pipe jobs = os::open_pipe();
  os::Pipe results = os::open_pipe();
  std::fflush(nullptr);  // or the child would flush our buffers again
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw_errno("starting a worker");
  if (child == 0) {
    detach_from_parent(parent);
    jobs.in.close();
    results.out.close();
    // Otherwise other workers would never see the end of their job pipes.
    for (Worker& other : workers_) {
      other.jobs.close();
      other.results.close();
    }
    worker_main(jobs.out, results.in, work_);
  }
  setpgid(child, child);  // also set by the child; the first call counts
  return {.process = child, .jobs = std::move(jobs.in), .results = std::move(results.out)};
}

WorkerPool::Worker& WorkerPool::free_worker() {
  const auto found =
      std::ranges::find_if(workers_, [](const Worker& worker) { return worker.queue.empty(); });
  return found == workers_.end() ? workers_.emplace_back(make_worker()) : *found;
}

void WorkerPool::start(std::deque<Job> jobs) {
  Worker& worker = free_worker();
  // If the worker has ended, waiting for its result reports that.
  write(worker.jobs, requests_of(jobs));
  worker.queue = std::move(jobs);
}

/// Kills and reaps a worker. Returns a description of how it ended.
std::string WorkerPool::reap(Worker& worker) {
  kill(-worker.process, SIGKILL);
  worker.jobs.close();
  worker.results.close();
  const std::optional<int> status = os::wait_for_end(worker.process);
  return status ? os::describe_end(*status) : "unknown";
}

FinishedJob WorkerPool::finish(Worker& worker) {
  FinishedJob finished{.job = worker.queue.front().number, .result = {}, .failure = {}, .next = {}};
  worker.queue.pop_front();
  if (!worker.queue.empty()) finished.next = worker.queue.front().number;
  if (read_message(worker.results, finished.result)) return finished;
  finished.failure = reap(worker);
  std::deque<Job> left = std::move(worker.queue);
  std::swap(worker, workers_.back());
  workers_.pop_back();
  if (!left.empty()) start(std::move(left));
  return finished;
}

std::vector<FinishedJob> WorkerPool::wait(int milliseconds) {
  std::vector<pollfd> watched;
  for (const Worker& worker : workers_)
    watched.push_back({.fd = worker.results.number(), .events = POLLIN, .revents = 0});
  std::vector<FinishedJob> finished;
  if (poll(watched.data(), watched.size(), milliseconds) < 0) {
    if (errno == EINTR) return finished;
    throw_errno("poll");
  }
  for (const pollfd& ready : watched) {
    if (ready.revents == 0) continue;
    const auto worker = std::ranges::find(workers_, ready.fd,
                                          [](const Worker& each) { return each.results.number(); });
    if (!worker->queue.empty()) finished.push_back(finish(*worker));
  }
  return finished;
}

}  // namespace equarx::process
