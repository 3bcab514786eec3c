#include "experiments/capacity/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/accuracy/rows.hpp"
#include "experiments/accuracy/summary.hpp"
#include "experiments/capacity/format_errors.hpp"
#include "experiments/capacity/rate_interval.hpp"
#include "experiments/capacity/steady.hpp"
#include "experiments/config/model_json.hpp"
#include "experiments/config/serving_json.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::capacity {
namespace {

/// Positions per step that are compared.
constexpr std::array<std::uint64_t, 3> kTokens = {512, 2048, 8192};
constexpr std::uint64_t kMostTokens = kTokens.back();

/// A limit of positions per step, with the memory of a chip.
struct StepSize {
  std::uint64_t tokens = 0;
  serve::PoolMemory memory;
};

/// A candidate with all that its simulation needs.
struct Prepared {
  Candidate candidate;
  config::ServingConfig config;
  std::unique_ptr<serve::StepCosts> costs;

  Prepared(Candidate of, config::ServingConfig serving, const serve::StepCosts& same_machine)
      : candidate(std::move(of)),
        config(std::move(serving)),
        costs(std::make_unique<serve::StepCosts>(config.pool, same_machine)) {}
};

/// Larger is better: tokens per $ if all machines have a price, else per chip.
double merit(const Request& request, const Candidate& candidate, bool by_price) {
  const double per_chip = candidate.output_tokens_per_s_per_chip(request);
  return by_price ? per_chip / candidate.machine.dollars_per_hour : per_chip;
}

/// True for candidates that differ at most in the size of their steps.
bool have_same_choice(const Candidate& one, const Candidate& other) {
  return one.machine.chip == other.machine.chip && one.machine.chips == other.machine.chips &&
         one.formats == other.formats;
}

class Search {
 public:
  Search(const Request& request, const PlanOptions& options)
      : request_(request), options_(options), plan_{.request = request} {}

  Plan run() && {
    estimate();
    simulate();
    finish();
    return std::move(plan_);
  }

 private:
  void part(const std::string& text) const {
    if (options_.part) options_.part(text);
  }

  void estimate() {
    std::vector<Machine> machines;
    for (const std::string& chip : request_.chips) {
      const std::vector<Machine> of_chip = machines_of(chip, request_.sizes);
      machines.insert(machines.end(), of_chip.begin(), of_chip.end());
    }
    for (Machine& machine : machines) {
      const auto price = request_.dollars_per_hour.find(machine.chip);
      if (price != request_.dollars_per_hour.end()) machine.dollars_per_hour = price->second;
      by_price_ &= machine.dollars_per_hour > 0.0;
    }
    if (machines.empty())
      throw input::InputError("--sizes", "none of the chips is offered in these numbers");
    for (std::size_t i = 0; i < machines.size(); ++i) {
      part(fmt::format("steps of {} x {}", machines[i].chips, machines[i].chip));
      if (options_.progress)
        options_.progress(static_cast<double>(i) / static_cast<double>(machines.size()));
      add_machine(machines[i]);
    }
    std::ranges::stable_sort(prepared_, std::ranges::greater(), [&](const auto& prepared) {
      return merit(request_, prepared->candidate, by_price_);
    });
  }

  void add_machine(const Machine& machine) {
    const std::vector<std::string> plain = {"bf16"};
    for (const std::string& collective : machine.chips > 1 ? request_.collectives : plain) {
      std::unique_ptr<serve::StepCosts> communication;
      std::optional<config::ServingConfig> owner;  // of the communication
      for (const std::string& precision : request_.precisions)
        for (const std::string& kv : request_.kv)
          add_formats(machine, {precision, kv, collective}, owner, communication);
    }
  }

  void add_formats(const Machine& machine, const Formats& formats,
                   std::optional<config::ServingConfig>& owner,
                   std::unique_ptr<serve::StepCosts>& communication) {
    const auto refuse = [&](const std::string& reason) {
      plan_.obstacles.push_back({machine, formats, reason});
    };
    try {
      config::ServingConfig config =
          config::read_serving(configuration(request_, machine, formats, kMostTokens, 1, 1.0));
      const std::string lacking = missing_rate(config.pool);
      if (!lacking.empty()) return refuse(lacking);
      const std::vector<StepSize> sizes = fitting_sizes(config.pool);
      if (!communication) {
        owner = config;
        communication = std::make_unique<serve::StepCosts>(owner->pool, options_.threads);
      }
      std::string reason;
      bool meets = false;
      for (const StepSize& size : sizes) {
        config.pool.scheduler.limits.tokens = size.tokens;
        const std::string obstacle = add_candidate(machine, formats, size, config, *communication);
        meets |= obstacle.empty();
        reason = obstacle;  // of the largest steps that fit
      }
      if (!meets) refuse(reason);
    } catch (const input::DoesNotFitError& error) {
      refuse(fmt::format("needs {} per chip, more than it has",
                         units::bytes_text(error.needs_bytes())));
    } catch (const input::InputError& error) {
      refuse(error.message());
    }
  }

  /// The sizes of steps whose activations leave room for a KV cache.
  /// @throws input::DoesNotFitError without any
  std::vector<StepSize> fitting_sizes(config::PoolConfig pool) const {
    std::vector<StepSize> sizes;
    for (const std::uint64_t tokens : kTokens) {
      pool.scheduler.limits.tokens = tokens;
      try {
        sizes.push_back({tokens, serve::pool_memory(pool, request_.prompt, "/serving")});
      } catch (const input::DoesNotFitError&) {
        if (sizes.empty()) throw;
        break;  // larger steps need more
      }
    }
    return sizes;
  }

  /// Returns why GEMMs of the scheme cannot run on the chip; empty if they can.
  static std::string missing_rate(const config::PoolConfig& pool) {
    const auto type = workloads::products_of(pool.workload.precision.scheme.unit);
    if (hardware::matrix_rate(pool.machine.chip, type) > 0.0) return "";
    return fmt::format("has no {} GEMMs", hardware::name(type));
  }

  /// Adds a candidate, unless its steady state misses a limit: then returns why.
  std::string add_candidate(const Machine& machine, const Formats& formats, const StepSize& size,
                            const config::ServingConfig& config,
                            const serve::StepCosts& communication) {
    const serve::StepCosts costs(config.pool, communication);
    const config::WorkloadConfig& workload = config.pool.workload;
    const double ttft_s =
        unloaded_ttft(request_, workload.model, workload.attention, costs, size.tokens);
    if (ttft_s > request_.ttft_s)
      return fmt::format("a prompt takes {} without load", units::time_text(ttft_s));
    const SteadyState state = steady(request_, config.pool, size.memory, costs);
    if (state.sequences == 0) {
      const SteadyState one =
          steady_state(request_, workload.model, workload.attention, costs, 1, size.tokens);
      if (one.tpot_s > request_.tpot_s)
        return fmt::format("a token takes {} without load", units::time_text(one.tpot_s));
      return "the KV cache has no room for a request";
    }
    config::ServingConfig limited = config;
    limited.pool.scheduler.limits.sequences = state.sequences;
    Candidate candidate{.machine = machine,
                        .formats = formats,
                        .tokens = size.tokens,
                        .estimate = state,
                        .memory = size.memory};
    if (machine.dollars_per_hour > 0.0)
      candidate.dollars_per_hour = machine.dollars_per_hour * machine.chips;
    prepared_.push_back(
        std::make_unique<Prepared>(std::move(candidate), std::move(limited), communication));
    return "";
  }

  /// The best of all, and of every chip, in each of their step sizes.
  std::vector<Prepared*> finalists() const {
    using Key = std::tuple<std::string, std::uint32_t>;
    std::map<Key, int> of_machine;
    std::map<std::string, int> of_chip;
    std::vector<Prepared*> chosen;
    std::vector<const Candidate*> choices;
    for (const std::unique_ptr<Prepared>& prepared : prepared_) {
      const Candidate& one = prepared->candidate;
      const auto is_same = [&](const Candidate* choice) { return have_same_choice(*choice, one); };
      if (std::ranges::none_of(choices, is_same)) {
        const bool first_of_chip = of_chip[one.machine.chip] == 0;
        const bool wanted = choices.size() < request_.ranked &&
                            of_machine[Key(one.machine.chip, one.machine.chips)] < 2;
        if (!first_of_chip && !wanted) continue;
        ++of_chip[one.machine.chip];
        ++of_machine[Key(one.machine.chip, one.machine.chips)];
        choices.push_back(&one);
      }
      chosen.push_back(prepared.get());
    }
    return chosen;
  }

  void simulate() {
    const std::vector<Prepared*> chosen = finalists();
    part(fmt::format("loads on {} candidates", chosen.size()));
    os::parallel_for(chosen.size(), options_.threads, [&](std::size_t index, unsigned thread) {
      simulate(*chosen[index]);
      if (thread == 0 && options_.progress)
        options_.progress(static_cast<double>(index) / static_cast<double>(chosen.size()));
    });
    for (const Prepared* const prepared : chosen) keep_best(*prepared);
    std::ranges::stable_sort(plan_.ranked, std::ranges::greater(),
                             [&](const Candidate& one) { return merit(request_, one, by_price_); });
  }

  void simulate(Prepared& prepared) const {
    serving::System system{
        .pool = serve::pool_of(prepared.config.pool, prepared.candidate.memory, *prepared.costs),
        .prefill = {},
        .load = prepared.config.load};
    constexpr std::uint64_t kTurns = 6;  // requests per place
    system.load.requests =
        std::max(system.load.requests, kTurns * prepared.candidate.estimate.sequences);
    prepared.candidate.points =
        largest_rate(request_, system, prepared.candidate.estimate.requests_per_s);
  }

  /// Ranks the best step size of a machine in some formats.
  void keep_best(const Prepared& prepared) {
    const Candidate& one = prepared.candidate;
    if (one.points.empty()) return;
    const auto same = std::ranges::find_if(
        plan_.ranked, [&](const Candidate& other) { return have_same_choice(other, one); });
    if (same == plan_.ranked.end())
      plan_.ranked.push_back(one);
    else if (same->requests_per_s() < one.requests_per_s())
      *same = one;
  }

  void finish() {
    for (const std::unique_ptr<Prepared>& prepared : prepared_) {
      plan_.estimated.push_back(prepared->candidate);
      plan_.estimated.back().points.clear();
    }
    if (const auto known =
            accuracy::discrepancy(accuracy::built_in_rows(), accuracy::Question::serving))
      plan_.spread = known->spread;
    part("errors of formats");
    for (Candidate& one : plan_.ranked) add_errors(one);
    if (plan_.ranked.empty()) return;
    part("intervals");
    for (Candidate& one : plan_.ranked) add_interval(one);
    part("sensitivities");
    const Candidate& best = plan_.ranked.front();
    plan_.sensitivities =
        sensitivities(request_, best.machine, best.formats, best.tokens, options_.threads);
  }

  void add_interval(Candidate& one) const {
    const auto prepared =
        std::ranges::find_if(prepared_, [&](const std::unique_ptr<Prepared>& other) {
          const Candidate& same = other->candidate;
          return have_same_choice(same, one) && same.tokens == one.tokens;
        });
    const auto factors = rate_factors(request_, (*prepared)->config.pool, one.memory,
                                      *(*prepared)->costs, options_.threads);
    if (factors)
      one.interval = {factors->low * one.requests_per_s(), factors->high * one.requests_per_s()};
  }

  void add_errors(Candidate& one) const {
    const config::PoolConfig pool = config::read_serving(configuration(request_, one)).pool;
    const std::optional<stored::StoredFormat>& weights = pool.workload.precision.scheme.weights;
    if (weights) one.errors.weights_nmse = stored_nmse(*weights);
    one.errors.kv_nmse = attention_nmse(pool);
    one.errors.sums_nmse = sums_nmse(pool);
  }

  const Request& request_;
  const PlanOptions& options_;
  std::vector<std::unique_ptr<Prepared>> prepared_;
  bool by_price_ = true;  ///< all machines have a price
  Plan plan_;
};

}  // namespace

double Candidate::requests_per_s() const {
  return points.empty() ? estimate.requests_per_s : points.back().requests_per_s;
}

double Candidate::output_tokens_per_s_per_chip(const Request& request) const {
  return requests_per_s() * static_cast<double>(request.output) / machine.chips;
}

std::optional<double> Candidate::dollars_per_million(const Request& request) const {
  if (!dollars_per_hour) return std::nullopt;
  constexpr double kMillion = 1e6;
  constexpr double kHour = 3600.0;
  return *dollars_per_hour / kHour / (requests_per_s() * static_cast<double>(request.output)) *
         kMillion;
}

Plan plan(const Request& request, const PlanOptions& options) {
  return Search(request, options).run();
}

input::JsonValue configuration(const Request& request, const Candidate& candidate) {
  return configuration(request, candidate.machine, candidate.formats, candidate.tokens,
                       candidate.estimate.sequences, candidate.requests_per_s());
}

}  // namespace equarx::capacity
