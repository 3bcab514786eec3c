#include "experiments/tune/trials.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/process/parallel_for.hpp"
#include "base/units/quantity.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/plan/engine.hpp"
#include "experiments/run/source.hpp"
#include "experiments/tune/bounds.hpp"
#include "models/hardware/workgroups.hpp"

namespace equarx::tune {
namespace {

/// Increases the minishards of an unscaled collective for a small sample, and sends each at once; its
/// values depend on neither. `partition`: of the tensor
config::CollectiveConfig in_small_parts(config::CollectiveConfig collective,
                                        const collectives::Partition& partition) {
  constexpr std::uint64_t kElements = 1 << 15;
  if (collective.format.scaled) return collective;
  if (!numerics::rounds_randomly(collective.format)) collective.microshards = 1;
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for_each_chunk(partition,
                 [&](std::uint64_t elements) { smallest = std::min(smallest, elements); });
  collective.minishards =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, smallest / kElements));
  return collective;
}

/// Bytes that a thread of errors may take; one that takes more is computed by fewer threads, one such
/// error at a time.
constexpr std::uint64_t kMuch = std::uint64_t{96} << 20;

/// NMSE of a program. `concurrent`: threads that compute errors concurrently, in all
/// `large`: held while an error takes much memory
ExpectedNmse program_nmse(const collectives::Program& program,
                          const config::ExperimentConfig& config,
                          const values::TensorSource& source, unsigned threads, unsigned concurrent,
                          std::uint64_t most_bytes, std::mutex& large) {
  const values::MemoryNeed need = values::memory_need(program);
  if (auto fits = plan::check_host_memory(need, program, config, concurrent); !fits)
    return tl::unexpected<NoNmse>(fits.error());
  const std::uint64_t bytes = need.bytes(concurrent);
  if (bytes > most_bytes)
    return tl::unexpected<NoNmse>(
        Skipped{fmt::format("computing its error would take {} of memory",
                            units::bytes_text(static_cast<double>(bytes)))});
  const std::uint64_t of_thread = std::max<std::uint64_t>(need.bytes(1), 1);
  const std::uint64_t together = std::max(threads, concurrent) * kMuch / of_thread;
  threads = static_cast<unsigned>(std::clamp<std::uint64_t>(together, 1, threads));
  std::unique_lock alone(large, std::defer_lock);
  if (of_thread > kMuch) alone.lock();
  const values::ValueResult result = values::execute(program, source,
                                                     {.threads = threads,
                                                      .rounding_seed = config.tensor.values.seed,
                                                      .sample = trial_sample(config.tensor),
                                                      .counts = false,
                                                      .traffic = false});
  if (!result.ranks_identical)
    throw input::InvariantError(
        "internal error: the ranks ended with different results; please report this");
  return result.against_exact.comparable_nmse();
}

/// NMSE of the only collective of a configuration.
ExpectedNmse config_nmse(const config::ExperimentConfig& config, const values::TensorSource& source,
                         unsigned threads, unsigned concurrent, std::uint64_t most_bytes,
                         std::mutex& large) {
  const plan::Expected<plan::Plan> made = plan::try_plan(config, plan::RunProfile::batch);
  if (!made) return tl::unexpected<NoNmse>(made.error());
  return program_nmse(made->collectives.front().candidates.front().program, config, source, threads,
                      concurrent, most_bytes, large);
}

}  // namespace

double trial_sample(const config::TensorConfig& tensor) {
  return std::min(tensor.sample, config::small_sample(tensor.elements));
}

TuneTrials::TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space,
                       std::uint64_t most_bytes)
    : config_(config),
      space_(space),
      most_bytes_(most_bytes),
      source_(run::make_source(config.tensor)),
      theory_(config),
      predictions_(space.families.size()),
      requested_(space.families.size()),
      broken_(space.families.size()),
      nmse_(
          space.families.size(), [this](std::size_t family) { return compute(family); }, pool_),
      bounds_(
          space.candidates.size(), [this](std::size_t candidate) { return find_bounds(candidate); },
          pool_),
      times_(
          space.candidates.size(), [this](std::size_t candidate) { return simulate(candidate); },
          pool_),
      pool_(plan::simulating_threads(config.engine) - 1) {
  constexpr std::uint64_t kMostKept = std::uint64_t{64} << 20;  // bytes; more save little time
  source_.keep(kMostKept);
  process::parallel_for(space.families.size(), values::default_threads(), [&](std::size_t i) {
    predictions_[i] = theory_.predict(scheme(i), space.families[i].config);
  });
}

std::optional<double> TuneTrials::computed_nmse(std::size_t family) const {
  if (!requested_[family]) return std::nullopt;
  const ExpectedNmse& nmse = nmse_.at(family);
  return nmse ? std::optional(*nmse) : std::nullopt;
}

std::uint64_t TuneTrials::errors_computed() const {
  std::uint64_t count = 0;
  for (std::size_t family = 0; family < requested_.size(); ++family)
    if (computed_nmse(family)) ++count;
  return count;
}

ExpectedNmse TuneTrials::nmse(std::size_t family) {
  const ExpectedNmse& nmse = nmse_.get(family);
  requested_[family] = true;
  return nmse;
}

std::optional<contract::Broken> TuneTrials::known_broken(
    std::size_t family, std::span<const contract::Promise> promises) const {
  for (const contract::Promise promise : promises)
    if (const auto& reason = broken_[family][static_cast<std::size_t>(promise)];
        reason && !reason->empty())
      return contract::Broken{promise, *reason};
  return std::nullopt;
}

void TuneTrials::note_broken(std::size_t family, const contract::Broken& broken) {
  broken_[family][static_cast<std::size_t>(broken.promise)] = broken.reason;
}

std::optional<contract::Broken> TuneTrials::find_broken(
    std::size_t family, std::span<const contract::Promise> promises) {
  if (auto known = known_broken(family, promises)) return known;
  std::vector<contract::Promise> open;
  std::ranges::copy_if(promises, std::back_inserter(open), [&](contract::Promise promise) {
    return !broken_[family][static_cast<std::size_t>(promise)];
  });
  if (open.empty()) return std::nullopt;
  config::ExperimentConfig config = with_collective(config_, space_.families[family].config);
  config.tensor.sample = 1.0;  // make_contract() takes the share apart
  auto found =
      contract::find_broken(config, open, trial_sample(config_.tensor), values::default_threads());
  if (found)
    note_broken(family, *found);
  else
    for (const contract::Promise promise : open) note_broken(family, {promise, {}});
  return found;
}

double TuneTrials::early_bound_s(std::size_t family) const {
  return traffic_bound_s(scheme(family), space_.families[family].config, config_.tensor.dtype);
}

plan::Expected<double> TuneTrials::cost_s(std::size_t candidate) const {
  return plan::simulation_time_s(config_of(space_, space_.candidates[candidate]), config_,
                                 "/collectives/0");
}

plan::Expected<TuneTrials::Bounds> TuneTrials::find_bounds(std::size_t candidate) const {
  return plan(candidate).map([&](const plan::Plan& made) {
    const plan::CollectivePlan& planned = made.collectives.front().candidates.front();
    const auto [family, microshards] = space_.candidates[candidate];
    Bounds bounds{.whole_s = std::max(early_bound_s(family), program_bound_s(planned))};
    if (microshards > 1 || hardware::workgroups(config_.chip)) return bounds;
    bounds.core_s = tune::core_bound_s(planned);
    bounds.microshard_s = core_of_microshard_s(planned, config_.chip);
    return bounds;
  });
}

double TuneTrials::core_bound_s(std::size_t candidate) {
  bounds_.get(first_candidate(space_.candidates[candidate].family));
  return known_core_bound_s(candidate).value();
}

std::optional<double> TuneTrials::known_core_bound_s(std::size_t candidate) const {
  const auto [family, microshards] = space_.candidates[candidate];
  const std::size_t first = first_candidate(family);
  if (!bounds_.is_ready(first)) return std::nullopt;
  const plan::Expected<Bounds>& bounds = bounds_.at(first);
  return bounds ? bounds->core_s + (microshards - 1) * bounds->microshard_s : 0.0;
}

bool TuneTrials::may_fail() const {
  return std::ranges::any_of(config_.faults.links, [](const config::LinkFault& link) {
    return link.fails_at_s.has_value();
  });
}

bool TuneTrials::is_ready(const Key& key) const {
  if (!bounds_.is_ready(key.candidate)) return false;
  if (key.of_bound) return true;
  return nmse_.is_ready(space_.candidates[key.candidate].family) &&
         (!needs_time(key) || times_.is_ready(key.candidate));
}

/// True if the time of a key with bound and error is needed.
bool TuneTrials::needs_time(const Key& key) const {
  const ExpectedNmse& nmse = nmse_.at(space_.candidates[key.candidate].family);
  return bounds_.at(key.candidate) && nmse && *nmse < key.nmse_below;
}

void TuneTrials::look_ahead(const std::vector<Key>& keys) {
  std::vector<process::ThreadPool::Work> work;
  work.reserve(keys.size());
  for (const Key& key : keys) work.emplace_back([this, key] { compute_ahead(key); });
  pool_.replace_queue(std::move(work));
}

/// Computes the results in order, each only if the previous ones require it.
void TuneTrials::compute_ahead(const Key& key) {
  bounds_.prepare(key.candidate);
  if (key.of_bound || !bounds_.is_ready(key.candidate)) return;
  if (may_fail()) {
    times_.prepare(key.candidate);
    if (!times_.is_ready(key.candidate) || !times_.at(key.candidate).time_s) return;
  }
  const std::size_t family = space_.candidates[key.candidate].family;
  nmse_.prepare(family);
  if (nmse_.is_ready(family) && needs_time(key)) times_.prepare(key.candidate);
}

plan::Expected<plan::Plan> TuneTrials::plan(std::size_t candidate) const {
  return plan::try_plan(with_collective(config_, config_of(space_, space_.candidates[candidate])),
                        plan::RunProfile::batch);
}

TuneTrials::Time TuneTrials::simulate(std::size_t candidate) const {
  const double bound_s = bounds_.at(candidate).value().whole_s;
  const auto made = plan::value_or_throw(plan(candidate));
  const unsigned threads = pool_.threads() > 0 ? 1 : 0;  // others simulate, too
  const run::RunResult run =
      run::run_experiment(made, [](const std::string&) {}, {.threads = threads}).runs.front();
  if (run.failure) return {};
  if (run.time_s < bound_s * (1.0 - sim::kBoundRounding))
    throw input::InvariantError(fmt::format(
        "internal error in '{}': simulated time {} s is below its bound {} s; please report this",
        run.label, run.time_s, bound_s));
  return {run.time_s, run.cut ? std::optional(run.cut->minishards) : std::nullopt};
}

/// With a pool, several errors are computed concurrently, each by one thread, and by those that wait.
ExpectedNmse TuneTrials::compute(std::size_t family) const {
  const unsigned all = values::default_threads();
  const unsigned threads =
      pool_.threads() > 0 ? std::min(all, 1 + static_cast<unsigned>(pool_.idle())) : all;
  const config::CollectiveConfig collective =
      in_small_parts(space_.families[family].config, scheme(family).partition);
  return config_nmse(with_collective(config_, collective), source_, threads, all, most_bytes_,
                     large_);
}

ExpectedNmse trial_nmse(const plan::CollectivePlan& planned, const config::ExperimentConfig& config,
                        std::uint64_t most_bytes) {
  const unsigned all = values::default_threads();
  std::mutex large;
  const values::TensorSource source = run::make_source(config.tensor);
  const config::CollectiveConfig& collective = config.collectives.front();
  if (collective.format.scaled)
    return program_nmse(planned.program, config, source, all, 1, most_bytes, large);
  return config_nmse(with_collective(config, in_small_parts(collective, planned.program.partition)),
                     source, all, 1, most_bytes, large);
}

}  // namespace equarx::tune
