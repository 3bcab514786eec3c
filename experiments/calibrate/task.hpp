// Calibration task: parameters to fit and measurements.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/any_config.hpp"
#include "models/hardware/chip.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::calibrate {

/// A number of a simulated run.
struct SimulatedNumber {
  config::Config config;  ///< without numerics, direct engine
  std::string run_key;    ///< equal for measurements of the same number of the same run
  std::size_t run = 0;    ///< index of the collective in the configuration
  std::string metric;     ///< pointer into a run's result: "time_s", "breakdown/sync_s"
};

/// Time of one operation, as workloads::roofline() gives it.
struct KernelTime {
  workloads::Operation operation;
  double outside_s = 0.0;  ///< time of timer and launch in the measurement
  std::string group;       ///< kind of kernel and type; rows of a group are reported together
};

/// A number measured on the chip, and its model.
struct Measurement {
  std::string place;  ///< JSON pointer, for messages
  std::string what;   ///< description
  std::string source;
  hardware::ObservationRole role = hardware::ObservationRole::fit;
  std::variant<SimulatedNumber, KernelTime> of = {};
  /// Dimension of `measured` and `standard_error`, in base units; std::nullopt for plain numbers.
  std::optional<units::Dimension> dimension;
  double measured = 0.0;
  double standard_error = 0.0;  ///< > 0
};

/// Input of a calibration.
struct CalibrationTask {
  std::string hardware;  ///< start chip as named by the user
  hardware::Chip chip;   ///< start values, with the new name and description
  std::vector<const hardware::ParameterInfo*> fit;  ///< quantities and ratios, without repetition
  /// Parameters with fixed values whose uncertainty is propagated to the fitted ones; disjoint from
  /// `fit`.
  std::vector<const hardware::ParameterInfo*> given;
  std::vector<Measurement> measurements;  ///< at least fit.size() of role fit
};

/// Reads a calibration file (configs/schema/calibration.schema.json). Configuration paths in it are
/// relative to `folder`. @throws InputError for invalid input and contradictory measurements
CalibrationTask read_task(const input::Json& json, const std::filesystem::path& folder);

/// Schema of a calibration file, with annotations.
input::Json calibration_schema();

}  // namespace equarx::calibrate
