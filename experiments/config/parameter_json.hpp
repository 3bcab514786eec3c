// One parameter of a hardware file as JSON.
#pragma once

#include "experiments/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// Looks up the parameter with key `value`, at `pointer`. @throws InputError suggesting the closest
/// key if it is unknown.
const hardware::ParameterInfo& read_parameter_key(const input::Json& value,
                                                  const std::string& pointer);

/// Reads the value of a parameter: with its unit, or a plain number if it has none. @throws
/// InputError
double read_parameter_value(const input::Json& value, const std::string& pointer,
                            const hardware::ParameterInfo& info);

/// Reads a value with its class, source, range and standard error. @throws InputError
hardware::Parameter read_parameter(input::ObjectReader reader, const hardware::ParameterInfo& info);

/// Inverse of read_parameter().
input::Json parameter_json(const hardware::ParameterInfo& info,
                           const hardware::Parameter& parameter);

/// Reads the "class" of a value. @throws InputError
hardware::Provenance read_provenance(input::ObjectReader& reader);

}  // namespace equarx::config
