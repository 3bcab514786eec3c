#include "experiments/serve/step_costs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/run.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::serve {
namespace {

using workloads::Batch;
using workloads::Operation;
using workloads::OperationKind;

/// Layers of a simulated step.
std::uint32_t simulated_layers(const config::PoolConfig& pool) {
  return pool.workload.chunks == 1 ? 1 : pool.workload.model.layers;
}

std::shared_ptr<const step::StepPlan> plan_of(const config::PoolConfig& pool, std::uint64_t rows) {
  return std::make_shared<const step::StepPlan>(
      step::make_plan(config::with_layers(config::step_of(pool, rows), simulated_layers(pool))));
}

/// A step with all layers.
struct Simulated {
  double exposed_s = 0.0;
  double messages = 0.0;
};

Simulated timed(const config::PoolConfig& pool, const step::StepPlan& plan) {
  const step::VariantResult result = step::run_variant(plan, plan.variants.front(), "serving");
  const std::uint32_t repeats = pool.workload.model.layers / simulated_layers(pool);
  return {repeats * result.exposed_s(), static_cast<double>(result.messages)};
}

/// Range of numbers of positions between simulated ones.
using RowRange = std::pair<std::uint64_t, std::uint64_t>;

/// Number of positions halfway, on a logarithmic scale.
std::uint64_t middle(const RowRange& interval) {
  return static_cast<std::uint64_t>(std::llround(
      std::sqrt(static_cast<double>(interval.first) * static_cast<double>(interval.second))));
}

}  // namespace

StepCosts::StepCosts(const config::PoolConfig& pool, unsigned threads)
    : pool_(pool), rates_(workloads::compute_rates(pool.machine.chip)) {
  if (pool.tensor() > 1) simulate(threads);
}

StepCosts::StepCosts(const config::PoolConfig& pool, const StepCosts& other)
    : pool_(pool),
      rates_(workloads::compute_rates(pool.machine.chip)),
      communication_(other.communication_),
      plans_(other.plans_),
      messages_(other.messages_),
      factor_(other.factor_),
      error_(other.error_) {}

StepCosts::StepCosts(const config::PoolConfig& pool, const StepCosts& nominal, double factor)
    : pool_(pool),
      rates_(workloads::compute_rates(pool.machine.chip)),
      plans_(nominal.plans_),
      factor_(factor),
      error_(nominal.error_) {
  const config::MachineParameters machine = config::parameters_of(pool.machine);
  for (const auto& [rows, plan] : plans_) {
    const Simulated there = timed(pool, step::on_machine(*plan, machine));
    communication_[rows] = there.exposed_s;
    messages_ += there.messages;
  }
}

/// Plans and simulates steps. @returns their exposed communication
std::vector<double> StepCosts::plan(const std::vector<std::uint64_t>& rows, unsigned threads) {
  std::vector<Simulated> steps(rows.size());
  std::vector<std::shared_ptr<const step::StepPlan>> plans(rows.size());
  os::parallel_for(rows.size(), threads, [&](std::size_t index, unsigned) {
    plans[index] = plan_of(pool_, rows[index]);
    steps[index] = timed(pool_, *plans[index]);
  });
  std::vector<double> seconds;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    plans_[rows[i]] = plans[i];
    messages_ += steps[i].messages;
    seconds.push_back(steps[i].exposed_s);
  }
  return seconds;
}

/// Simulates powers of two, then the middles of intervals until the interpolation is good enough.
void StepCosts::simulate(unsigned threads) {
  const auto run = [&](const std::vector<std::uint64_t>& rows) { return plan(rows, threads); };
  std::vector<std::uint64_t> powers;
  for (std::uint64_t rows = 1; rows < pool_.scheduler.limits.tokens; rows *= 2)
    powers.push_back(rows);
  powers.push_back(pool_.scheduler.limits.tokens);
  const std::vector<double> first = run(powers);
  std::vector<RowRange> open;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    communication_[powers[i]] = first[i];
    if (i > 0 && powers[i] > powers[i - 1] + 1) open.emplace_back(powers[i - 1], powers[i]);
  }
  while (!open.empty()) {
    std::vector<std::uint64_t> middles;
    for (const RowRange& interval : open) middles.push_back(middle(interval));
    const std::vector<double> seconds = run(middles);
    std::vector<RowRange> next;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const auto rows = static_cast<double>(middles[i]);
      const double step_s = seconds[i] + rest_s({.rows = rows, .logits = rows});
      const double error = std::abs(communication_s(rows) - seconds[i]) / step_s;
      const auto& [low, high] = open[i];
      const bool is_narrow = high - low <= 3 || high * 8 < low * 9;
      if (error > kTolerance && !is_narrow) {
        next.emplace_back(low, middles[i]);
        next.emplace_back(middles[i], high);
      } else {
        error_ = std::max(error_, error);
      }
    }
    for (std::size_t i = 0; i < open.size(); ++i) communication_[middles[i]] = seconds[i];
    std::erase_if(next,
                  [](const RowRange& interval) { return interval.second <= interval.first + 1; });
    open = std::move(next);
  }
}

double StepCosts::communication_s(double rows) const {
  if (communication_.empty()) return 0.0;
  const auto above = communication_.lower_bound(static_cast<std::uint64_t>(std::ceil(rows)));
  if (above == communication_.end()) {  // a whole prompt beyond the limit of a step
    const auto last = std::prev(above);
    return last->second * rows / static_cast<double>(last->first);
  }
  if (above == communication_.begin() || static_cast<double>(above->first) == rows)
    return above->second;
  const auto below = std::prev(above);
  const double place =
      (rows - static_cast<double>(below->first)) / static_cast<double>(above->first - below->first);
  return std::lerp(below->second, above->second, place);
}

/// Chunks of a step with this many positions.
std::uint32_t StepCosts::chunks(double rows) const {
  return std::min(pool_.workload.chunks, static_cast<std::uint32_t>(std::max(1.0, rows)));
}

/// Time of an operation in the chunks of a step.
double StepCosts::chunked_s(const Operation& operation, std::uint32_t chunks) const {
  if (workloads::is_collective(operation.kind)) return 0.0;
  if (chunks == 1) return workloads::roofline(operation, rates_).seconds;
  return chunks * workloads::roofline(workloads::part_of(operation, chunks), rates_).seconds;
}

double StepCosts::total_s(const std::vector<Operation>& operations, std::uint32_t chunks) const {
  double seconds = 0.0;
  for (const Operation& operation : operations) seconds += chunked_s(operation, chunks);
  return seconds;
}

/// Time of all operations but attention, which depend on the numbers of positions and logits alone.
double StepCosts::rest_s(const Batch& batch) const {
  constexpr int kHalf = 32;
  const std::uint64_t key =
      static_cast<std::uint64_t>(batch.rows) << kHalf | static_cast<std::uint64_t>(batch.logits);
  const auto [found, is_new] = rest_.try_emplace(key, 0.0);
  if (!is_new) return found->second;
  const config::WorkloadConfig& workload = pool_.workload;
  const Batch rest{.rows = batch.rows, .logits = batch.logits, .local = {}, .global = {}};
  workloads::PhaseOperations operations =
      workloads::batch_operations(workload.model, rest, pool_.tensor(), workload.attention,
                                  workload.residual, workload.experts);
  workloads::apply(workload.precision.scheme, operations);
  const auto seconds = [&, parts = chunks(batch.rows)](const std::vector<Operation>& part) {
    return total_s(part, parts);
  };
  found->second =
      seconds(operations.embedding) + (batch.logits > 0.0 ? seconds(operations.head) : 0.0);
  for (const auto& [kind, layers] : workloads::layer_kinds(workload.model))
    found->second += layers * seconds(operations.layer(kind));
  return found->second;
}

double StepCosts::attention_s(const Batch::Layer& layer, std::uint32_t chunks) const {
  const config::WorkloadConfig& workload = pool_.workload;
  const workloads::Shard shard = workloads::shard(workload.model, pool_.tensor());
  double seconds = 0.0;
  for (const workloads::Attended* attended : {&layer.prompts, &layer.decoding}) {
    if (attended->rows <= 0.0) continue;
    std::vector<Operation> operations =
        workloads::attention_operations(workload.model, *attended, shard, workload.attention);
    workloads::apply(workload.precision.scheme, operations);
    seconds += total_s(operations, chunks);
  }
  return seconds;
}

serving::StepTime StepCosts::time(const Batch& batch) const {
  const std::uint32_t local = workloads::local_layers(pool_.workload.model);
  const std::uint32_t parts = chunks(batch.rows);
  double attention = (pool_.workload.model.layers - local) * attention_s(batch.global, parts);
  if (local > 0) attention += local * attention_s(batch.local, parts);
  return {.compute_s = factor_ * (rest_s(batch) + attention),
          .communication_s = factor_ * communication_s(batch.rows),
          .overhead_s = pool_.scheduler.step_overhead_s};
}

}  // namespace equarx::serve
