#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>

#include <unistd.h>

#include "tests/catch.hpp"
#include "tools/capi/equarx.h"

namespace equarx::capi::predictor_test {
namespace {

constexpr const char* kMachine = R"({"hardware": "h100", "topology": {"switch": 8}})";

equarx_query query_of(std::uint64_t bytes) {
  equarx_query query{};
  query.size = sizeof query;
  query.bytes = bytes;
  return query;
}

equarx_answer empty_answer() {
  equarx_answer answer{};
  answer.size = sizeof answer;
  return answer;
}

equarx_options options_of(std::uint32_t cache_entries, std::uint32_t skip) {
  equarx_options options{};
  options.size = sizeof options;
  options.cache_entries = cache_entries;
  options.skip = skip;
  return options;
}

/// A predictor of times alone, destroyed at the end of the test.
class Times {
 public:
  explicit Times(std::uint32_t cache_entries = 0) {
    const equarx_options options =
        options_of(cache_entries, EQUARX_SKIP_ERRORS | EQUARX_SKIP_INTERVALS);
    REQUIRE(equarx_predictor_create(kMachine, &options, &predictor_) == EQUARX_OK);
  }
  Times(const Times&) = delete;
  Times& operator=(const Times&) = delete;
  ~Times() { CHECK(equarx_predictor_destroy(predictor_) == EQUARX_OK); }

  equarx_status predict(const equarx_query& query, equarx_answer& answer) const {
    return equarx_predict(predictor_, &query, &answer);
  }
  equarx_predictor* get() const { return predictor_; }

 private:
  equarx_predictor* predictor_ = nullptr;
};

void check_refused(equarx_status status, equarx_status expected, const std::string& part) {
  const std::string error = equarx_last_error();
  CAPTURE(error);
  CHECK(status == expected);
  CHECK_THAT(error, ContainsSubstring(part));
  CHECK(error.find('\n') == std::string::npos);
}

/// Resident memory of this process in bytes.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("an answer has every member") {
  equarx_predictor* predictor = nullptr;
  REQUIRE(equarx_predictor_create(kMachine, nullptr, &predictor) == EQUARX_OK);
  equarx_query query = query_of(1 << 20);
  query.format = "fp8-e4m3";
  query.algorithm = "two-shot";
  query.ranks = 4;
  equarx_answer answer = empty_answer();
  REQUIRE(equarx_predict(predictor, &query, &answer) == EQUARX_OK);
  CHECK(std::string(equarx_last_error()).empty());
  CHECK(answer.size == sizeof answer);
  CHECK(answer.time_s > 1e-6);
  CHECK(answer.low_s < answer.high_s);
  CHECK(answer.samples == 200);
  CHECK(answer.sqnr_db == Approx(-10.0 * std::log10(answer.nmse)));
  CHECK(answer.ranks == 4);
  CHECK(answer.encodings == 2);
  CHECK(answer.conversions == 1);
  CHECK(answer.sums_in_fp32 == 1);
  CHECK(answer.deterministic == 1);
  CHECK(answer.ranks_identical == 1);
  CHECK(answer.calibrated == 1);
  CHECK(std::string(answer.algorithm) == "two-shot");
  CHECK(std::string(answer.protocol).empty());
  CHECK(equarx_predictor_destroy(predictor) == EQUARX_OK);
}

TEST_CASE("wrong use is a status with a line of text") {
  equarx_predictor* predictor = nullptr;
  check_refused(equarx_predictor_create(nullptr, nullptr, &predictor), EQUARX_INVALID_INPUT,
                "machine_json: is null");
  check_refused(equarx_predictor_create(kMachine, nullptr, nullptr), EQUARX_INVALID_INPUT,
                "predictor: is null");
  check_refused(equarx_predictor_create("{", nullptr, &predictor), EQUARX_INVALID_INPUT, "line 1");
  check_refused(equarx_predictor_create("\xff\xfe", nullptr, &predictor), EQUARX_INVALID_INPUT,
                "line 1");
  check_refused(equarx_predictor_create(R"({"hardware": "h1000", "topology": {"switch": 8}})",
                                        nullptr, &predictor),
                EQUARX_INVALID_INPUT, "/hardware");
  const std::string deep(100'000, '[');
  check_refused(equarx_predictor_create(deep.c_str(), nullptr, &predictor), EQUARX_INVALID_INPUT,
                "more than 100 deep");
  CHECK(predictor == nullptr);

  const Times times;
  equarx_query query = query_of(1 << 20);
  equarx_answer answer = empty_answer();
  check_refused(equarx_predict(times.get(), nullptr, &answer), EQUARX_INVALID_INPUT,
                "query: is null");
  check_refused(equarx_predict(times.get(), &query, nullptr), EQUARX_INVALID_INPUT,
                "answer: is null");
  check_refused(equarx_predict(nullptr, &query, &answer), EQUARX_INVALID_HANDLE, "predictor: ");
  query.collective = "all-sum";
  check_refused(times.predict(query, answer), EQUARX_INVALID_INPUT, "/collective: ");
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 50, ~std::uint64_t{0}})
    check_refused(times.predict(query_of(bytes), answer), EQUARX_INVALID_INPUT, "/tensor");
  const std::string long_name(1 << 20, 'x');
  query = query_of(1 << 20);
  query.format = long_name.c_str();
  check_refused(times.predict(query, answer), EQUARX_INVALID_INPUT, "format: has more than");
  query.format = "x\ny";
  check_refused(times.predict(query, answer), EQUARX_INVALID_INPUT, "/collectives/0/format");
  query.format = nullptr;
  query.ranks = ~std::uint32_t{0};
  check_refused(times.predict(query, answer), EQUARX_INVALID_INPUT, "ranks: ");
  CHECK(answer.time_s == 0.0);
}

TEST_CASE("a destroyed predictor is refused, also after others were created") {
  equarx_predictor* destroyed = nullptr;
  REQUIRE(equarx_predictor_create(kMachine, nullptr, &destroyed) == EQUARX_OK);
  REQUIRE(equarx_predictor_destroy(destroyed) == EQUARX_OK);
  const Times times;
  CHECK(times.get() != destroyed);
  const equarx_query query = query_of(1 << 20);
  equarx_answer answer = empty_answer();
  check_refused(equarx_predict(destroyed, &query, &answer), EQUARX_INVALID_HANDLE, "destroyed");
  check_refused(equarx_predictor_destroy(destroyed), EQUARX_INVALID_HANDLE, "destroyed");
  check_refused(equarx_predictor_destroy(reinterpret_cast<equarx_predictor*>(&answer)),
                EQUARX_INVALID_HANDLE, "never created");
  CHECK(equarx_predictor_destroy(nullptr) == EQUARX_OK);
}

TEST_CASE("structures of other sizes are older or newer versions") {
  const Times times;
  equarx_query query = query_of(1 << 20);
  equarx_answer answer = empty_answer();
  for (const std::size_t size : {std::size_t{0}, sizeof query - 1, ~std::size_t{0}}) {
    query.size = size;
    check_refused(times.predict(query, answer), EQUARX_INVALID_INPUT, "sizeof(equarx_query)");
  }
  struct Newer {
    equarx_query query;
    double other;
  } newer{query_of(1 << 20), 1.0};
  newer.query.size = sizeof newer;
  CHECK(times.predict(newer.query, answer) == EQUARX_OK);
  struct NewerAnswer {
    equarx_answer answer;
    double other;
  } newer_answer{empty_answer(), 1.0};
  newer_answer.answer.size = sizeof newer_answer;
  CHECK(times.predict(query_of(1 << 20), newer_answer.answer) == EQUARX_OK);
  CHECK(newer_answer.answer.size == sizeof newer_answer);
  CHECK(newer_answer.answer.time_s == answer.time_s);
  CHECK(newer_answer.other == 1.0);
  answer.size = 8;
  check_refused(times.predict(query_of(1 << 20), answer), EQUARX_INVALID_INPUT,
                "sizeof(equarx_answer)");
  equarx_options options = options_of(0, 8);
  equarx_predictor* predictor = nullptr;
  check_refused(equarx_predictor_create(kMachine, &options, &predictor), EQUARX_INVALID_INPUT,
                "unknown bits");
  options = options_of(0, 0);
  options.reserved = 1;
  check_refused(equarx_predictor_create(kMachine, &options, &predictor), EQUARX_INVALID_INPUT,
                "reserved");
}

TEST_CASE("a million calls take no more memory, and ten microseconds at most") {
  const Times times(4);
  equarx_answer answer = empty_answer();
  constexpr int kSizes = 16;  // more than are cached
  const auto call = [&](int sizes) {
    for (int i = 0; i < sizes; ++i)
      REQUIRE(times.predict(query_of(1024ULL << (i % kSizes)), answer) == EQUARX_OK);
  };
  call(4 * kSizes);
  const std::size_t before = resident_bytes();
  const equarx_query cached = query_of(1024);
  REQUIRE(times.predict(cached, answer) == EQUARX_OK);
  const std::clock_t began = std::clock();
  for (int i = 0; i < 1'000'000; ++i)
    if (times.predict(cached, answer) != EQUARX_OK) FAIL(equarx_last_error());
  CHECK(static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC < 1e6 * 10e-6);
  call(64 * kSizes);
  for (int i = 0; i < 1000; ++i) CHECK(times.predict(query_of(3), answer) == EQUARX_INVALID_INPUT);
  CHECK(resident_bytes() < before + (4 << 20));
}

TEST_CASE("threads share predictors and have errors of their own") {
  const Times times(8);
  constexpr int kSizes = 12;
  std::array<double, kSizes> expected{};
  for (int i = 0; i < kSizes; ++i) {
    equarx_answer answer = empty_answer();
    REQUIRE(times.predict(query_of(4096ULL << i), answer) == EQUARX_OK);
    expected.at(static_cast<std::size_t>(i)) = answer.time_s;
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 60; ++i) {
        const int size = (i + 3 * thread) % kSizes;
        equarx_answer answer = empty_answer();
        if (times.predict(query_of(4096ULL << size), answer) != EQUARX_OK) ++wrong;
        if (answer.time_s != expected.at(static_cast<std::size_t>(size))) ++wrong;
        const bool fails = i % 4 == thread;
        if (fails && times.predict(query_of(1), answer) != EQUARX_INVALID_INPUT) ++wrong;
        if (std::string(equarx_last_error()).empty() == fails) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a predictor may be destroyed while another thread uses it") {
  equarx_predictor* predictor = nullptr;
  REQUIRE(equarx_predictor_create(kMachine, nullptr, &predictor) == EQUARX_OK);
  std::atomic<int> wrong = 0;
  std::thread user([&] {
    equarx_status status = EQUARX_OK;
    for (std::uint64_t bytes = 2; status == EQUARX_OK; bytes += 2) {
      const equarx_query query = query_of(bytes);
      equarx_answer answer = empty_answer();
      status = equarx_predict(predictor, &query, &answer);
    }
    if (status != EQUARX_INVALID_HANDLE) ++wrong;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(equarx_predictor_destroy(predictor) == EQUARX_OK);
  user.join();
  CHECK(wrong == 0);
}

}  // namespace equarx::capi::predictor_test
