#include "experiments/tune/trials.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/process/side_by_side.hpp"
#include "experiments/run/source.hpp"
#include "experiments/tune/bounds.hpp"
#include "models/units/quantity.hpp"

namespace equarx::tune {
namespace {

config::ExperimentConfig without_workload(config::ExperimentConfig config) {
  config.workload.reset();
  return config;
}

}  // namespace

double trial_sample(const config::TensorConfig& tensor) {
  constexpr double kElements = 1 << 17;
  return std::min({1.0, tensor.sample, kElements / static_cast<double>(tensor.elements)});
}

TuneTrials::TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space,
                       std::uint64_t most_bytes)
    : config_(config),
      space_(space),
      most_bytes_(most_bytes),
      source_(run::make_source(config.tensor)),
      theory_(config),
      predictions_(space.families.size()),
      nmse_(space.families.size()),
      asked_(space.families.size()),
      bounds_(space.candidates.size()),
      times_(space.candidates.size()) {
  constexpr std::uint64_t kMostKept = std::uint64_t{256} << 20;  // bytes
  source_.keep(kMostKept);
  if (config.workload) workload_ = plan::plan_workload(config);
  timed_ = adds_up() ? without_workload(config) : config;
  for (std::size_t i = 0; i < space.families.size(); ++i)
    predictions_[i] = theory_.predict(scheme(i), space.families[i].config);
}

std::optional<double> TuneTrials::known_nmse(std::size_t family) const {
  if (!asked_[family]) return std::nullopt;
  const auto* const nmse = std::get_if<double>(&*nmse_[family]);
  return nmse == nullptr ? std::nullopt : std::optional(*nmse);
}

std::uint64_t TuneTrials::errors_computed() const {
  std::uint64_t count = 0;
  for (std::size_t family = 0; family < nmse_.size(); ++family)
    if (known_nmse(family)) ++count;
  return count;
}

Finding TuneTrials::nmse(std::size_t family) {
  if (!nmse_[family]) nmse_[family] = compute(family, values::default_threads());
  asked_[family] = true;
  return *nmse_[family];
}

double TuneTrials::early_bound_s(std::size_t family) const {
  return whole_s(
      traffic_bound_s(scheme(family), space_.families[family].config, config_.tensor.dtype));
}

plan::OrObstacle<double> TuneTrials::bound_s(std::size_t candidate) {
  if (!bounds_[candidate]) bounds_[candidate] = find_bound_s(candidate);
  return *bounds_[candidate];
}

plan::OrObstacle<double> TuneTrials::cost_s(std::size_t candidate) const {
  const plan::OrObstacle<double> once_s = plan::simulation_time_s(
      config_of(space_, space_.candidates[candidate]), config_, "/collectives/0");
  if (std::holds_alternative<plan::Obstacle>(once_s)) return once_s;
  return std::get<double>(once_s) * (adds_up() ? 1 : allreduces());
}

plan::OrObstacle<double> TuneTrials::find_bound_s(std::size_t candidate) const {
  const plan::OrObstacle<plan::Plan> made = plan(candidate);
  if (const auto* obstacle = std::get_if<plan::Obstacle>(&made)) return *obstacle;
  return std::max(
      early_bound_s(space_.candidates[candidate].family),
      whole_s(program_bound_s(std::get<plan::Plan>(made).collectives.front().candidates.front())));
}

const TuneTrials::Time& TuneTrials::time(std::size_t candidate) {
  if (!times_[candidate])
    times_[candidate] = simulate(candidate, plan::value_or_throw(bound_s(candidate)));
  return *times_[candidate];
}

bool TuneTrials::knows(const Question& question) const {
  if (!bounds_[question.candidate]) return false;
  if (question.of_bound) return true;
  return nmse_[space_.candidates[question.candidate].family] && !wants_time(question);
}

/// Of a question whose bound and error are known: whether its time is to be found.
bool TuneTrials::wants_time(const Question& question) const {
  // SimGrid runs in a process that has no other threads.
  if (config_.engine == config::EngineMode::simgrid || times_[question.candidate]) return false;
  const auto& nmse = *nmse_[space_.candidates[question.candidate].family];
  return std::holds_alternative<double>(*bounds_[question.candidate]) &&
         std::holds_alternative<double>(nmse) && question.wants_time(std::get<double>(nmse));
}

void TuneTrials::look_ahead(std::span<const Question> questions) {
  std::vector<std::function<void()>> work;
  const auto work_off = [&work] {
    process::for_each_side_by_side(work.size(), values::default_threads(),
                                   [&](std::size_t i) { work[i](); });
    work.clear();
  };
  std::set<std::size_t> families;
  for (const Question& question : questions) {
    const std::size_t candidate = question.candidate;
    const std::size_t family = space_.candidates[candidate].family;
    if (!bounds_[candidate])
      work.emplace_back([this, candidate] { bounds_[candidate] = find_bound_s(candidate); });
    if (!question.of_bound && !nmse_[family] && families.insert(family).second)
      work.emplace_back([this, family] { nmse_[family] = compute(family, 1); });
  }
  work_off();
  for (const Question& question : questions)
    if (!question.of_bound && wants_time(question))
      work.emplace_back([this, candidate = question.candidate] {
        times_[candidate] = simulate(candidate, std::get<double>(*bounds_[candidate]));
      });
  work_off();
}

plan::OrObstacle<plan::Plan> TuneTrials::plan(std::size_t candidate) const {
  return plan::try_plan(with_collective(timed_, config_of(space_, space_.candidates[candidate])),
                        plan::Look::at_many);
}

/// A time, or a bound, of all that is tuned, from that of one collective.
double TuneTrials::whole_s(double collective_s) const {
  if (!workload_) return collective_s;
  const std::uint32_t chips = space_.schemes.front().partition.grid().ranks();
  return adds_up() ? phase_in_step_s(config_, *workload_, chips, collective_s)
                   : phase_bound_s(config_, *workload_, chips, collective_s);
}

TuneTrials::Time TuneTrials::simulate(std::size_t candidate, double bound_s) const {
  const auto made = plan::value_or_throw(plan(candidate));
  const run::RunResult run = run::run_experiment(made, [](const std::string&) {}).runs.front();
  if (run.failure) return {};
  const double time_s = adds_up() ? whole_s(run.time_s) : run.time_s;
  if (time_s < bound_s * (1.0 - sim::kBoundRounding))
    throw input::InvariantError(fmt::format(
        "internal error in '{}': simulated time {} s is below its bound {} s; please report this",
        run.label, time_s, bound_s));
  return {time_s, adds_up() ? std::optional(run.time_s) : std::nullopt,
          run.cut ? std::optional(run.cut->minishards) : std::nullopt};
}

double TuneTrials::phase_s(std::size_t candidate) const {
  const plan::Plan made =
      plan::make_plan(with_collective(config_, config_of(space_, space_.candidates[candidate])),
                      plan::Look::at_many);
  return run::run_experiment(made, [](const std::string&) {}).runs.front().time_s;
}

/// The same values in parts that are small enough for a sample: what is not scaled has the same values
/// whatever its minishards.
config::CollectiveConfig TuneTrials::in_small_parts(std::size_t family) const {
  constexpr std::uint64_t kElements = 1 << 15;
  config::CollectiveConfig collective = space_.families[family].config;
  if (collective.format.scaled) return collective;
  std::uint64_t smallest = config_.tensor.elements;
  for_each_chunk(scheme(family).partition,
                 [&](std::uint64_t elements) { smallest = std::min(smallest, elements); });
  collective.minishards =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, smallest / kElements));
  return collective;
}

Finding TuneTrials::compute(std::size_t family, unsigned threads) const {
  config::ExperimentConfig config = with_collective(config_, in_small_parts(family));
  const plan::OrObstacle<plan::Plan> made = plan::try_plan(config, plan::Look::at_many);
  if (const auto* obstacle = std::get_if<plan::Obstacle>(&made)) return *obstacle;
  const collectives::Program& program =
      std::get<plan::Plan>(made).collectives.front().candidates.front().program;
  config.numerics = true;
  if (auto obstacle = plan::check_host_memory(program, config)) return *obstacle;
  const std::uint64_t bytes = values::memory_bytes(program, values::default_threads());
  if (bytes > most_bytes_)
    return TooMuch{fmt::format("computing its error would take {} of memory",
                               units::bytes_text(static_cast<double>(bytes)))};
  const config::TensorConfig& tensor = config_.tensor;
  const values::ValueResult result = values::execute(
      program, source_,
      {.threads = threads, .rounding_seed = tensor.values.seed, .sample = trial_sample(tensor)});
  if (!result.ranks_identical)
    throw input::InvariantError(
        "internal error: the ranks ended with different results; please report this");
  return result.against_exact.nmse;
}

}  // namespace equarx::tune
