#include "experiments/predict/cache.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/catch.hpp"

namespace equarx::predict::cache_test {
namespace {

Query of_bytes(std::uint64_t bytes) {
  Query query;
  query.bytes = bytes;
  return query;
}

std::shared_ptr<const Prediction> taking(double time_s) {
  Prediction prediction;
  prediction.time_s = time_s;
  return std::make_shared<const Prediction>(prediction);
}

}  // namespace

TEST_CASE("a cache holds no more than its capacity and drops entries not found since") {
  Cache cache(3);
  for (const std::uint64_t bytes : {1, 2, 3}) cache.insert(of_bytes(bytes), taking(1.0));
  CHECK(cache.find(of_bytes(1)) != nullptr);
  cache.insert(of_bytes(4), taking(4.0));
  CHECK(cache.size() == 3);
  CHECK(cache.find(of_bytes(1)) != nullptr);  // spared
  CHECK(cache.find(of_bytes(2)) == nullptr);  // the oldest of the others
  CHECK(cache.find(of_bytes(4))->time_s == 4.0);
}

TEST_CASE("a cache evicts even if every entry has been found") {
  Cache cache(2);
  for (std::uint64_t bytes = 1; bytes <= 100; ++bytes) {
    cache.insert(of_bytes(bytes), taking(1.0));
    for (std::uint64_t one = 1; one <= bytes; ++one) cache.find(of_bytes(one));
    CHECK(cache.size() <= 2);
  }
  CHECK(cache.find(of_bytes(100)) != nullptr);
}

TEST_CASE("queries that differ in any member are different entries") {
  Cache cache(16);
  std::vector<Query> queries(8, of_bytes(1));
  queries[1].bytes = 2;
  queries[2].ranks = 2;
  queries[3].collective = "all-gather";
  queries[4].dtype = "fp32";
  queries[5].format = "int8";
  queries[6].algorithm = "ring";
  queries[7].options = "{}";
  for (std::size_t i = 0; i < queries.size(); ++i)
    cache.insert(queries[i], taking(static_cast<double>(i)));
  for (std::size_t i = 0; i < queries.size(); ++i)
    CHECK(cache.find(queries[i])->time_s == static_cast<double>(i));
}

TEST_CASE("the first of equal insertions stays") {
  Cache cache(2);
  cache.insert(of_bytes(1), taking(1.0));
  cache.insert(of_bytes(1), taking(2.0));
  CHECK(cache.size() == 1);
  CHECK(cache.find(of_bytes(1))->time_s == 1.0);
}

TEST_CASE("threads that ask for one query at once share a result, or an exception") {
  constexpr int kThreads = 4;
  Cache cache(4);
  for (const bool fails : {false, true}) {
    std::atomic<int> asking = 0;
    std::atomic<int> calls = 0;
    std::atomic<int> right = 0;
    const auto make = [&] {
      ++calls;
      while (asking < kThreads) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // they are within find_or_make()
      if (fails) throw std::invalid_argument("no");
      return taking(7.0);
    };
    const auto ask = [&] {
      ++asking;
      try {
        if (cache.find_or_make(of_bytes(fails ? 2 : 1), make)->time_s == 7.0 && !fails) ++right;
      } catch (const std::invalid_argument&) {
        if (fails) ++right;
      }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(ask);
    for (std::thread& thread : threads) thread.join();
    CHECK(calls == 1);
    CHECK(right == kThreads);
    ask();
    CHECK(calls == (fails ? 2 : 1));  // a failure is not kept
  }
  CHECK(cache.size() == 1);
}

TEST_CASE("threads find and insert at once") {
  Cache cache(50);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t bytes = i * 7 % 97;
        if (const auto found = cache.find(of_bytes(bytes))) {
          if (found->time_s != static_cast<double>(bytes)) ++wrong;
        } else {
          cache.insert(of_bytes(bytes), taking(static_cast<double>(bytes)));
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(cache.size() == 50);
}

}  // namespace equarx::predict::cache_test
