// Calibration of a hardware file as JSON.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// The "role" of a measurement, by name: a codec for a table of fields.
struct ObservationRoleName {
  void read(input::ObjectReader& reader, std::string_view key,
            hardware::ObservationRole& role) const;
  input::Json write(hardware::ObservationRole role) const;
  input::Json schema() const;
};

/// Schema of "calibration" of a hardware file, with annotations.
input::Json calibration_schema();
/// Schema of a list of parameters.
input::Json parameter_names_schema();

/// Reads a calibration; the parameters of `chip` must have been read before. @throws InputError
hardware::Calibration read_calibration(input::ObjectReader reader, const hardware::Chip& chip);

/// Inverse of read_calibration().
input::Json calibration_json(const hardware::Calibration& calibration);

}  // namespace equarx::config
