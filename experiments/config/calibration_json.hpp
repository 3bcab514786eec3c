// The calibration of a hardware file as JSON.
#pragma once

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// The "role" of a measurement. @throws InputError
hardware::ObservationRole read_observation_role(input::ObjectReader& reader);

/// `chip` has its parameters. @throws InputError
hardware::Calibration read_calibration(input::ObjectReader reader, const hardware::Chip& chip);

/// As read_calibration() reads it.
input::Json calibration_json(const hardware::Calibration& calibration);

}  // namespace equarx::config
