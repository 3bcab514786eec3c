#include "experiments/config/calibration_json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "experiments/config/parameter_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/pointer.hpp"

namespace equarx::config {
namespace {

using hardware::Calibration;
using hardware::Chip;
using hardware::Observation;
using hardware::ObservationRole;

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

double read_observed(input::ObjectReader& reader, std::string_view key,
                     std::optional<units::Dimension> dimension) {
  return dimension ? reader.quantity(key, *dimension)
                   : reader.number(key, "a plain number, because \"measured\" is one");
}

Observation read_observation(input::ObjectReader reader) {
  Observation observation;
  observation.what = reader.text("what");
  observation.source = reader.text("source");
  observation.role = read_observation_role(reader);
  if (!reader.required("measured", "a time with its unit, or a plain number").is_number())
    observation.dimension = units::Dimension::time;
  observation.measured = read_observed(reader, "measured", observation.dimension);
  observation.standard_error = read_observed(reader, "standard_error", observation.dimension);
  observation.simulated = read_observed(reader, "simulated", observation.dimension);
  if (observation.standard_error <= 0.0)
    throw input::InputError(reader.pointer_to("standard_error"), "must be above 0");
  reader.finish();
  return observation;
}

input::Json observed_json(const Observation& observation, double value) {
  return observation.dimension ? input::Json(units::format(value, *observation.dimension))
                               : input::Json(value);
}

input::Json observation_json(const Observation& observation) {
  return {{"what", observation.what},
          {"source", observation.source},
          {"role", name(observation.role)},
          {"measured", observed_json(observation, observation.measured)},
          {"standard_error", observed_json(observation, observation.standard_error)},
          {"simulated", observed_json(observation, observation.simulated)}};
}

}  // namespace

ObservationRole read_observation_role(input::ObjectReader& reader) {
  constexpr std::array kRoles = {ObservationRole::fit, ObservationRole::check};
  return kRoles[reader.choice("role", std::array{name(kRoles[0]), name(kRoles[1])})];
}

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
    json["observations"].push_back(observation_json(observation));
  return json;
}

}  // namespace equarx::config
