#include "experiments/contract/contract.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/config/counts_json.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/contract/rerun.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/source.hpp"
#include "models/values/quantizer_nmse.hpp"

namespace equarx::contract {
namespace {

/// NMSE of roundings of normal values. Caches the formats that are measured.
class RoundingTheory {
 public:
  double nmse(const numerics::BlockFormat& format, std::uint64_t elements, std::uint32_t terms) {
    if (!format.scaled) return values::conversion_nmse(format.element, terms);
    const std::uint64_t groups = std::min<std::uint64_t>(elements, numerics::kRegisterElements);
    const std::uint64_t in_group = std::max<std::uint64_t>(1, elements / groups);
    for (const auto& [known, nmse] : known_)
      if (known.first == format && known.second == in_group) return nmse;
    known_.emplace_back(std::pair{format, in_group},
                        values::measured_quantizer_nmse(format, in_group, numerics::InputSpec{}));
    return known_.back().second;
  }

 private:
  std::vector<std::pair<std::pair<numerics::BlockFormat, std::uint64_t>, double>> known_;
};

/// True if the theory of roundings applies: independent normal terms of equal power.
bool has_theory(const config::ExperimentConfig& config, const collectives::Program& program) {
  const bool shared = std::ranges::any_of(program.formats, numerics::has_shared_scale);
  return config::has_normal_values(config.tensor) && !shared && !program.rotated &&
         !config.tensor.residual;
}

class Maker {
 public:
  Maker(const config::ExperimentConfig& config, const ContractOptions& options)
      : options_(options),
        source_(run::make_source(config.tensor)),
        contract_{.config = config, .collectives = {}, .switching = {}} {
    config::check_have_values(config.collectives);
    contract_.config.numerics = false;
    contract_.config.uncertainty = {};
  }

  Contract make() && {
    const plan::Plan plan = plan::make_plan(contract_.config);
    if (options_.times)
      add_timed(plan);
    else
      for (const plan::PlannedCollective& planned : plan.collectives)
        add(planned.candidates.front());
    compare_collectives();
    if (options_.sizes) check_sizes(contract_.config, options_, contract_);
    return std::move(contract_);
  }

 private:
  void progress(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  void add_timed(const plan::Plan& plan) {
    const run::ExperimentResult timed =
        run::run_experiment(plan, [&](const std::string& line) { progress(line); });
    for (std::size_t i = 0; i < plan.collectives.size(); ++i) {
      const run::RunResult& run = timed.runs[i];
      add(chosen(plan.collectives[i], run.algorithm, run.protocol));
      contract_.collectives.back().time_s = run.time_s;
    }
  }

  void add(const plan::CollectivePlan& plan) {
    progress(fmt::format("{}: computing the values of {} ranks", plan.config.label,
                         plan.program.ranks()));
    CollectiveContract contract;
    contract.label = plan.config.label;
    contract.algorithm = plan.config.algorithm->name;
    const bool theory_applies = has_theory(contract_.config, plan.program);
    contract.path = values::rounding_path(
        plan.program,
        [&](const numerics::BlockFormat& format, std::uint64_t elements, std::uint32_t terms) {
          return theory_applies ? theory_.nmse(format, elements, terms) : std::nan("");
        });
    if (std::isfinite(contract.path.expected_nmse))
      contract.expected_nmse = contract.path.expected_nmse;
    contract.deterministic = std::ranges::none_of(plan.program.formats, numerics::rounds_randomly);
    compute(plan, contract);
    contract_.collectives.push_back(std::move(contract));
  }

  /// Computes what depends on values.
  void compute(const plan::CollectivePlan& plan, CollectiveContract& contract) {
    if (!options_.values && !options_.cuts && !options_.ranks) return;
    const collectives::Program program = values_program(plan, contract_.config);
    if (options_.values) compute(program, contract);
    if (!options_.cuts && !options_.ranks) return;
    const Ran ran{plan, contract_.config, source_, program, options_};
    const values::Windows reference = reference_of(ran);
    if (options_.cuts) check_cuts(ran, reference, contract);
    if (options_.ranks) check_ranks(ran, reference, contract);
  }

  void compute(const collectives::Program& program, CollectiveContract& contract) {
    values::ResultTensor* head = nullptr;
    if (options_.sample == 1.0) {
      const std::uint64_t elements = std::min(kElementsBetweenCollectives, source_.elements());
      heads_.push_back(std::make_unique<values::ResultTensor>(elements, source_.format()));
      head = heads_.back().get();
    }
    const auto residual = run::make_residual_source(program, contract_.config.tensor);
    contract.values = values::execute(program, source_,
                                      {.threads = options_.threads,
                                       .result = head,
                                       .rounding_seed = contract_.config.tensor.values.seed,
                                       .sample = options_.sample,
                                       .residual = residual ? &*residual : nullptr,
                                       .contract = true});
  }

  void compare_collectives() {
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      std::vector<numerics::UlpCounts>& against = contract_.collectives[i].against;
      for (std::size_t j = 0; j < i; ++j) against.push_back(contract_.collectives[j].against[i]);
      for (std::size_t j = i; j < heads_.size(); ++j)
        against.push_back(compare(*heads_[i], *heads_[j]));
    }
  }

  /// Piece by piece, so that memory stays small.
  numerics::UlpCounts compare(const values::ResultTensor& values,
                              const values::ResultTensor& reference) const {
    constexpr std::uint64_t kPiece = 1 << 16;
    numerics::UlpCounts counts;
    std::vector<float> one(kPiece);
    std::vector<float> other(kPiece);
    for (std::uint64_t first = 0; first < values.elements(); first += kPiece) {
      const auto size = static_cast<std::size_t>(std::min(kPiece, values.elements() - first));
      values.read(first, std::span(one).first(size));
      reference.read(first, std::span(other).first(size));
      counts += numerics::ulp_counts(source_.format(), std::span(one).first(size),
                                     std::span(other).first(size));
    }
    return counts;
  }

  const ContractOptions& options_;
  values::TensorSource source_;
  RoundingTheory theory_;
  Contract contract_;
  std::vector<std::unique_ptr<values::ResultTensor>> heads_;  ///< by collective, or none
};

}  // namespace

bool CollectiveContract::same_at_all_sizes() const {
  return std::ranges::all_of(sizes,
                             [](const SizeCheck& check) { return check.ulps.differing() == 0; });
}

bool CollectiveContract::same_for_all_ranks() const {
  return std::ranges::all_of(fewer_ranks,
                             [](const RanksCheck& check) { return check.ulps.differing() == 0; });
}

void check(const config::ExperimentConfig& config) {
  config::reject_counts(config);
  if (!collectives::adds(config.collective))
    throw input::InputError("/collective",
                            fmt::format("a contract is about sums (all-reduce, reduce-scatter); {} "
                                        "adds nothing",
                                        collectives::name(config.collective)));
  if (config.tensor.sample < 1.0)
    throw input::InputError(
        "/tensor/sample", "a contract covers all elements; remove it, or choose a smaller tensor");
  if (!config.faults.links.empty())
    throw input::InputError("/faults", "a contract is about a healthy machine; remove them");
}

Contract make_contract(const config::ExperimentConfig& config, const ContractOptions& options) {
  check(config);
  return Maker(config, options).make();
}

}  // namespace equarx::contract
