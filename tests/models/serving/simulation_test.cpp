#include "models/serving/simulation.hpp"

#include <cmath>
#include <numeric>

#include "models/serving/summary.hpp"
#include "tests/catch.hpp"
#include "tests/models/serving/served.hpp"

namespace equarx::serving::simulation_test {
namespace {

using testing::constant;
using testing::served;

/// Steps that take a time per position, and a constant.
std::function<StepTime(const workloads::Batch&)> by_rows(double start_s, double row_s) {
  return [=](const workloads::Batch& batch) {
    return StepTime{.compute_s = start_s + row_s * batch.rows};
  };
}

System system_of(Served model, Limits limits, Load load, std::uint32_t replicas = 1) {
  return {.pool = {.served = std::move(model), .limits = limits, .replicas = replicas},
          .prefill = {},
          .load = std::move(load)};
}

Outcome run(const System& system) { return simulate(system, draw(system.load)); }

/// Mean waiting time before the step of a request.
double mean_wait(const Outcome& outcome, double step_s) {
  double sum = 0.0;
  for (const Record& record : outcome.records) sum += record.ttft_s() - step_s;
  return sum / static_cast<double>(outcome.records.size());
}

TEST_CASE("single tokens one after the other wait as in M/D/1") {
  for (const double load : {0.3, 0.6, 0.8}) {
    CAPTURE(load);
    constexpr double kStep = 0.1;
    const System system = system_of(
        served(constant(kStep)), {.sequences = 1, .tokens = 1000},
        {.requests = 200'000, .rate = load / kStep, .prompt = {.mean = 8.0}, .output = {}});
    // Pollaczek and Khinchine: rho S / (2 (1 - rho))
    CHECK(mean_wait(run(system), kStep) == Approx(load * kStep / (2 * (1 - load))).epsilon(0.03));
  }
}

TEST_CASE("without load a request takes its prefill and its tokens") {
  const System system =
      system_of(served(by_rows(0.5, 0.01)), {.tokens = 64},
                {.requests = 3, .rate = 1e-3, .prompt = {.mean = 100.0}, .output = {.mean = 5.0}});
  for (const Record& record : run(system).records) {
    CHECK(record.ttft_s() == Approx(2 * 0.5 + 100 * 0.01));  // chunks of 64 and 36
    CHECK(record.tpot_s() == Approx(0.5 + 0.01));
    CHECK(record.latency_s() == Approx(record.ttft_s() + 4 * 0.51));
  }
}

TEST_CASE("saturated replicas have the throughput of full steps") {
  constexpr std::uint32_t kSequences = 16;
  for (const std::uint32_t replicas : {1U, 3U}) {
    const System system = system_of(
        served(constant(0.1)), {.sequences = kSequences, .tokens = 10'000},
        {.requests = 4'800, .concurrency = 1000, .prompt = {.mean = 4.0}, .output = {.mean = 10.0}},
        replicas);
    const Outcome outcome = run(system);
    // Each sequence takes ten steps, and all places are taken.
    CHECK(outcome.end_s == Approx(4'800.0 / (kSequences * replicas) * 10 * 0.1).epsilon(0.01));
    const Summary summary = summarize(outcome, system);
    CHECK(summary.output_tokens_per_s == Approx(kSequences * replicas / 0.1).epsilon(0.01));
    CHECK(summary.utilization == Approx(1.0).epsilon(0.01));
  }
}

TEST_CASE("Little's law: requests in flight are their rate times their latency") {
  const System system = system_of(
      served(by_rows(0.02, 1e-4)), {.sequences = 64, .tokens = 512},
      {.requests = 5000, .concurrency = 40, .prompt = {.mean = 100.0}, .output = {.mean = 30.0}});
  const Outcome outcome = run(system);
  const Summary summary = summarize(outcome, system);
  CHECK(summary.requests_per_s * summary.latency.mean == Approx(40).epsilon(0.02));
}

TEST_CASE("the time of a request is the sum of its states") {
  const Load load{.requests = 2000,
                  .rate = 30.0,
                  .prompt = {.kind = LengthKind::lognormal, .mean = 60.0, .cv = 1.0, .most = 200},
                  .output = {.kind = LengthKind::uniform, .least = 1, .most = 60}};
  for (const Policy policy : {Policy::mixed, Policy::prompts_first})
    for (const double positions : {300.0, testing::kRoomy}) {
      const System system = system_of(served(by_rows(0.01, 1e-4), positions),
                                      {.sequences = 20, .tokens = 256, .policy = policy}, load, 2);
      const Outcome outcome = run(system);
      std::uint32_t preemptions = 0;
      for (const Record& record : outcome.records) {
        const double sum = std::accumulate(record.spent_s.begin(), record.spent_s.end(), 0.0);
        REQUIRE(sum == Approx(record.latency_s()).epsilon(1e-9));
        for (const double spent : record.spent_s) REQUIRE(spent >= -1e-9);
        preemptions += record.preemptions;
      }
      CHECK((preemptions > 0) == (positions < 1000));
      // Every position but the last token of each request is computed, some of them again.
      double positions_computed = 0.0;
      for (const Record& record : outcome.records)
        positions_computed +=
            static_cast<double>(record.request.prompt + record.request.output - 1);
      const double total = outcome.totals.prompt_tokens + outcome.totals.decode_tokens;
      if (preemptions == 0)
        CHECK(total == positions_computed);
      else
        CHECK(total > positions_computed);
    }
}

TEST_CASE("a separate pool computes prompts, and transfers occupy its port") {
  System system = system_of(
      served(constant(0.1)), {.tokens = 1000},
      {.requests = 2, .concurrency = 2, .prompt = {.mean = 50.0}, .output = {.mean = 3.0}});
  const double bytes = system.pool.served.cache.bytes(50);
  system.prefill = {.pool = {.served = served(constant(0.2)), .limits = {.tokens = 1000}},
                    .port = {.bandwidth = bytes / 0.3, .latency_s = 0.05}};
  const Outcome outcome = run(system);
  const auto transfer = static_cast<std::size_t>(State::transfers);
  CHECK(outcome.records[0].ttft_s() == Approx(0.2));
  CHECK(outcome.records[1].ttft_s() == Approx(0.2));
  CHECK(outcome.records[0].spent_s[transfer] == Approx(0.35));
  CHECK(outcome.records[1].spent_s[transfer] == Approx(0.70));
  CHECK(outcome.records[0].last_token_s == Approx(0.2 + 0.35 + 2 * 0.1));
  CHECK(outcome.prefill_totals.value().prompt_tokens == 100);
  CHECK(outcome.totals.prompt_tokens == 0);
  CHECK(outcome.totals.decode_tokens == 4);
}

TEST_CASE("a shared prefix is held once, and saves its part of every prefill") {
  Load load{.requests = 20, .concurrency = 4, .prompt = {.mean = 100.0}, .output = {.mean = 2.0}};
  const double whole_s = run(system_of(served(by_rows(0.0, 0.01)), {}, load)).end_s;
  load.shared_prefix = 0.75;
  const System system = system_of(served(by_rows(0.0, 0.01)), {}, load);
  const Outcome outcome = run(system);
  CHECK(whole_s == Approx(20 * 101 * 0.01));
  CHECK(outcome.end_s == Approx(20 * 26 * 0.01));
  const KvCache& cache = system.pool.served.cache;
  CHECK(outcome.totals.peak_bytes == Approx(cache.bytes(75 + 4 * 26)));
}

/// A replica that keeps blocks of 16 positions, with room for `positions`.
System keeping_system(double positions, Load load, std::uint32_t replicas = 1) {
  return system_of(served(by_rows(1e-3, 1e-4), positions, 16),
                   {.sequences = 16, .tokens = 512, .keeps_blocks = true}, std::move(load),
                   replicas);
}

double hit_rate(const System& system) { return summarize(run(system), system).hit_rate; }

TEST_CASE("prompts without a common prefix are not found, and evict each other") {
  const Load load{
      .requests = 100, .concurrency = 4, .prompt = {.mean = 100.0}, .output = {.mean = 20.0}};
  const System system = keeping_system(1000.0, load);
  const Outcome outcome = run(system);
  CHECK(summarize(outcome, system).hit_rate == 0.0);
  // A request fills 7 blocks of 119 positions; of all 700, the last 62 or fewer stay.
  CHECK(outcome.totals.evicted_blocks >= 700 - 62);
  CHECK(outcome.totals.evicted_blocks < 700);
  System forgetting = system;
  forgetting.pool.limits.keeps_blocks = false;
  CHECK(run(forgetting).end_s == outcome.end_s);
}

TEST_CASE("a prefix of all prompts is computed once per replica") {
  constexpr std::uint32_t kRequests = 50;
  for (const std::uint32_t replicas : {1U, 2U}) {
    Load load{.requests = kRequests,
              .concurrency = replicas,
              .prompt = {.mean = 100.0},
              .output = {.mean = 5.0}};
    load.prefixes = {.count = 1, .tokens = 90};
    const System system = keeping_system(testing::kRoomy, load, replicas);
    const Outcome outcome = run(system);
    double found = 0.0;
    for (const Record& record : outcome.records) {
      CHECK((record.found == 80 || record.found == 0));  // 5 blocks of 16
      found += static_cast<double>(record.found);
    }
    CHECK(found == 80.0 * (kRequests - replicas));
    CHECK(summarize(outcome, system).hit_rate == Approx(found / (100.0 * kRequests)));
    CHECK(outcome.totals.prompt_tokens == 100.0 * kRequests - found);
    CHECK(outcome.totals.evicted_blocks == 0);
  }
}

TEST_CASE("a smaller cache finds less of the same prompts, and equal seeds the same") {
  Load load{.requests = 400,
            .rate = 30.0,
            .prompt = {.kind = LengthKind::uniform, .least = 100, .most = 300},
            .output = {.mean = 10.0}};
  load.prefixes = {.count = 20, .tokens = 96, .zipf = 1.0};
  double last = 0.97;
  for (const double positions : {1e5, 4e3, 1.5e3, 700.0}) {
    CAPTURE(positions);
    const System system = keeping_system(positions, load);
    const double rate = hit_rate(system);
    CHECK(rate < last);
    CHECK(rate == hit_rate(system));
    last = rate;
  }
  CHECK(last > 0.0);
}

TEST_CASE("every position that is not found is computed, also with preemptions") {
  Load load{.requests = 300,
            .concurrency = 20,
            .prompt = {.kind = LengthKind::uniform, .least = 20, .most = 120},
            .output = {.kind = LengthKind::uniform, .least = 1, .most = 100}};
  load.prefixes = {.count = 5, .tokens = 64};
  for (const double positions : {800.0, testing::kRoomy}) {
    const Outcome outcome = run(keeping_system(positions, load));
    double needed = 0.0;
    std::uint32_t preemptions = 0;
    for (const Record& record : outcome.records) {
      needed += static_cast<double>(record.request.prompt + record.request.output - 1) -
                static_cast<double>(record.found);
      preemptions += record.preemptions;
    }
    CHECK((preemptions > 0) == (positions < 1000));
    const double computed = outcome.totals.prompt_tokens + outcome.totals.decode_tokens;
    CHECK((preemptions > 0 ? computed >= needed : computed == needed));
  }
}

TEST_CASE("a prefill pool keeps blocks, and the pool that decodes shares them") {
  Load load{.requests = 20, .concurrency = 4, .prompt = {.mean = 100.0}, .output = {.mean = 4.0}};
  load.prefixes = {.count = 1, .tokens = 100};
  System system = keeping_system(testing::kRoomy, load);
  system.prefill = {.pool = system.pool, .port = {.bandwidth = 1e9, .latency_s = 0.0}};
  const Outcome outcome = run(system);
  CHECK(outcome.prefill_totals.value().prompt_tokens < 20 * 100);
  CHECK(outcome.totals.prompt_tokens == 0);
  CHECK(outcome.totals.decode_tokens == 20 * 3);
  CHECK(outcome.totals.peak_bytes < 3 * system.pool.served.cache.bytes(112));
}

TEST_CASE("an outcome depends on the load alone, and recording steps changes nothing") {
  const System system = system_of(
      served(by_rows(0.02, 1e-4)), {.sequences = 8, .tokens = 128},
      {.requests = 300, .rate = 20.0, .prompt = {.mean = 50.0}, .output = {.mean = 10.0}}, 2);
  const Outcome once = run(system);
  double share = 0.0;
  const Outcome again = simulate(system, draw(system.load),
                                 {.steps = true, .progress = [&](double done) { share = done; }});
  CHECK(once.end_s == again.end_s);
  CHECK(once.gaps_s == again.gaps_s);
  CHECK(once.steps.empty());
  CHECK(again.steps.size() == again.totals.steps);
  CHECK(share == 1.0);
}

TEST_CASE("the largest request is the one with the most cache") {
  const KvCache cache = served(constant(1.0)).cache;
  const Largest largest =
      largest_request({{.prompt = 5, .output = 5}, {.prompt = 1, .output = 20}}, cache);
  CHECK(largest.request == 1);
  CHECK(largest.bytes == cache.bytes(20));
}

}  // namespace
}  // namespace equarx::serving::simulation_test
