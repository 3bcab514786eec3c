#include "experiments/variation/discrepancy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "experiments/accuracy/report.hpp"
#include "experiments/accuracy/summary.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::variation {
namespace {

using accuracy::Question;

/// True for chips that come in slices of a torus, as TPUs do.
bool is_tpu(const hardware::Chip& chip) {
  return !chip.slices.list.empty() || chip.slices.cubes.has_value();
}

bool is_quantized(const config::CollectiveConfig& collective, numerics::ElementFormat dtype) {
  if (config::has_casts(collective)) return true;
  return std::ranges::any_of(
      std::array{collectives::Phase::reduce_scatter, collectives::Phase::all_gather},
      [&](collectives::Phase phase) {
        return config::wire_format(collective, phase, dtype).element != dtype;
      });
}

bool has_low_precision(const config::StepConfig& config) {
  const steps::Precision& precision = config.training->training.precision;
  return steps::is_scaled(precision.ffn.forward) || steps::is_scaled(precision.projections.forward);
}

bool is_quantized(const config::StepConfig& config, std::size_t variant) {
  const std::vector<config::CollectiveConfig>& collectives = config.variants[variant].collectives;
  for (std::size_t call = 0; call < collectives.size(); ++call)
    if (is_quantized(collectives[call], config.calls[call].call.dtype)) return true;
  return false;
}

}  // namespace

Question question_of(const config::ExperimentConfig& config) {
  const bool small = static_cast<double>(config.tensor.bytes()) < accuracy::kSmall;
  if (is_tpu(config.chip)) return small ? Question::small_tpu_collective : Question::tpu_collective;
  return small ? Question::small_gpu_collective : Question::gpu_collective;
}

Question question_of(const config::StepConfig& config) {
  if (config.workload) return Question::serving;
  if (!config.training) return Question::program;
  if (config.training->training.model.experts) return Question::expert_training;
  return has_low_precision(config) ? Question::low_precision : Question::training;
}

accuracy::Asked asked_of(const config::ExperimentConfig& config) {
  return {question_of(config), config.hardware, config::count_chips(config.topology),
          config.tensor.bytes()};
}

accuracy::Asked asked_of(const config::StepConfig& config) {
  return {question_of(config), config.machine.hardware, config.mesh.chips(), 0};
}

Question quantized_on(const hardware::Chip& chip) {
  return is_tpu(chip) ? Question::quantized_tpu : Question::quantized_gpu;
}

std::vector<Spread> spreads_of(const config::ExperimentConfig& config) {
  const double time = spread_of(question_of(config));
  const double quantized = spread_of(quantized_on(config.chip));
  const auto speedup = [&](std::size_t run) {
    return is_quantized(config.collectives[run], config.tensor.dtype) ? quantized : 0.0;
  };
  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < config.collectives.size(); ++i)
    spreads.push_back({time, speedup(i) - speedup(config.baseline)});
  return spreads;
}

std::vector<Spread> spreads_of(const config::StepConfig& config,
                               const std::vector<double>& exposed) {
  const double time = spread_of(question_of(config));
  const double quantized = spread_of(quantized_on(config.machine.chip));
  const auto speedup = [&](std::size_t variant) {
    return is_quantized(config, variant) ? quantized * exposed[variant] : 0.0;
  };
  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < config.variants.size(); ++i)
    spreads.push_back({time, speedup(i) - speedup(config.baseline)});
  return spreads;
}

double spread_of(Question question) {
  const auto known = accuracy::discrepancy(accuracy::built_in_rows(), question);
  return known ? known->spread : 0.0;
}

bool is_known(Question question) {
  return accuracy::discrepancy(accuracy::built_in_rows(), question).has_value();
}

std::string discrepancy_text(Question question) {
  return accuracy::discrepancy_text(accuracy::built_in_rows(), question);
}

}  // namespace equarx::variation
