#include "experiments/config/calibration_json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/parameter_json.hpp"

namespace equarx::config {
namespace {

using hardware::Calibration;
using hardware::Chip;
using hardware::Observation;
using hardware::ObservationRole;

constexpr std::array kRoles = {ObservationRole::fit, ObservationRole::check};

std::string read_key(const input::Json& value, const std::string& pointer, const Chip& chip) {
  const hardware::ParameterInfo& info = read_parameter_key(value, pointer);
  if (!standard_uncertainty(chip.*info.member))
    throw input::InputError(
        pointer, fmt::format("{} has neither a standard error nor a range; give it one, or omit it "
                             "here",
                             info.key));
  return std::string(info.key);
}

std::vector<std::string> read_parameters(const input::Json& list, const std::string& pointer,
                                         const Chip& chip) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string element = input::pointer(pointer, i);
    const std::string key = read_key(list[i], element, chip);
    if (std::ranges::find(keys, key) != keys.end())
      throw input::InputError(element, fmt::format("'{}' is listed twice; remove one", key));
    keys.push_back(key);
  }
  if (keys.empty())
    throw input::InputError(pointer, "is empty; name a parameter, or remove the calibration");
  return keys;
}

std::vector<double> read_correlation(const input::Json& rows, const std::string& pointer,
                                     std::size_t n) {
  const auto check_size = [&](const std::string& at, const input::Json& list) {
    if (!list.is_array() || list.size() != n)
      throw input::InputError(
          at, fmt::format("expected an array of {}, one for each of \"parameters\"", n));
  };
  check_size(pointer, rows);
  std::vector<double> matrix;
  for (std::size_t i = 0; i < n; ++i) {
    check_size(input::pointer(pointer, i), rows[i]);
    for (std::size_t j = 0; j < n; ++j) {
      if (!rows[i][j].is_number())
        throw input::InputError(input::pointer(input::pointer(pointer, i), j),
                                "expected a number from -1 to 1");
      matrix.push_back(rows[i][j].get<double>());
    }
  }
  if (const auto wrong = hardware::wrong_correlation(matrix, n))
    throw input::InputError(
        input::pointer(input::pointer(pointer, *wrong / n), *wrong % n),
        fmt::format("{} is not a valid correlation; the matrix must be symmetric, with a unit "
                    "diagonal and entries from -1 to 1",
                    matrix[*wrong]));
  if (!hardware::is_positive_semidefinite(matrix, n))
    throw input::InputError(
        pointer,
        "is not positive semi-definite, so it is not a correlation matrix; copy it from "
        "the fit");
  return matrix;
}

/// A number of an observation: with the unit of "measured", or plain if that is plain.
struct Observed {
  double Observation::*value;

  void read(input::ObjectReader& reader, std::string_view key, Observation& observation) const {
    observation.*value = observation.dimension
                             ? reader.quantity(key, *observation.dimension)
                             : reader.number(key, "a plain number, because \"measured\" is one");
  }
  void write(const Observation& observation, std::string_view key, input::Json& json) const {
    input::Json& number = json[std::string(key)];
    if (observation.dimension)
      number = units::format(observation.*value, *observation.dimension);
    else
      number = observation.*value;
  }
  input::Json schema() const {
    input::Json schema = {{"type", {"string", "number"}}};
    schema[std::string(input::kDefinition)] = "observed";
    return schema;
  }
};

/// The measured number, which determines the kind of the others.
struct Measured : Observed {
  Measured() : Observed{&Observation::measured} {}
  void read(input::ObjectReader& reader, std::string_view key, Observation& observation) const {
    if (!reader.required(key, "a time with its unit, or a plain number").is_number())
      observation.dimension = units::Dimension::time;
    Observed::read(reader, key, observation);
  }
};

const input::Table<Observation>& observation_table() {
  constexpr std::string_view kNumbers =
      "times with their unit, or plain numbers; `simulated` with the parameters of this file";
  static const input::Table<Observation> table{
      {"what", &Observation::what, input::Text{}, "the measurement and its origin",
       input::kRequired},
      {"source", &Observation::source, input::Text{}, "the measurement and its origin",
       input::kRequired},
      {"role", &Observation::role, ObservationRoleName{}, "`\"fit\"` or `\"check\"` (held out)",
       input::kRequired},
      {"measured", Measured{}, kNumbers, input::kRequired},
      {"standard_error", Observed{&Observation::standard_error}, kNumbers, input::kRequired},
      {"simulated", Observed{&Observation::simulated}, kNumbers, input::kRequired},
  };
  return table;
}

Observation read_observation(input::ObjectReader reader) {
  Observation observation;
  observation_table().read(reader, observation);
  if (observation.standard_error <= 0.0)
    throw input::InputError(reader.pointer_to("standard_error"), "must be above 0");
  reader.finish();
  return observation;
}

}  // namespace

void ObservationRoleName::read(input::ObjectReader& reader, std::string_view key,
                               ObservationRole& role) const {
  input::Named{kRoles}.read(reader, key, role);
}

input::Json ObservationRoleName::write(ObservationRole role) const { return name(role); }

input::Json ObservationRoleName::schema() const { return input::Named{kRoles}.schema(); }

Calibration read_calibration(input::ObjectReader reader, const Chip& chip) {
  Calibration calibration;
  calibration.parameters =
      read_parameters(reader.array("parameters"), reader.pointer_to("parameters"), chip);
  calibration.correlation = read_correlation(
      reader.array("correlation"), reader.pointer_to("correlation"), calibration.parameters.size());
  const input::Json& observations = reader.array("observations");
  for (std::size_t i = 0; i < observations.size(); ++i)
    calibration.observations.push_back(
        read_observation({observations[i], reader.pointer_to("observations", i)}));
  reader.finish();
  return calibration;
}

input::Json calibration_json(const Calibration& calibration) {
  const std::size_t n = calibration.parameters.size();
  input::Json json = {{"parameters", calibration.parameters},
                      {"correlation", input::Json::array()},
                      {"observations", input::Json::array()}};
  for (std::size_t i = 0; i < n; ++i) {
    input::Json& row = json["correlation"].emplace_back(input::Json::array());
    for (std::size_t j = 0; j < n; ++j) row.push_back(calibration.correlation[i * n + j]);
  }
  for (const Observation& observation : calibration.observations)
    json["observations"].push_back(observation_table().write(observation));
  return json;
}

input::Json calibration_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"parameters", Elsewhere{parameter_names_schema},
       "fitted parameters and those assumed by the fit; each has a `standard_error` or a `range`",
       input::kRequired},
      {"correlation", Elsewhere{R"({"type": "array", "minItems": 1, "items":
          {"type": "array", "minItems": 1, "items": {"type": "number", "minimum": -1, "maximum": 1}}})"},
       "correlation matrix: diagonal 1, symmetric, positive semi-definite; entries may be rounded "
       "to 1e-6",
       input::kRequired},
      {"observations", Elsewhere{input::Objects{observation_table}},
       "informative: no time or interval depends on them. A chip without any does not count as "
       "calibrated",
       input::kRequired},
  };
  return table.schema();
}

input::Json parameter_names_schema() {
  return input::schema_of(
      R"({"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}})");
}

}  // namespace equarx::config
