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
      pool.start({{next, requests[next]}});
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

/// Results in the order of their arrival.
std::vector<FinishedJob> results_of(WorkerPool& pool, std::size_t jobs) {
  std::vector<FinishedJob> results;
  while (results.size() < jobs)
    for (FinishedJob& finished : pool.wait(kLong)) results.push_back(std::move(finished));
  return results;
}

TEST_CASE("queued jobs are processed in order by one worker") {
  WorkerPool pool(2, [](const std::string& request) {
    static int before = 0;
    return request + std::to_string(before++);
  });
  const std::string large(1 << 20, 'x');  // requests and results exceed a pipe
  pool.start({{7, large}, {3, large}, {5, "c"}});
  CHECK(pool.busy() == 1);
  CHECK(pool.has_free());
  const std::vector<FinishedJob> results = results_of(pool, 3);
  CHECK(results[0].job == 7);
  CHECK(results[0].result == large + "0");
  CHECK(results[0].next == std::size_t{3});
  CHECK(results[1].job == 3);
  CHECK(results[1].result == large + "1");
  CHECK(results[1].next == std::size_t{5});
  CHECK(results[2].job == 5);
  CHECK(results[2].result == "c2");
  CHECK_FALSE(results[2].next);
  CHECK(pool.busy() == 0);
}

TEST_CASE("jobs queued behind a crash are processed by another worker") {
  WorkerPool pool(1, [](const std::string& request) {
    if (request == "crash") raise(SIGKILL);
    return request + std::to_string(getpid());
  });
  pool.start({{0, "a"}, {1, "crash"}, {2, "crash"}, {3, "b"}});
  const std::vector<FinishedJob> results = results_of(pool, 4);
  CHECK(results[0].result.starts_with("a"));
  CHECK(results[1].failure == "signal 9 (Killed)");
  CHECK(results[1].next == std::size_t{2});
  CHECK(results[2].failure == "signal 9 (Killed)");
  CHECK(results[3].result.starts_with("b"));
  CHECK(results[3].result.substr(1) != results[0].result.substr(1));
  CHECK(pool.has_free());
}

TEST_CASE("waiting times out without results") {
  WorkerPool pool(1, [](const std::string&) {
    pause();
    return std::string();
  });
  CHECK(pool.wait(1).empty());
  pool.start({{0, ""}});
  CHECK_FALSE(pool.has_free());
  CHECK(pool.wait(1).empty());
}  // destroys the pool as well

}  // namespace
}  // namespace equarx::process::worker_pool_test
