// Energy and cost of work on chips.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/hardware/chip.hpp"
#include "models/hardware/matrix_rate.hpp"

namespace equarx::hardware {

/// Work of one or more chips. Times are sums over the chips.
struct Activity {
  double time_s = 0.0;
  double busy_s = 0.0;  ///< with a busy matrix unit or HBM; at most time_s
  std::array<double, kMatrixTypes.size()> matrix_ops{};  ///< by type; 2 per multiply-add
  double vector_ops = 0.0;
  double hbm_bytes = 0.0;   ///< read and written
  double vmem_bytes = 0.0;  ///< read and written
  double link_bytes = 0.0;  ///< once for every link direction between chips that they cross
  // Work without a known energy.
  double network_bytes = 0.0;  ///< over networks between slices
  double host_bytes = 0.0;     ///< between chips and hosts
  double given_s = 0.0;        ///< core time of tasks given as a time; also part of busy_s

  Activity& operator+=(const Activity& other);
  /// The activity of `factor` times as many chips or runs.
  Activity scaled(double factor) const;
};

/// Equation of an energy.
enum class EnergyModel : std::uint8_t {
  /// power_idle x time + energy per operation x operations + energy per byte x bytes
  operations,
  /// power_idle x time + (power_busy - power_idle) x busy time
  busy,
};

/// Returns "operations" or "busy".
std::string_view name(EnergyModel model);

/// Equation for a chip: `operations` if it has energies of HBM and of all types of GEMMs that it
/// supports, else `busy` if it has both powers, else none. It does not depend on the work, so
/// energies on the same chip are comparable.
std::optional<EnergyModel> energy_model(const Chip& chip);

/// Energy of an activity.
struct Energy {
  EnergyModel model = EnergyModel::busy;
  double joules = 0.0;
  bool limited = false;  ///< by power_busy x time
  /// Work that the sum lacks, for want of a parameter or of a model: "vector operations".
  std::vector<std::string_view> left_out;
};

/// Returns the energy, at most power_busy x time if the chip has that power; std::nullopt without
/// an energy_model().
std::optional<Energy> energy_of(const Chip& chip, const Activity& activity);

/// Returns the cost of `chip_s` seconds of a chip in $; std::nullopt without a price.
std::optional<double> cost_of(const Chip& chip, double chip_s);

/// Energy and cost of an activity.
struct Expenses {
  std::optional<Energy> energy;
  std::optional<double> dollars;
};

/// Returns both.
Expenses expenses_of(const Chip& chip, const Activity& activity);

}  // namespace equarx::hardware
