#include "experiments/tune/lazy_table.hpp"

#include <future>
#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

namespace equarx::tune::lazy_table_test {
namespace {

TEST_CASE("every value is computed once by get() or prepare()") {
  constexpr std::size_t kKeys = 200;
  for (const unsigned threads : {0U, 1U, 3U}) {
    process::ThreadPool pool(threads);
    std::vector<std::atomic<int>> found(kKeys);
    LazyTable<std::size_t> table(
        kKeys,
        [&](std::size_t key) {
          ++found[key];
          return 2 * key;
        },
        pool);
    std::vector<process::ThreadPool::Work> work;
    for (std::size_t key = 0; key < kKeys; ++key)
      work.emplace_back([&table, key] { table.prepare(key); });
    pool.replace_queue(std::move(work));
    for (std::size_t key = kKeys; key-- > 0;) {
      CHECK(table.get(key) == 2 * key);
      CHECK(table.is_ready(key));
      CHECK(table.at(key) == 2 * key);
    }
    for (const std::atomic<int>& times : found) CHECK(times == 1);
    pool.replace_queue({});
  }
}

TEST_CASE("get() waits for a value that a worker is computing") {
  std::promise<void> begun;
  process::ThreadPool pool(1);
  LazyTable<int> table(
      1,
      [&](std::size_t) {
        begun.set_value();  // a second call would throw
        return 7;
      },
      pool);
  pool.replace_queue({[&] { table.prepare(0); }});
  begun.get_future().wait();
  CHECK(table.get(0) == 7);
}

TEST_CASE("an exception in prepare() is thrown again by get()") {
  process::ThreadPool pool(0);
  LazyTable<int> table(
      2,
      [](std::size_t key) -> int {
        if (key == 1) throw std::runtime_error("one");
        return 0;
      },
      pool);
  table.prepare(0);
  table.prepare(1);
  CHECK(table.is_ready(0));
  CHECK_FALSE(table.is_ready(1));
  CHECK_THROWS_WITH(table.get(1), "one");
  CHECK_THROWS_WITH(table.get(1), "one");
}

}  // namespace
}  // namespace equarx::tune::lazy_table_test
