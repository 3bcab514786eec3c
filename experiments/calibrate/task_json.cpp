// Reads a calibration file.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "base/input/schema.hpp"
#include "experiments/calibrate/kernel_list.hpp"
#include "experiments/calibrate/measurement_json.hpp"
#include "experiments/calibrate/task.hpp"
#include "experiments/config/calibration_json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/parameter_json.hpp"

namespace equarx::calibrate {
namespace {

using Parameters = std::vector<const hardware::ParameterInfo*>;

const hardware::ParameterInfo* read_parameter(const input::Json& value, const std::string& place) {
  const hardware::ParameterInfo& info = config::read_parameter_key(value, place);
  if (info.kind == hardware::ParameterKind::count)
    throw input::InputError(place, fmt::format("{} is a count, which cannot vary continuously; "
                                               "name a quantity or a ratio",
                                               info.key));
  return &info;
}

Parameters read_parameters(input::ObjectReader& reader, std::string_view list_key,
                           const Parameters& others) {
  Parameters read;
  const input::Json& list = reader.array(list_key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = reader.pointer_to(list_key, i);
    const hardware::ParameterInfo* info = read_parameter(list[i], place);
    for (const Parameters& named : {read, others})
      if (std::ranges::find(named, info) != named.end())
        throw input::InputError(place, fmt::format("'{}' is named twice; name it once", info->key));
    read.push_back(info);
  }
  return read;
}

void check_given(const Parameters& given, const hardware::Chip& chip) {
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!standard_uncertainty(chip.*given[i]->member))
      throw input::InputError(
          input::pointer("/given", i),
          fmt::format("{} has neither a range nor a standard error in {}; add one there, or "
                      "omit it here",
                      given[i]->key, chip.name));
}

bool is_same_number(const Measurement& first, const Measurement& second) {
  const auto* one = std::get_if<SimulatedNumber>(&first.of);
  const auto* other = std::get_if<SimulatedNumber>(&second.of);
  return one != nullptr && other != nullptr && one->run_key == other->run_key;
}

/// Rejects different values for the same number of the same run.
void check_agreement(const std::vector<Measurement>& measurements) {
  constexpr double kMost = 5.0;  // combined standard errors
  for (auto later = measurements.begin(); later != measurements.end(); ++later)
    for (auto first = measurements.begin(); first != later; ++first) {
      const double error = std::hypot(first->standard_error, later->standard_error);
      if (!is_same_number(*first, *later) ||
          std::abs(first->measured - later->measured) <= kMost * error)
        continue;
      throw input::InputError(
          input::pointer(later->place, "measured"),
          fmt::format(
              "is {:.1f} standard errors away from {}, which measures the same; correct one "
              "of them, or give larger standard errors",
              std::abs(first->measured - later->measured) / error, first->place));
    }
}

void check_count(const CalibrationTask& task) {
  if (task.fit.empty())
    throw input::InputError("/fit", "is empty; name a parameter, like \"hop_latency\"");
  const auto rows = static_cast<std::size_t>(
      std::ranges::count(task.measurements, hardware::ObservationRole::fit, &Measurement::role));
  if (rows < task.fit.size())
    throw input::InputError(
        "/measurements",
        fmt::format("{} of role fit cannot determine {} parameters; add measurements, or fit fewer",
                    rows, task.fit.size()));
}

/// An optional parameter that the chip lacks has no start value.
void check_start(const CalibrationTask& task) {
  for (std::size_t i = 0; i < task.fit.size(); ++i)
    if (is_absent(task.chip, *task.fit[i]))
      throw input::InputError(input::pointer("/fit", i),
                              fmt::format("{} has no {} to start from; add a guess to its hardware",
                                          task.chip.name, task.fit[i]->key));
}

void read_measurements(input::ObjectReader& reader, const std::filesystem::path& folder,
                       CalibrationTask& task) {
  if (reader.has("kernels")) {
    const input::Json& lists = reader.array("kernels");
    for (std::size_t i = 0; i < lists.size(); ++i)
      std::ranges::move(
          read_kernel_list({lists[i], reader.pointer_to("kernels", i)}, task.chip, folder),
          std::back_inserter(task.measurements));
    if (!reader.has("measurements")) return;
  }
  const input::Json& measurements = reader.array("measurements");
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const std::string place = reader.pointer_to("measurements", i);
    task.measurements.push_back(
        read_measurement({measurements[i], place}, place, task.hardware, folder));
  }
}

}  // namespace

CalibrationTask read_task(const input::Json& json, const std::filesystem::path& folder) {
  input::ObjectReader reader(json, "");
  CalibrationTask task;
  task.hardware = config::chip_name(reader.text("hardware"));
  task.chip = config::load_chip(reader.text("hardware"), reader.pointer_to("hardware"));
  task.fit = read_parameters(reader, "fit", {});
  if (reader.has("given")) task.given = read_parameters(reader, "given", task.fit);
  check_given(task.given, task.chip);
  if (reader.has("name")) task.chip.name = reader.text("name");
  if (reader.has("description")) task.chip.description = reader.text("description");
  read_measurements(reader, folder, task);
  reader.finish();
  check_start(task);
  check_count(task);
  check_agreement(task.measurements);
  input::check_schema(json, "calibration");
  return task;
}

namespace {

input::Json kernel_lists_schema() {
  return {{"type", "array"}, {"minItems", 1}, {"items", kernel_list_schema()}};
}

input::Json measurements_schema() {
  return {{"type", "array"}, {"minItems", 1}, {"items", measurement_schema()}};
}

}  // namespace

input::Json calibration_schema() {
  using input::Elsewhere, input::kRequired, input::Text;
  constexpr std::string_view kOfChip = "of the new chip; otherwise those in `hardware`";
  static const input::Table<CalibrationTask> table{
      {"hardware", Elsewhere{Text{}},
       "built-in chip or path of a hardware file (relative to the working directory): start "
       "values, other parameters",
       kRequired},
      {"name", Elsewhere{Text{}}, kOfChip},
      {"description", Elsewhere{Text{}}, kOfChip},
      {"fit", Elsewhere{config::parameter_names_schema},
       "parameters to fit: quantities and ratios, not counts", kRequired},
      {"given", Elsewhere{R"({"type": "array", "uniqueItems": true, "items": {"type": "string"}})"},
       "fixed parameters whose uncertainty in `hardware` propagates"},
      {"measurements", Elsewhere{measurements_schema},
       "with `kernels`, at least as many rows of role `fit` as fitted parameters",
       input::otherwise("required without `kernels`")},
      {"kernels", Elsewhere{kernel_lists_schema},
       "lists of measured kernels ([below](#lists-of-kernels))", input::otherwise("none")},
  };
  return table.schema();
}

}  // namespace equarx::calibrate
