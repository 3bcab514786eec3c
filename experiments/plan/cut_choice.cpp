#include "experiments/plan/cut_choice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/plan/costs.hpp"
#include "experiments/plan/kept_by_request.hpp"
#include "experiments/plan/machine.hpp"
#include "experiments/plan/program_cache.hpp"
#include "experiments/plan/programs.hpp"
#include "experiments/plan/symmetric_timing.hpp"
#include "models/collectives/divide_up.hpp"
#include "sim/time_executor.hpp"

namespace equarx::plan {
namespace {

using collectives::Cut;
using collectives::PartSizes;
using collectives::ProgramRequest;
using collectives::RankGrid;

/// Ring steps are alike, so the best tiling for this many ranks is also the best on longer rings.
constexpr std::uint32_t kMostRingRanks = 16;
/// Minishards are alike as well.
constexpr std::uint32_t kMostTriedMinishards = 8;
/// Larger programs are not tried: generating one takes milliseconds.
constexpr double kMostTriedMessages = 5e3;
/// Minishards tried if elements_per_scale requires fewer; more do not improve the overlap.
constexpr std::uint32_t kEnoughMinishards = 4;
/// Microshards of the largest minishard; on several axes further candidates tile the smaller ones
/// alike.
constexpr std::array<std::uint32_t, 7> kMicroshards = {1, 2, 3, 4, 5, 6, 8};
/// Relative gain that justifies finer tiling, with its additional messages.
constexpr double kRelevantGain = 0.001;
/// Candidates finer than one that is slower by this share are skipped: the time has one minimum,
/// apart from ripples of 8 % where a few parts of a BF16 tensor make links and cores wait in turn.
constexpr double kRipple = 0.15;

/// True if representative chips give the time of all, ignoring faults and unequal links: on rings
/// whose neighbours have dedicated links, or are on a switch.
bool uses_dedicated_rings(const config::CollectiveConfig& collective,
                          const ProgramRequest& request) {
  if (request.collective == collectives::Collective::broadcast) return false;
  const collectives::RankLayout layout = collective.algorithm->layout;
  const bool folded = std::ranges::find(request.folded, true) != request.folded.end();
  return layout == collectives::RankLayout::ring ||
         (layout == collectives::RankLayout::grid && !folded);
}

/// The same chunks on a shorter ring; other grids are unchanged.
ProgramRequest short_ring(ProgramRequest request) {
  const std::uint32_t ranks = request.grid.ranks();
  if (request.grid.axes() > 1 || ranks <= kMostRingRanks) return request;
  // the two directions of a semi-loop differ if odd
  const std::uint32_t fewer = kMostRingRanks - ranks % 2;
  request.grid = RankGrid({fewer});
  request.elements = collectives::divide_up(request.elements, ranks) * fewer;
  return request;
}

/// The times of a program, kept for further points and candidates of this process; null if its ranks
/// differ. Precondition: can_be_kept(). @throws std::invalid_argument like AlgorithmInfo::make
std::shared_ptr<const SymmetricTiming> timing_of(config::Algorithm algorithm,
                                                 const ProgramRequest& request) {
  constexpr std::uint64_t kMostBytes = 4 << 20;
  static KeptByRequest<SymmetricTiming> kept(kMostBytes);
  if (auto known = kept.find(algorithm, request)) return known;
  const auto program = program_cache().make(algorithm, request);
  if (!SymmetricTiming::can_be_timed(*program)) return nullptr;
  auto made = std::make_shared<const SymmetricTiming>(*program);
  kept.keep(algorithm, request, made, made->bytes());
  return made;
}

/// Time of a program on representative chips, in seconds.
double simulated_s(const collectives::Program& program, const config::ExperimentConfig& config) {
  const sim::Machine machine = representative_of(program, config);
  return sim::simulate(
             program, machine, program_costs(program, config.chip, config.wire_buffers),
             {.engine = sim::Engine::direct,
              .by_class = sim::by_class(machine, std::vector<std::uint32_t>(machine.ranks()))})
      .time_s;
}

/// A simulated tiling.
struct Trial {
  PartSizes sizes;
  std::vector<Cut> cuts{};  ///< cut of every stage
  double messages = 0.0;    ///< approximate messages per rank and phase
  double time_s = 0.0;
};

/// Simulates tilings of one collective.
class CutTrials {
 public:
  CutTrials(const config::CollectiveConfig& collective, const RankGrid& grid,
            const config::ExperimentConfig& config)
      : collective_(collective),
        config_(config),
        request_(short_ring(program_request(collective, grid, config))) {
    limit_minishards();
    rounds_ = collective.algorithm->rounds(request_);
    const auto [least, most] =
        std::ranges::minmax_element(rounds_, {}, &collectives::Rounds::elements);
    smallest_ = least->elements;
    largest_ = most->elements;
  }

  /// Minishards of the largest chunk that elements_per_scale requires.
  std::uint32_t fewest_minishards() const { return cut({}, largest_).minishards; }
  std::uint64_t largest_chunk() const { return largest_; }
  std::uint64_t smallest_chunk() const { return smallest_; }
  const std::vector<Trial>& done() const { return done_; }

  /// In seconds; std::nullopt if the program is too large or has more parts than elements.
  std::optional<double> time_s(const PartSizes& sizes) {
    Trial trial{sizes};
    for (const collectives::Rounds& round : rounds_) {
      const Cut& parts = trial.cuts.emplace_back(cut(sizes, round.elements));
      trial.messages += round.count * parts.minishards * (parts.microshards + 1.0);
    }
    const auto found = std::ranges::find(done_, trial.cuts, &Trial::cuts);
    if (found != done_.end()) return found->time_s;
    if (trial.messages > kMostTriedMessages) return std::nullopt;
    const std::optional<double> time_s = simulate(sizes);
    if (!time_s) return std::nullopt;
    trial.time_s = *time_s;
    done_.push_back(std::move(trial));
    return time_s;
  }

 private:
  /// Reduces the minishards of a single-axis collective, whose rounds all have the same chunks.
  void limit_minishards() {
    if (request_.grid.axes() > 1) return;
    const std::uint64_t chunk = collective_.algorithm->rounds(request_).front().elements;
    const std::uint32_t minishards = cut({}, chunk).minishards;
    if (minishards > kMostTriedMinishards)
      request_.elements =
          collectives::divide_up(request_.elements, minishards) * kMostTriedMinishards;
  }

  Cut cut(const PartSizes& sizes, std::uint64_t elements) const {
    collectives::CutRule rule = request_.cut;
    rule.sizes = sizes;
    return choose_cut(rule, collective_.format, elements);
  }

  std::optional<double> simulate(const PartSizes& sizes) const {
    ProgramRequest request = request_;
    request.cut.sizes = sizes;
    try {
      if (SymmetricTiming::supports(config_) && can_be_kept(collective_.algorithm, request))
        if (const auto timing = timing_of(collective_.algorithm, request))
          return timing->time_s(config_.chip);
      return simulated_s(*program_cache().make(collective_.algorithm, request), config_);
    } catch (const std::invalid_argument&) {  // invalid partition
      return std::nullopt;
    }
  }

  const config::CollectiveConfig& collective_;
  const config::ExperimentConfig& config_;
  ProgramRequest request_;
  std::vector<collectives::Rounds> rounds_;
  std::uint64_t largest_ = 0;
  std::uint64_t smallest_ = 0;
  std::vector<Trial> done_;
};

/// Candidate numbers of microshards of the largest minishard; beyond kMostMicroshards they only
/// subdivide smaller ones.
std::vector<std::uint32_t> microshard_candidates(const CutTrials& trials) {
  std::vector<std::uint32_t> all(kMicroshards.begin(), kMicroshards.end());
  const std::uint64_t ratio = trials.largest_chunk() / trials.smallest_chunk();
  const std::uint64_t most = collectives::kMostMicroshards * ratio;
  for (std::uint64_t fineness = all.back(); fineness < most;) {
    fineness = std::min(2 * fineness, most);
    all.push_back(static_cast<std::uint32_t>(fineness));
  }
  return all;
}

/// Tries all microshards for one minishard size; returns the shortest time, in seconds.
double try_microshards(CutTrials& trials, std::uint64_t minishard) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const std::uint32_t fineness : microshard_candidates(trials)) {
    const std::optional<double> time_s =
        trials.time_s({minishard, collectives::divide_up(minishard, fineness)});
    if (!time_s || *time_s > least_s * (1.0 + kRipple)) break;
    least_s = std::min(least_s, *time_s);
  }
  return least_s;
}

void try_all(CutTrials& trials, bool varied) {
  const std::uint32_t fewest = trials.fewest_minishards();
  const std::uint32_t most = varied ? std::max(fewest, kEnoughMinishards) : fewest;
  double least_s = std::numeric_limits<double>::infinity();
  for (std::uint32_t minishards = fewest; minishards <= most; ++minishards) {
    const double time_s =
        try_microshards(trials, collectives::divide_up(trials.largest_chunk(), minishards));
    if (time_s > least_s * (1.0 + kRipple)) break;
    least_s = std::min(least_s, time_s);
  }
}

/// Among the trials nearly as fast as the fastest, returns the one with the fewest messages.
const Trial& choose(const std::vector<Trial>& trials) {
  const double least_s = std::ranges::min(trials, {}, &Trial::time_s).time_s;
  const auto cost = [&](const Trial& trial) {
    return std::pair(trial.time_s > least_s * (1.0 + kRelevantGain), trial.messages);
  };
  return *std::ranges::min_element(trials, {}, cost);
}

}  // namespace

CutChoice choose_cuts(const config::CollectiveConfig& collective, const RankGrid& grid,
                      const config::ExperimentConfig& config) {
  if (collective.microshards && (collective.minishards || !collective.format.scaled))
    return {{}, "given"};
  if (const std::uint32_t rows = rows_of_tiles(collective, config); rows > 0)
    return {{},
            fmt::format("tiles of workgroups: {} of {} compute units",
                        rows == 1 ? "one row" : fmt::format("{} rows", rows),
                        config.chip.compute_units.value)};
  if (collective.sizes != PartSizes{}) return {collective.sizes, "chosen earlier"};
  if (collective.cuts == config::CutMode::by_size) return {{}, "by size: requested"};
  if (!uses_dedicated_rings(collective, program_request(collective, grid, config)))
    return {{}, "by size: only rings whose neighbours have dedicated links are tried"};
  CutTrials trials(collective, grid, config);
  try_all(trials, collective.format.scaled && !collective.minishards);
  if (trials.done().empty()) return {{}, "by size: the program is too large to try candidates"};
  return {choose(trials.done()).sizes, fmt::format("best of {}", trials.done().size())};
}

}  // namespace equarx::plan
