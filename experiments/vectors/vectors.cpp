#include "experiments/vectors/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/source.hpp"
#include "models/numerics/codec/ulp_counts.hpp"
#include "models/tensors/memory_tensor.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::vectors {
namespace {

using config::ExperimentConfig;

void check(const ExperimentConfig& config) {
  if (!collectives::adds(config.collective))
    throw input::InputError("/collective",
                            fmt::format("golden vectors are of sums (all-reduce, reduce-scatter); "
                                        "{} adds nothing",
                                        collectives::name(config.collective)));
  if (!config.faults.links.empty())
    throw input::InputError("/faults", "golden vectors are of a healthy machine; remove them");
}

void check_ranks(std::uint32_t ranks) {
  if (ranks > kMostRanks)
    throw input::InputError("/topology", fmt::format("golden vectors are of up to {} ranks, not "
                                                     "{}; choose fewer chips",
                                                     kMostRanks, ranks));
}

bool has_choice(const plan::Plan& plan) {
  return std::ranges::any_of(plan.collectives, [](const plan::PlannedCollective& planned) {
    return std::ranges::any_of(planned.candidates, [&](const plan::CollectivePlan& candidate) {
      return candidate.config.algorithm != planned.candidates.front().config.algorithm;
    });
  });
}

/// The algorithms that run, by collective.
std::vector<config::Algorithm> algorithms_of(const plan::Plan& plan) {
  std::vector<config::Algorithm> algorithms;
  if (has_choice(plan))
    for (const run::RunResult& run : run::run_experiment(plan, [](const std::string&) {}).runs)
      algorithms.push_back(run.algorithm);
  else
    for (const plan::PlannedCollective& planned : plan.collectives)
      algorithms.push_back(planned.candidates.front().config.algorithm);
  return algorithms;
}

/// Inputs of a case, and the configuration of one collective on them.
class CaseInput {
 public:
  CaseInput(const ExperimentConfig& config, const CaseInfo& info, std::uint32_t ranks)
      : config_(config), is_given_(info.name == kGiven) {
    if (is_given_)
      read_given(ranks);
    else
      inputs_ = inputs_of(info.name, config.tensor.dtype, ranks);
  }

  std::uint64_t elements() const { return inputs_.front().size(); }
  const std::vector<std::vector<float>>& inputs() const { return inputs_; }

  values::TensorSource source() const {
    std::vector<tensors::MemoryTensor> all;
    for (const std::vector<float>& input : inputs_)
      all.emplace_back(tensors::FileType::fp32, std::as_bytes(std::span(input)));
    return {std::move(all), elements(), config_.tensor.dtype};
  }

  /// The residual that a program adds; synthetic except with the configuration's own values.
  std::optional<values::TensorSource> residual(const collectives::Program& program) const {
    if (!is_given_) return run::make_residual_source(program, small().tensor);
    auto whole = run::make_residual_source(program, config_.tensor);
    if (whole) whole = values::TensorSource::prefix(*whole, elements());
    return whole;
  }

  plan::Expected<plan::Plan> plan(const config::CollectiveConfig& collective) const {
    ExperimentConfig one = small();
    one.collectives = {collective};
    one.baseline = 0;
    return plan::try_plan(one);
  }

 private:
  void read_given(std::uint32_t ranks) {
    const values::TensorSource source = run::make_source(config_.tensor);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      source.read(rank, 0, inputs_.emplace_back(std::min(kMostGiven, source.elements())));
  }

  ExperimentConfig small() const {
    ExperimentConfig config = config_;
    config.numerics = false;
    config.uncertainty = {};
    config.tensor = {};
    config.tensor.shape = {elements()};
    config.tensor.elements = elements();
    config.tensor.dtype = config_.tensor.dtype;
    config.tensor.values.seed = config_.tensor.values.seed;
    return config;
  }

  const ExperimentConfig& config_;
  bool is_given_;
  std::vector<std::vector<float>> inputs_;
};

CaseVectors computed(const CaseInfo& info, const CaseInput& input, collectives::Program program,
                     const config::TensorConfig& tensor) {
  CaseVectors vectors{.info = info,
                      .program = std::move(program),
                      .inputs = input.inputs(),
                      .residual = {},
                      .record = {},
                      .rounded_once = std::vector<float>(input.elements())};
  const auto residual = input.residual(vectors.program);
  values::execute(vectors.program, input.source(),
                  {.rounding_seed = tensor.values.seed,
                   .counts = false,
                   .residual = residual ? &*residual : nullptr,
                   .record = &vectors.record});
  if (residual) {
    vectors.residual.resize(input.elements());
    residual->read(0, 0, vectors.residual);
  }
  numerics::round_once(tensor.dtype, vectors.record.exact, vectors.rounded_once);
  return vectors;
}

void add_case(const CaseInfo& info, const CaseInput& input, const config::TensorConfig& tensor,
              CollectiveVectors& vectors) {
  try {
    const plan::Expected<plan::Plan> plan = input.plan(vectors.config);
    if (plan)
      vectors.cases.push_back(
          computed(info, input, plan->collectives.front().candidates.front().program, tensor));
    else
      vectors.not_run.push_back({info, plan.error().reason});
  } catch (const input::InputError& error) {
    vectors.not_run.push_back({info, error.what()});
  }
}

void describe(CollectiveVectors& vectors) {
  if (vectors.cases.empty()) return;
  const collectives::Program& program = vectors.cases.front().program;
  vectors.path = values::rounding_path(program, [](const numerics::BlockFormat&, std::uint64_t,
                                                   std::uint32_t) { return std::nan(""); });
  vectors.deterministic = std::ranges::none_of(program.formats, numerics::rounds_randomly);
}

}  // namespace

Vectors make_vectors(const ExperimentConfig& config, const std::vector<CaseInfo>& cases,
                     const std::function<void(const std::string&)>& progress) {
  check(config);
  config::check_have_values(config.collectives);
  ExperimentConfig timed = config;
  timed.numerics = false;
  timed.uncertainty = {};
  const plan::Plan plan = plan::make_plan(timed);
  Vectors vectors{.config = config,
                  .ranks = plan.collectives.front().candidates.front().program.ranks(),
                  .collectives = {}};
  check_ranks(vectors.ranks);
  const std::vector<config::Algorithm> algorithms = algorithms_of(plan);
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    CollectiveVectors& collective = vectors.collectives.emplace_back();
    collective.config = config.collectives[i];
    collective.config.algorithm = algorithms[i];
  }
  for (const CaseInfo& info : cases) {
    const CaseInput input(vectors.config, info, vectors.ranks);
    for (CollectiveVectors& collective : vectors.collectives) {
      progress(fmt::format("{}: {}", info.name, collective.config.label));
      add_case(info, input, config.tensor, collective);
    }
  }
  for (CollectiveVectors& collective : vectors.collectives) describe(collective);
  return vectors;
}

}  // namespace equarx::vectors
