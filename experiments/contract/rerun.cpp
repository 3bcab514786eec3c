#include "experiments/contract/rerun.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/units/quantity.hpp"
#include "experiments/plan/programs.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/source.hpp"

namespace equarx::contract {
namespace {

constexpr std::uint64_t kKibi = 1024;
constexpr std::uint64_t kSmallest = kKibi;
constexpr std::uint64_t kLargest = 256 * kKibi * kKibi;
constexpr std::uint64_t kFactor = 4;

/// Compares the same windows.
numerics::UlpCounts compare(numerics::ElementFormat type, const values::Windows& windows,
                            const values::Windows& reference) {
  numerics::UlpCounts counts;
  for (std::size_t i = 0; i < windows.values.size(); ++i)
    counts += numerics::ulp_counts(type, windows.values[i], reference.values[i]);
  return counts;
}

/// Alternatives to the cut of a program: more parts, which need no more memory, or half as many
/// scale groups.
std::vector<collectives::Cut> other_cuts(const collectives::Program& program) {
  const collectives::Cut own = program.partition.cut(0);
  std::vector<collectives::Cut> cuts = {{own.minishards, own.microshards * 2},
                                        {own.minishards * 2, own.microshards},
                                        {own.minishards * 3, own.microshards + 1}};
  if (own.minishards > 1) cuts.push_back({own.minishards / 2, own.microshards});
  return cuts;
}

std::optional<collectives::Program> try_program(const config::CollectiveConfig& collective,
                                                const collectives::RankGrid& grid,
                                                const config::ExperimentConfig& config) {
  try {
    return plan::make_program(collective, grid, config);
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // more parts than elements, or too few ranks
  }
}

/// The program, cut into more messages where that changes no value: formats without scales.
collectives::Program in_small_parts(const collectives::Program& program,
                                    const config::CollectiveConfig& collective,
                                    const config::ExperimentConfig& config) {
  constexpr std::uint64_t kMostElements = 1 << 18;
  const std::uint64_t chunk = program.partition.chunk_elements(0);
  const auto has_scales = [](const numerics::BlockFormat& format) {
    return format.scaled || numerics::has_shared_scale(format);
  };
  const collectives::Cut cut = program.partition.cut(0);
  if (chunk / cut.minishards / cut.microshards <= kMostElements ||
      std::ranges::any_of(program.formats, has_scales))
    return program;
  config::CollectiveConfig finer = collective;
  finer.minishards = cut.minishards;
  finer.microshards = std::max<std::uint32_t>(
      cut.microshards,
      static_cast<std::uint32_t>((chunk - 1) / (kMostElements * cut.minishards) + 1));
  return try_program(finer, program.grid(), config).value_or(program);
}

/// Grid of fewer ranks; std::nullopt if the algorithm needs a machine of a shape.
std::optional<collectives::RankGrid> grid_of(const collectives::AlgorithmInfo& algorithm,
                                             std::uint32_t ranks) {
  using collectives::RankLayout;
  switch (algorithm.layout) {
    case RankLayout::ring:
    case RankLayout::any: return collectives::RankGrid({ranks});
    case RankLayout::hypercube:
      return collectives::RankGrid(
          std::vector<std::uint32_t>(static_cast<std::size_t>(std::countr_zero(ranks)), 2));
    default: return std::nullopt;
  }
}

/// Windows of the tensor of rank 0.
void read(const values::TensorSource& source, values::Windows& windows) {
  windows.values.clear();
  for (const collectives::Range& range : windows.ranges)
    source.read(0, range.begin, windows.values.emplace_back(range.size()));
}

/// Computes parts of a result.
void compute(const collectives::Program& program, const config::TensorConfig& tensor,
             const values::TensorSource& source, unsigned threads, values::Windows& windows) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;
  if (threads == 0) threads = values::default_threads();
  const values::MemoryNeed need = values::memory_need(program);
  while (threads > 1 && need.bytes(threads) > kMostBytes) --threads;
  const auto residual = run::make_residual_source(program, tensor);
  values::execute(program, source,
                  {.threads = threads,
                   .rounding_seed = tensor.values.seed,
                   .windows = &windows,
                   .counts = false,
                   .traffic = false,
                   .residual = residual ? &*residual : nullptr});
}

/// Computes windows on fewer ranks; returns why that is impossible, or an empty string.
std::string compute_fewer(const Ran& ran, const values::TensorSource& source, std::uint32_t ranks,
                          values::Windows& windows) {
  const auto grid = grid_of(*ran.plan.config.algorithm, ranks);
  if (!grid) return "needs a machine of its shape";
  const auto program = try_program(ran.plan.config, *grid, ran.config);
  if (!program) return "too few ranks";
  compute(in_small_parts(*program, ran.plan.config, ran.config), ran.config.tensor, source,
          ran.options.threads, windows);
  return {};
}

/// Windows for the comparison of a size with larger ones.
values::Windows windows_of(std::uint64_t elements) {
  return values::Windows::spread(elements, kWindowsOfSize, kWindowElements);
}

}  // namespace

const plan::CollectivePlan& chosen(const plan::PlannedCollective& planned,
                                   config::Algorithm algorithm, hardware::Protocol protocol) {
  for (const plan::CollectivePlan& candidate : planned.candidates)
    if (candidate.config.algorithm == algorithm &&
        candidate.config.protocol.value_or(protocol) == protocol)
      return candidate;
  return planned.candidates.front();
}

collectives::Program values_program(const plan::CollectivePlan& plan,
                                    const config::ExperimentConfig& config) {
  return in_small_parts(plan.program, plan.config, config);
}

values::Windows reference_of(const Ran& ran) {
  values::Windows reference =
      values::Windows::spread(ran.source.elements(), kWindows, kWindowElements);
  compute(ran.program, ran.config.tensor, ran.source, ran.options.threads, reference);
  return reference;
}

void check_cuts(const Ran& ran, const values::Windows& reference, CollectiveContract& contract) {
  values::Windows windows{.ranges = reference.ranges, .values = {}};
  for (const collectives::Cut& cut : other_cuts(ran.program)) {
    config::CollectiveConfig other = ran.plan.config;
    other.minishards = cut.minishards;
    other.microshards = cut.microshards;
    const auto program = try_program(other, ran.program.grid(), ran.config);
    if (!program) continue;
    ++contract.cuts;
    compute(*program, ran.config.tensor, ran.source, ran.options.threads, windows);
    if (compare(ran.source.format(), windows, reference).differing() > 0)
      contract.same_at_all_cuts = false;
  }
}

void check_ranks(const Ran& ran, const values::Windows& reference, CollectiveContract& contract) {
  const std::uint32_t all = ran.program.ranks();
  values::Windows windows{.ranges = reference.ranges, .values = {}};
  for (std::uint32_t ranks = 1; ranks < all && all % ranks == 0; ranks *= 2) {
    RanksCheck check{.ranks = ranks, .obstacle = {}, .ulps = {}};
    const values::TensorSource fewer = values::TensorSource::grouped(ran.source, all / ranks);
    if (ranks == 1)
      read(fewer, windows);
    else
      check.obstacle = compute_fewer(ran, fewer, ranks, windows);
    if (check.obstacle.empty()) check.ulps = compare(ran.source.format(), windows, reference);
    contract.fewer_ranks.push_back(std::move(check));
    if (ran.options.to_first_difference && !contract.same_for_all_ranks()) return;
  }
}

namespace {

/// Sizes of tensors, in elements, from the smallest.
std::vector<std::uint64_t> sizes_of(const config::TensorConfig& tensor) {
  const bool has_files =
      !tensor.files.empty() || (tensor.residual && !tensor.residual->files.empty());
  const std::uint64_t largest = has_files ? std::min(kLargest, tensor.bytes()) : kLargest;
  const std::uint64_t width = numerics::element_bits(tensor.dtype) / 8;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = kSmallest; bytes <= largest; bytes *= kFactor)
    sizes.push_back(bytes / width);
  return sizes;
}

/// All collectives at one size.
class AtSize {
 public:
  /// Computes the windows of this size and of all smaller ones.
  AtSize(const config::ExperimentConfig& config, const std::vector<std::uint64_t>& smaller,
         std::uint64_t elements, const ContractOptions& options)
      : config_(config), whole_elements_(config.tensor.elements), options_(options) {
    config_.tensor.elements = elements;
    config_.tensor.shape = {elements};
    if (config_.tensor.residual) {
      config::TensorConfig residual = *config_.tensor.residual;
      residual.elements = elements;
      config_.tensor.residual = std::make_shared<const config::TensorConfig>(std::move(residual));
    }
    for (const std::uint64_t size : smaller) append(windows_, windows_of(size));
    for (std::size_t i = 0; i < config.collectives.size(); ++i) run(i);
  }

  std::uint64_t elements() const { return config_.tensor.elements; }
  /// By collective.
  const std::vector<SizeCheck>& checks() const { return checks_; }
  /// The windows of a size at most this one, of a collective that runs.
  values::Windows windows(std::size_t collective, std::uint64_t size) const {
    values::Windows some = windows_of(size);
    for (const collectives::Range& range : some.ranges) {
      const auto found = std::ranges::find_if(windows_.ranges, [&](const auto& other) {
        return other.begin == range.begin && other.end == range.end;
      });
      some.values.push_back(
          computed_[collective].values[static_cast<std::size_t>(found - windows_.ranges.begin())]);
    }
    return some;
  }

 private:
  static void append(values::Windows& windows, const values::Windows& more) {
    windows.ranges.insert(windows.ranges.end(), more.ranges.begin(), more.ranges.end());
  }

  /// Files hold whole tensors, one after the other.
  values::TensorSource source_of(const config::TensorConfig& tensor) const {
    if (tensor.files.empty()) return run::make_source(tensor);
    config::TensorConfig whole = tensor;
    whole.elements = whole_elements_;
    return values::TensorSource::prefix(run::make_source(whole), tensor.elements);
  }

  /// The candidate that runs, whose time is noted.
  const plan::CollectivePlan& choose(const plan::Plan& plan, SizeCheck& check) const {
    const plan::PlannedCollective& planned = plan.collectives.front();
    if (!options_.times) return planned.candidates.front();
    const run::ExperimentResult result = run::run_experiment(plan, [](const std::string&) {});
    const run::RunResult& timed = result.runs.front();
    check.algorithm = timed.algorithm->name;
    check.time_s = timed.time_s;
    return chosen(planned, timed.algorithm, timed.protocol);
  }

  void run(std::size_t number) {
    const auto bytes = config_.tensor.bytes();
    SizeCheck check{.bytes = bytes, .algorithm = {}, .time_s = 0.0, .obstacle = {}, .ulps = {}};
    values::Windows windows = windows_;
    config::ExperimentConfig one = config_;
    one.collectives = {config_.collectives[number]};
    one.baseline = 0;
    const plan::Expected<plan::Plan> plan = plan::try_plan(one);
    if (!plan) {
      check.obstacle = plan.error().reason;
    } else {
      const plan::CollectivePlan& choice = choose(*plan, check);
      compute(values_program(choice, one), one.tensor, source_of(one.tensor), options_.threads,
              windows);
    }
    checks_.push_back(std::move(check));
    computed_.push_back(std::move(windows));
  }

  config::ExperimentConfig config_;
  std::uint64_t whole_elements_;  ///< of the configuration's tensor
  const ContractOptions& options_;
  values::Windows windows_;  ///< without values
  std::vector<SizeCheck> checks_;
  std::vector<values::Windows> computed_;  ///< by collective; without values if it does not run
};

/// Index of the fastest collective that runs; std::nullopt if none does.
std::optional<std::size_t> fastest(const std::vector<SizeCheck>& checks) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < checks.size(); ++i)
    if (checks[i].obstacle.empty() && (!best || checks[i].time_s < checks[*best].time_s)) best = i;
  return best;
}

Switching switching_of(const config::ExperimentConfig& config, const std::vector<AtSize>& sizes) {
  Switching switching;
  const AtSize& largest = sizes.back();
  const std::optional<std::size_t> reference = fastest(largest.checks());
  for (const AtSize& size : sizes) {
    const std::optional<std::size_t> best = fastest(size.checks());
    if (!best || !reference) continue;
    SizeCheck check = size.checks()[*best];
    check.algorithm = config.collectives[*best].label;
    check.ulps = compare(config.tensor.dtype, size.windows(*best, size.elements()),
                         largest.windows(*reference, size.elements()));
    if (check.ulps.differing() > 0) switching.same_at_all_sizes = false;
    switching.sizes.push_back(std::move(check));
  }
  return switching;
}

/// Compares a collective at every size with the largest at which it runs.
std::vector<SizeCheck> checks_of(std::size_t collective, numerics::ElementFormat type,
                                 const std::vector<AtSize>& sizes) {
  const AtSize* largest = nullptr;
  for (const AtSize& size : sizes)
    if (size.checks()[collective].obstacle.empty()) largest = &size;
  std::vector<SizeCheck> checks;
  for (const AtSize& size : sizes) {
    SizeCheck check = size.checks()[collective];
    if (check.obstacle.empty())
      check.ulps = compare(type, size.windows(collective, size.elements()),
                           largest->windows(collective, size.elements()));
    checks.push_back(std::move(check));
  }
  return checks;
}

void compare_sizes(const config::ExperimentConfig& config, const std::vector<AtSize>& sizes,
                   Contract& contract) {
  for (std::size_t i = 0; i < contract.collectives.size(); ++i)
    contract.collectives[i].sizes = checks_of(i, config.tensor.dtype, sizes);
}

}  // namespace

void check_sizes(const config::ExperimentConfig& config, const ContractOptions& options,
                 Contract& contract) {
  std::vector<std::uint64_t> smaller;
  std::vector<AtSize> sizes;
  for (const std::uint64_t elements : sizes_of(config.tensor)) {
    const std::uint64_t width = numerics::element_bits(config.tensor.dtype) / 8;
    if (options.progress)
      options.progress(
          fmt::format("bits at {}", units::bytes_text(static_cast<double>(elements * width))));
    smaller.push_back(elements);
    sizes.emplace_back(config, smaller, elements, options);
    if (options.to_first_difference) {
      compare_sizes(config, sizes, contract);
      if (std::ranges::none_of(contract.collectives, &CollectiveContract::same_at_all_sizes))
        return;
    }
  }
  if (sizes.empty()) return;
  compare_sizes(config, sizes, contract);
  if (contract.collectives.size() > 1) contract.switching = switching_of(config, sizes);
}

}  // namespace equarx::contract
