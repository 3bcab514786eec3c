// What to calibrate, and to which measurements.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::calibrate {

/// One number that was measured on the chip, and the run that simulates it.
struct Measurement {
  std::string place;  ///< JSON pointer, for messages
  std::string what;   ///< in words
  std::string source;
  hardware::ObservationRole role = hardware::ObservationRole::fit;
  config::ExperimentConfig config;  ///< without values, by the direct engine
  std::string known_as;             ///< equal where two measurements are of the same run
  std::size_t run = 0;              ///< the collective, by its place in the configuration
  std::string metric;  ///< a number of a run's result: "time_s", "breakdown/overhead_s"
  /// Of `measured` and `standard_error`, which are in its base unit; plain numbers without one.
  std::optional<units::Dimension> dimension;
  double measured = 0.0;
  double standard_error = 0.0;  ///< above 0
};

/// A calibration before it is done.
struct CalibrationTask {
  std::string hardware;  ///< the chip to start from, as the user wrote it
  hardware::Chip chip;   ///< with start values, named and described anew
  std::vector<const hardware::ParameterInfo*> fit;  ///< quantities and ratios, each once
  /// Keep their values, but their uncertainty makes the fitted ones uncertain. None of `fit`.
  std::vector<const hardware::ParameterInfo*> given;
  std::vector<Measurement>
      measurements;  ///< as many to fit as there are parameters in `fit`, or more
};

/// Reads a calibration file (configs/schema/calibration.schema.json); paths of configurations in it are relative to
/// `folder`. @throws InputError for anything that is not right, also for measurements that contradict each other.
CalibrationTask read_task(const input::Json& json, const std::filesystem::path& folder);

}  // namespace equarx::calibrate
