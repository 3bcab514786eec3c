#include "models/hardware/energy.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace equarx::hardware {
namespace {

double energy_per_op(const Chip& chip, MatrixType type) {
  constexpr std::array<Parameter Chip::*, kMatrixTypes.size()> kEnergies = {
      &Chip::energy_bf16, &Chip::energy_fp32, &Chip::energy_int8, &Chip::energy_fp8,
      &Chip::energy_fp4,  &Chip::energy_int1, &Chip::energy_table};
  return (chip.*kEnergies[static_cast<std::size_t>(type)]).value;
}

bool has_energies(const Chip& chip) {
  return chip.energy_hbm.value > 0.0 && std::ranges::all_of(kMatrixTypes, [&](MatrixType type) {
           return matrix_rate(chip, type) <= 0.0 || energy_per_op(chip, type) > 0.0;
         });
}

/// Adds energies to a sum, and lists missing ones.
class Sum {
 public:
  void add(double amount, const Parameter& per_unit, std::string_view name) {
    joules_ += amount * per_unit.value;
    if (amount > 0.0 && per_unit.value <= 0.0) left_out_.push_back(name);
  }
  void leave_out(double amount, std::string_view name) {
    if (amount > 0.0) left_out_.push_back(name);
  }
  double joules() const { return joules_; }
  std::vector<std::string_view> left_out() const { return left_out_; }

 private:
  double joules_ = 0.0;
  std::vector<std::string_view> left_out_;
};

Energy by_operations(const Chip& chip, const Activity& activity) {
  Sum sum;
  sum.add(activity.time_s, chip.power_idle, "idle power");
  double matrix_joules = 0.0;
  for (const MatrixType type : kMatrixTypes)
    matrix_joules +=
        activity.matrix_ops[static_cast<std::size_t>(type)] * energy_per_op(chip, type);
  sum.add(activity.hbm_bytes, chip.energy_hbm, "HBM");
  sum.add(activity.vector_ops, chip.energy_vector, "vector operations");
  sum.add(activity.vmem_bytes, chip.energy_vmem, "VMEM");
  sum.add(activity.link_bytes, chip.energy_link, "links");
  sum.leave_out(activity.network_bytes, "networks");
  sum.leave_out(activity.host_bytes, "host transfers");
  sum.leave_out(activity.given_s, "tasks given as a time");
  return {.model = EnergyModel::operations,
          .joules = sum.joules() + matrix_joules,
          .left_out = sum.left_out()};
}

Energy by_busy_time(const Chip& chip, const Activity& activity) {
  const double idle_w = chip.power_idle.value;
  const double busy_s = std::min(activity.busy_s, activity.time_s);
  return {.model = EnergyModel::busy,
          .joules = idle_w * activity.time_s + (chip.power_busy.value - idle_w) * busy_s,
          .left_out = {}};
}

}  // namespace

Activity& Activity::operator+=(const Activity& other) {
  time_s += other.time_s;
  busy_s += other.busy_s;
  for (std::size_t type = 0; type < matrix_ops.size(); ++type)
    matrix_ops[type] += other.matrix_ops[type];
  vector_ops += other.vector_ops;
  hbm_bytes += other.hbm_bytes;
  vmem_bytes += other.vmem_bytes;
  link_bytes += other.link_bytes;
  network_bytes += other.network_bytes;
  host_bytes += other.host_bytes;
  given_s += other.given_s;
  return *this;
}

Activity Activity::scaled(double factor) const {
  Activity scaled = *this;
  for (double* const amount :
       {&scaled.time_s, &scaled.busy_s, &scaled.vector_ops, &scaled.hbm_bytes, &scaled.vmem_bytes,
        &scaled.link_bytes, &scaled.network_bytes, &scaled.host_bytes, &scaled.given_s})
    *amount *= factor;
  for (double& ops : scaled.matrix_ops) ops *= factor;
  return scaled;
}

std::string_view name(EnergyModel model) {
  switch (model) {
    case EnergyModel::operations: return "operations";
    case EnergyModel::busy: return "busy";
  }
  throw std::logic_error("unknown energy model");
}

std::optional<EnergyModel> energy_model(const Chip& chip) {
  if (has_energies(chip)) return EnergyModel::operations;
  if (chip.power_idle.value > 0.0 && chip.power_busy.value > 0.0) return EnergyModel::busy;
  return std::nullopt;
}

std::optional<Energy> energy_of(const Chip& chip, const Activity& activity) {
  const std::optional<EnergyModel> model = energy_model(chip);
  if (!model) return std::nullopt;
  Energy energy = *model == EnergyModel::operations ? by_operations(chip, activity)
                                                    : by_busy_time(chip, activity);
  const double most = chip.power_busy.value * activity.time_s;
  if (most > 0.0 && energy.joules > most) {
    energy.joules = most;
    energy.limited = *model == EnergyModel::operations;
  }
  return energy;
}

std::optional<double> cost_of(const Chip& chip, double chip_s) {
  constexpr double kSecondsPerHour = 3600.0;
  if (chip.price.value <= 0.0) return std::nullopt;
  return chip.price.value * chip_s / kSecondsPerHour;
}

Expenses expenses_of(const Chip& chip, const Activity& activity) {
  return {energy_of(chip, activity), cost_of(chip, activity.time_s)};
}

}  // namespace equarx::hardware
