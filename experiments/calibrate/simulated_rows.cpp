#include "experiments/calibrate/simulated_rows.hpp"

#include <limits>
#include <optional>
#include <variant>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "base/process/parallel_for.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/result/run_metrics.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/run.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::calibrate {
namespace {

double checked(const std::optional<double>& number, const Measurement& measurement) {
  if (!number)
    throw input::InputError(input::pointer(measurement.place, "metric"),
                            "is not a number of this run; choose another metric");
  return *number;
}

std::optional<double> simulate(config::ExperimentConfig config, const SimulatedNumber& number,
                               const Measurement& measurement, const hardware::Chip& chip) {
  config.chip = chip;
  config.topology.planned.reset();  // depends on link bandwidth
  const plan::Expected<plan::Plan> plan = plan::try_plan(config, plan::RunProfile::batch);
  if (!plan)
    throw input::InputError(input::pointer(measurement.place, "config"), plan.error().text());
  const run::ExperimentResult result =
      run::run_experiment(*plan, [](const std::string&) {}, {.threads = 1});
  const run::RunResult& run = result.runs[number.run];
  if (run.failure)
    throw input::InputError(measurement.place,
                            "does not complete because a link fails; remove the fault");
  return result::number_of(result::run_metrics(), run, number.metric);
}

std::optional<double> simulate(config::StepConfig config, const SimulatedNumber& number,
                               const Measurement& /*measurement*/, const hardware::Chip& chip) {
  config.machine.chip = chip;
  config.machine.topology.planned.reset();  // depends on link bandwidth
  const step::StepResult result =
      step::run_step(step::make_plan(config), [](const std::string&) {}, {.threads = 1});
  return result::number_of(result::variant_metrics(), result.runs[number.run], number.metric);
}

double simulate(const Measurement& measurement, const hardware::Chip& chip) {
  if (const auto* kernel = std::get_if<KernelTime>(&measurement.of))
    return kernel->outside_s +
           workloads::roofline(kernel->operation, workloads::compute_rates(chip)).seconds;
  const auto& number = std::get<SimulatedNumber>(measurement.of);
  return checked(
      std::visit([&](const auto& config) { return simulate(config, number, measurement, chip); },
                 number.config),
      measurement);
}

}  // namespace

hardware::Chip VariedChip::at(const Point& point) const {
  hardware::Chip varied = chip;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    (varied.*parameters[i]->member).value = point[i];
  return varied;
}

Point VariedChip::point() const {
  Point point;
  for (const hardware::ParameterInfo* info : parameters)
    point.push_back((chip.*info->member).value);
  return point;
}

std::vector<ParameterLimits> VariedChip::limits() const {
  constexpr double kScaleOfTimes = 1e-6;  // s, scale of parameters that are 0
  constexpr double kLeastShare = 1e-3;
  std::vector<ParameterLimits> limits;
  for (const hardware::ParameterInfo* info : parameters) {
    const double value = (chip.*info->member).value;
    limits.push_back({.scale = value > 0.0 ? value : kScaleOfTimes,
                      .least = info->may_be_zero ? 0.0 : kLeastShare * value,
                      .most = info->kind == hardware::ParameterKind::ratio
                                  ? 1.0
                                  : std::numeric_limits<double>::infinity()});
  }
  return limits;
}

Model simulated_rows(const CalibrationTask& task, std::vector<std::size_t> rows,
                     VariedChip varied) {
  return [&task, rows = std::move(rows),
          varied = std::move(varied)](const std::vector<Point>& points) {
    std::vector<Outputs> outputs(points.size(), Outputs(rows.size()));
    process::parallel_for(
        points.size() * rows.size(), values::default_threads(), [&](std::size_t i) {
          const std::size_t point = i / rows.size();
          const std::size_t row = i % rows.size();
          outputs[point][row] = simulate(task.measurements[rows[row]], varied.at(points[point]));
        });
    return outputs;
  };
}

}  // namespace equarx::calibrate
