#include "experiments/serve/serve.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "base/units/quantity.hpp"
#include "experiments/variation/uncertainty.hpp"
#include "models/workloads/footprint.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::serve {
namespace {

using serving::Request;
using units::bytes_text;

/// Share of the time that steps run, from which arrivals may exceed the capacity.
constexpr double kBusy = 0.8;

void check_requests(const std::vector<Request>& requests, const workloads::Transformer& model) {
  const auto positions = [](const Request& request) { return request.prompt + request.output; };
  const Request& longest = *std::ranges::max_element(requests, {}, positions);
  if (positions(longest) > model.largest_context)
    throw input::InputError(
        "/serving/load",
        fmt::format("has a request of {} + {} tokens; {} takes up to {}", longest.prompt,
                    longest.output, model.name, model.largest_context));
}

std::uint64_t longest_prompt(const std::vector<Request>& requests) {
  return std::ranges::max(requests, {}, &Request::prompt).prompt;
}

serving::KvCache kv_cache(const config::PoolConfig& pool, const PoolMemory& memory) {
  return {pool.workload.model, pool.workload.attention, pool.tensor(), pool.scheduler.block,
          memory.cache};
}

/// A pool with the times of its steps.
struct TimedPool {
  StepCosts costs;
  PoolMemory memory;
  serving::Pool pool;

  TimedPool(const config::PoolConfig& config, const PoolMemory& of_chip, unsigned threads)
      : costs(config, threads), memory(of_chip), pool(pool_of(config, memory, costs)) {}
};

std::unique_ptr<TimedPool> timed_pool(const config::PoolConfig& config,
                                      const std::vector<Request>& requests,
                                      const std::string& pointer, const ServeOptions& options) {
  const PoolMemory memory = pool_memory(config, longest_prompt(requests), pointer);
  if (options.part)
    options.part(
        fmt::format("simulating steps on {} x {}", config.tensor(), config.machine.chip.name));
  return std::make_unique<TimedPool>(config, memory, options.threads);
}

/// @throws input::InputError for a prefix cache of layers that do not keep all keys
void check_prefix_cache(const config::PoolConfig& pool, const serving::KvCache& cache,
                        const std::string& pointer) {
  if (!pool.scheduler.limits.keeps_blocks || !cache.has_windows()) return;
  throw input::InputError(
      pointer + "/scheduler/prefix_cache",
      fmt::format("needs layers that keep all keys, but local ones of {} keep their window; remove "
                  "it or \"skips_outside_window\"",
                  pool.workload.model.name));
}

/// @throws input::InputError if a request does not fit into an empty cache
void check_pool(const config::PoolConfig& pool, const serving::Load& load,
                const std::vector<Request>& requests, const std::string& pointer) {
  const hardware::Chip& chip = pool.machine.chip;
  const serving::KvCache cache =
      kv_cache(pool, pool_memory(pool, longest_prompt(requests), pointer));
  check_prefix_cache(pool, cache, pointer);
  const double prefix = serving::prefix_bytes(load, requests, cache);
  const serving::Largest largest = serving::largest_request(requests, cache);
  if (largest.bytes + prefix <= cache.capacity_bytes()) return;
  const Request& request = requests[largest.request];
  throw input::InputError(
      "/serving/load",
      fmt::format(
          "has a request of {} + {} tokens, whose KV cache of {} never fits: each {} has {} "
          "left; use more chips, a smaller \"kv\" format or shorter requests",
          request.prompt, request.output, bytes_text(largest.bytes + prefix), chip.name,
          bytes_text(cache.capacity_bytes())));
}

void check(const config::ServingConfig& config, const std::vector<Request>& requests) {
  check_requests(requests, config.pool.workload.model);
  check_pool(config.pool, config.load, requests, "/serving");
  if (config.prefill) check_pool(config.prefill->pool, config.load, requests, "/serving/prefill");
}

/// Arrivals per s; 0 if they follow from completions.
double offered_rate(const serving::Load& load, const std::vector<Request>& requests) {
  if (load.rate) return *load.rate;
  const double span_s = requests.back().arrival_s;
  if (load.concurrency || span_s <= 0.0) return 0.0;
  return static_cast<double>(requests.size() - 1) / span_s;
}

/// Requests/s if all are there from the start.
double capacity(const serving::System& system, std::vector<Request> requests) {
  for (Request& request : requests) request.arrival_s = 0.0;
  const serving::Outcome outcome = serving::simulate(system, requests);
  return static_cast<double>(requests.size()) / outcome.end_s;
}

class Server {
 public:
  Server(const config::ServingConfig& config, const ServeOptions& options)
      : config_(config), options_(options), requests_(serving::draw(config.load)) {
    check(config, requests_);
    pool_ = timed_pool(config.pool, requests_, "/serving", options);
    if (config.prefill)
      prefill_ = timed_pool(config.prefill->pool, requests_, "/serving/prefill", options);
  }

  ServeResult run() {
    const serving::System system = this->system();
    if (options_.part) options_.part(fmt::format("serving {} requests", requests_.size()));
    ServeResult result{
        .config = config_,
        .outcome = serving::simulate(system, requests_,
                                     {.steps = options_.steps, .progress = options_.progress}),
        .summary = {},
        .memory = pool_->memory};
    result.summary = serving::summarize(result.outcome, system);
    result.chips = config_.pool.chips();
    result.dollars_per_hour = dollars_per_hour();
    result.simulated_steps = pool_->costs.simulated();
    result.interpolation_error = pool_->costs.interpolation_error();
    if (prefill_) add_prefill(result);
    result.offered_per_s = offered_rate(config_.load, requests_);
    if (result.offered_per_s > 0.0 && busy_share(result) > kBusy) {
      if (options_.part) options_.part("measuring the capacity");
      result.capacity_per_s = capacity(system, requests_);
    }
    add_intervals(result);
    return result;
  }

 private:
  serving::System system() const {
    return system_of(config_, pool_->pool, prefill_ ? std::optional(prefill_->pool) : std::nullopt);
  }

  void add_intervals(ServeResult& result) const {
    config::UncertaintyConfig& requested = result.config.pool.machine.uncertainty;
    const StepCosts* const prefill = prefill_ ? &prefill_->costs : nullptr;
    if (options_.uncertainty)
      requested = variation::with_default_samples(
          requested, work_of_sample(result.outcome, pool_->costs, prefill));
    if (requested.samples == 0) return;
    if (options_.part) options_.part("intervals");
    result.intervals = intervals(result, requests_, pool_->costs, prefill,
                                 {.threads = options_.threads, .progress = options_.progress});
  }

  double dollars_per_hour() const {
    const auto price_of = [](const config::PoolConfig& pool) {
      return pool.chips() * pool.machine.chip.price.value;
    };
    const double decoding = price_of(config_.pool);
    if (!config_.prefill) return decoding;
    const double prefill = price_of(config_.prefill->pool);
    return decoding > 0.0 && prefill > 0.0 ? decoding + prefill : 0.0;
  }

  void add_prefill(ServeResult& result) const {
    result.prefill_memory = prefill_->memory;
    result.chips += config_.prefill->pool.chips();
    result.simulated_steps += prefill_->costs.simulated();
    result.interpolation_error =
        std::max(result.interpolation_error, prefill_->costs.interpolation_error());
  }

  /// Share of the time with a running step, of the busier pool.
  double busy_share(const ServeResult& result) const {
    double share = result.summary.utilization;
    if (prefill_)
      share = std::max(share, result.outcome.prefill_totals->busy.total_s() /
                                  (result.outcome.end_s * config_.prefill->pool.replicas()));
    return share;
  }

  const config::ServingConfig& config_;
  const ServeOptions& options_;
  std::vector<Request> requests_;
  std::unique_ptr<TimedPool> pool_;
  std::unique_ptr<TimedPool> prefill_;
};

}  // namespace

std::optional<double> ServeResult::dollars_per_million() const {
  if (dollars_per_hour <= 0.0) return std::nullopt;
  constexpr double kHour = 3600.0;
  constexpr double kMillion = 1e6;
  return dollars_per_hour / kHour / summary.output_tokens_per_s * kMillion;
}

PoolMemory pool_memory(const config::PoolConfig& pool, std::uint64_t longest,
                       const std::string& pointer) {
  const config::WorkloadConfig& workload = pool.workload;
  const auto tokens = static_cast<double>(pool.scheduler.limits.tokens);
  const double prompt = std::min(tokens, static_cast<double>(longest));
  workloads::Batch batch;
  batch.add(workload.model, {prompt, prompt, tokens / prompt}, workload.attention, true);
  workloads::PhaseOperations operations =
      workloads::batch_operations(workload.model, batch, pool.tensor(), workload.attention,
                                  workload.residual, workload.experts);
  workloads::apply(workload.precision.scheme, operations);
  PoolMemory memory{.weights = workloads::weight_bytes(workload.model, pool.tensor(), operations),
                    .activations = workloads::activation_bytes(workload.model, tokens, operations)};
  const double usable = pool.scheduler.memory * pool.machine.chip.hbm_capacity.value;
  memory.cache = usable - memory.weights - memory.activations;
  const serving::KvCache cache(workload.model, workload.attention, pool.tensor(), 1, memory.cache);
  if (memory.cache <= cache.bytes(1))
    throw input::DoesNotFitError(
        input::pointer(pointer, "model"),
        fmt::format(
            "{} does not fit on {} x {}: of {} usable bytes each needs {} for weights and {} "
            "for activations; use more chips, smaller formats, or fewer \"tokens\" per step",
            workload.model.name, pool.tensor(), pool.machine.chip.name, bytes_text(usable),
            bytes_text(memory.weights), bytes_text(memory.activations)),
        memory.weights + memory.activations);
  memory.positions = memory.cache / (cache.bytes(pool.workload.model.window + 2) -
                                     cache.bytes(pool.workload.model.window + 1));
  return memory;
}

serving::Pool pool_of(const config::PoolConfig& config, const PoolMemory& memory,
                      const StepCosts& costs) {
  const config::WorkloadConfig& workload = config.workload;
  return {.served = {.model = workload.model,
                     .method = workload.attention,
                     .chips = config.tensor(),
                     .cache = kv_cache(config, memory),
                     .step_time =
                         [&costs](const workloads::Batch& batch) { return costs.time(batch); }},
          .limits = config.scheduler.limits,
          .replicas = config.replicas()};
}

serving::System system_of(const config::ServingConfig& config, serving::Pool pool,
                          std::optional<serving::Pool> prefill) {
  serving::System system{.pool = std::move(pool), .prefill = {}, .load = config.load};
  if (prefill)
    system.prefill = {
        .pool = std::move(*prefill),
        .port = {.bandwidth = config.prefill->bandwidth * config.prefill->pool.tensor(),
                 .latency_s = config.prefill->latency_s}};
  return system;
}

void check(const config::ServingConfig& config) { check(config, serving::draw(config.load)); }

ServeResult serve(const config::ServingConfig& config, const ServeOptions& options) {
  return Server(config, options).run();
}

}  // namespace equarx::serve
