// Calibration of a hardware file as JSON.
#pragma once

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// Reads the "role" of a measurement. @throws InputError
hardware::ObservationRole read_observation_role(input::ObjectReader& reader);

/// Reads a calibration; the parameters of `chip` must have been read before. @throws InputError
hardware::Calibration read_calibration(input::ObjectReader reader, const hardware::Chip& chip);

/// Inverse of read_calibration().
input::Json calibration_json(const hardware::Calibration& calibration);

}  // namespace equarx::config
