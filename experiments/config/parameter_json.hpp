// One parameter of a hardware file as JSON.
#pragma once

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// The parameter whose key `value` is, at `place`. @throws InputError with the nearest key for any other.
const hardware::ParameterInfo& read_parameter_key(const input::Json& value,
                                                  const std::string& place);

/// The value of a parameter: with its unit, or a plain number where it has none. @throws InputError
double read_parameter_value(const input::Json& value, const std::string& place,
                            const hardware::ParameterInfo& info);

/// Reads a value with its class, source, range and standard error. @throws InputError
hardware::Parameter read_parameter(input::ObjectReader reader, const hardware::ParameterInfo& info);

/// As read_parameter() reads it.
input::Json parameter_json(const hardware::ParameterInfo& info,
                           const hardware::Parameter& parameter);

/// The "class" of a value. @throws InputError
hardware::Provenance read_provenance(input::ObjectReader& reader);

}  // namespace equarx::config
