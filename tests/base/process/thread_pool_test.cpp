#include "base/process/thread_pool.hpp"

#include <atomic>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::process::thread_pool_test {
namespace {

TEST_CASE("queued tasks run once, with any number of threads") {
  constexpr int kWorks = 50;
  for (const unsigned threads : {0U, 1U, 3U}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    std::vector<std::atomic<int>> calls(kWorks);
    std::atomic<int> done = 0;
    std::vector<ThreadPool::Work> work;
    for (std::atomic<int>& of_one : calls)
      work.emplace_back([&] {
        ++of_one;
        ++done;
        pool.notify();
      });
    pool.replace_queue(std::move(work));
    pool.help_until([&] { return done == kWorks; });
    for (const std::atomic<int>& of_one : calls) CHECK(of_one == 1);
  }
}

TEST_CASE("a new queue replaces the previous one and runs in order") {
  ThreadPool pool(0);
  std::vector<int> done;
  pool.replace_queue({[&] { done.push_back(0); }});
  pool.replace_queue({[&] { done.push_back(1); }, [&] { done.push_back(2); }});
  pool.help_until([&] { return done.size() == 2; });
  CHECK(done == std::vector{1, 2});
}

TEST_CASE("workers are idle while they wait and nothing is queued") {
  const auto await_idle = [](const ThreadPool& pool, std::size_t workers) {
    while (pool.idle() != workers) std::this_thread::yield();
  };
  CHECK(ThreadPool(0).idle() == 0);
  std::promise<void> let_go;
  ThreadPool pool(2);
  await_idle(pool, 2);
  std::promise<void> begun;
  std::promise<void> done;
  pool.replace_queue({[&] {
    begun.set_value();
    let_go.get_future().wait();
    done.set_value();
  }});
  begun.get_future().wait();
  await_idle(pool, 1);
  let_go.set_value();
  done.get_future().wait();
  await_idle(pool, 2);
}

TEST_CASE("help_until() returns after notify() while other tasks run") {
  std::promise<void> let_go;
  std::atomic<bool> half_done = false;
  std::atomic<bool> all_done = false;
  {
    ThreadPool pool(1);
    std::promise<void> begun;
    pool.replace_queue({[&] {
      begun.set_value();
      half_done = true;
      pool.notify();
      let_go.get_future().wait();
      all_done = true;
    }});
    begun.get_future().wait();
    pool.help_until([&] { return half_done.load(); });
    CHECK_FALSE(all_done);
    pool.replace_queue({[] { FAIL("was proposed to nobody"); }});
    pool.replace_queue({});
    let_go.set_value();
  }
  CHECK(all_done);  // the destructor joins running tasks
}

}  // namespace
}  // namespace equarx::process::thread_pool_test
