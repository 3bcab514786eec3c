#include "base/process/worker_pool.hpp"

#include <csignal>
#include <map>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::process::worker_pool_test {
namespace {

constexpr int kLong = 10'000;  // milliseconds

/// Runs all requests; the results by job.
std::map<std::size_t, FinishedJob> run_all(WorkerPool& pool,
                                           const std::vector<std::string>& requests) {
  std::map<std::size_t, FinishedJob> results;
  std::size_t next = 0;
  while (results.size() < requests.size()) {
    while (next < requests.size() && pool.has_free()) {
      pool.start(next, requests[next]);
      ++next;
    }
    for (FinishedJob& finished : pool.wait(kLong)) results[finished.job] = finished;
  }
  return results;
}

TEST_CASE("every job comes back with its result") {
  WorkerPool pool(3, [](const std::string& request) { return request + '!'; });
  std::vector<std::string> requests;
  for (int i = 0; i < 200; ++i) requests.push_back(std::to_string(i));
  requests.emplace_back();
  requests.push_back(std::string(1 << 20, 'x'));  // more than a pipe holds
  const auto results = run_all(pool, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(results.at(i).result == requests[i] + '!');
    CHECK(results.at(i).failure.empty());
  }
  CHECK(pool.busy() == 0);
}

TEST_CASE("workers are reused and never exceed the limit") {
  WorkerPool pool(2, [](const std::string&) { return std::to_string(getpid()); });
  std::map<std::string, int> processes;
  for (const auto& [job, finished] : run_all(pool, std::vector<std::string>(50)))
    ++processes[finished.result];
  CHECK(processes.size() <= 2);
  CHECK(processes.count(std::to_string(getpid())) == 0);
}

TEST_CASE("a worker that crashes costs its job only") {
  WorkerPool pool(2, [](const std::string& request) {
    if (request == "crash") raise(SIGKILL);
    if (request == "leave") _exit(3);
    return request;
  });
  const auto results = run_all(pool, {"a", "crash", "b", "leave", "c", "d"});
  CHECK(results.at(1).failure == "signal 9 (Killed)");
  CHECK(results.at(3).failure == "exit code 3");
  for (const std::size_t job : {0U, 2U, 4U, 5U}) CHECK(results.at(job).failure.empty());
}

TEST_CASE("waiting times out without results") {
  WorkerPool pool(1, [](const std::string&) {
    pause();
    return std::string();
  });
  CHECK(pool.wait(1).empty());
  pool.start(0, "");
  CHECK_FALSE(pool.has_free());
  CHECK(pool.wait(1).empty());
}  // destroys the pool as well

}  // namespace
}  // namespace equarx::process::worker_pool_test
