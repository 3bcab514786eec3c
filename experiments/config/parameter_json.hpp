// One parameter of a hardware file as JSON.
#pragma once

#include <cstdint>

#include "base/input/object_reader.hpp"
#include "models/hardware/chip.hpp"

namespace equarx::config {

/// Largest value of a count.
inline constexpr std::uint64_t kMostCount = 1 << 20;

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

/// The "class" of a value, by name: a codec for a table of fields.
struct ProvenanceName {
  void read(input::ObjectReader& reader, std::string_view key,
            hardware::Provenance& provenance) const;
  input::Json write(hardware::Provenance provenance) const;
  input::Json schema() const;
};

/// Schema of a parameter, with annotations.
input::Json parameter_schema(hardware::ParameterKind kind);
/// Schema of a value or a parameter that overrides one, with annotations.
input::Json changed_parameter_schema(hardware::ParameterKind kind);

}  // namespace equarx::config
