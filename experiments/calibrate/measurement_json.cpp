#include "experiments/calibrate/measurement_json.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/renamed_keys.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/calibration_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/step_json.hpp"

namespace equarx::calibrate {
namespace {

/// The configuration of the file with the overrides of "set" applied.
input::Json config_json(input::ObjectReader& reader, const std::filesystem::path& folder) {
  input::Json config = config::read_config_or_path(reader, "config", folder);
  if (!reader.has("set")) return config;
  const input::Json& changes = reader.required("set", "an object");
  if (!changes.is_object())
    throw input::InputError(
        reader.pointer_to("set"),
        "expected an object of JSON pointers, like {\"/tensor/bytes\": \"8 B\"}");
  input::within(reader.pointer_to("set"), [&] {
    for (const auto& [pointer, value] : changes.items()) config::set_value(config, pointer, value);
  });
  return config;
}

void check_hardware(const input::Json& config, const std::string& place,
                    const std::string& hardware) {
  if (!config.contains("hardware") || config["hardware"] == hardware) return;
  if (config["hardware"].is_string() &&
      config::chip_name(config["hardware"].get_ref<const std::string&>()) == hardware)
    return;
  throw input::InputError(place, fmt::format("is for {}, but '{}' is calibrated; name that chip or "
                                             "omit \"hardware\"",
                                             config["hardware"].dump(), hardware));
}

/// Leaves out values, which do not affect times, and SimGrid, which would need one process per
/// simulation.
void prepare(config::ExperimentConfig& config) {
  config.numerics = false;
  config.engine = config::EngineMode::direct;
}

void prepare(config::StepConfig& config) {
  config.values.assign(config.calls.size(), std::nullopt);
  config.machine.engine = config::EngineMode::direct;
}

config::Config read_experiment(input::Json config, const std::string& place,
                               const std::string& hardware) {
  check_hardware(config, place, hardware);
  config["hardware"] = hardware;
  return input::within(place, [&] {
    config::Config experiment = config::read(config);
    std::visit([](auto& one) { prepare(one); }, experiment);
    return experiment;
  });
}

const std::vector<config::CollectiveConfig>& compared(const config::ExperimentConfig& config) {
  return config.collectives;
}
const std::vector<config::StepVariant>& compared(const config::StepConfig& config) {
  return config.variants;
}

std::size_t find_run(input::ObjectReader& reader, const config::Config& config) {
  if (!reader.has("run")) return 0;
  std::vector<std::string_view> labels;
  std::visit(
      [&](const auto& one) {
        for (const auto& entry : compared(one)) labels.push_back(entry.label);
      },
      config);
  return reader.choice("run", labels);
}

std::string read_metric(input::ObjectReader& reader, const config::Config& config) {
  if (!reader.has("metric")) return "time_s";
  const std::vector<std::string> numbers =
      std::visit([](const auto& one) { return result::number_names(one); }, config);
  const input::Json& written = reader.required("metric", "a text");
  if (written.is_string()) {
    std::string current = input::current_name(written.get_ref<const std::string&>());
    if (std::ranges::find(numbers, current) != numbers.end()) return current;
  }
  const std::vector<std::string_view> names(numbers.begin(), numbers.end());
  return numbers[reader.choice("metric", names)];
}

double read_measured(input::ObjectReader& reader, std::string_view key,
                     std::optional<units::Dimension> dimension) {
  const input::Json& value =
      reader.required(key, dimension ? input::expected_quantity(*dimension) : "a number");
  if (dimension && value.is_string())
    return input::read_quantity(value, reader.pointer_to(key), *dimension);
  if (!value.is_number())
    throw input::InputError(reader.pointer_to(key),
                            dimension ? "expected a time with its unit, or a number of seconds"
                                      : "expected a plain number");
  return value.get<double>();
}

input::Json measured_schema() {
  return input::schema_of(R"({"x-definition": "measured", "type": ["string", "number"]})");
}

const input::Table<Measurement>& measurement_table() {
  using input::Elsewhere, input::kRequired, input::Text;
  constexpr std::string_view kWhat = "description and origin of the measurement";
  constexpr std::string_view kNumber =
      "a time with unit or in seconds; a plain number for other metrics";
  static const input::Table<Measurement> table{
      {"what", &Measurement::what, Text{}, kWhat, kRequired},
      {"source", &Measurement::source, Text{}, kWhat, kRequired},
      {"role", &Measurement::role, config::ObservationRoleName{},
       "`\"fit\"`, or `\"check\"`: compared only", kRequired},
      {"config", Elsewhere{R"({"type": ["object", "string"]})"},
       "experiment that simulates it, or its path relative to this file; `hardware` as above or "
       "absent",
       kRequired},
      {"set", Elsewhere{R"({"type": "object"})"}, "overrides by JSON pointer, as with `--set`"},
      {"run", Elsewhere{Text{}}, "label of the collective; default: the first"},
      {"metric", Elsewhere{Text{}},
       "number of a run ([results.md](results.md)), such as `\"speedup\"`",
       input::by_default(R"("time_s")")},
      {"measured", Elsewhere{measured_schema}, kNumber, kRequired},
      {"standard_error", Elsewhere{measured_schema}, kNumber, kRequired},
  };
  return table;
}

}  // namespace

Measurement read_measurement(input::ObjectReader reader, const std::string& place,
                             const std::string& hardware, const std::filesystem::path& folder) {
  Measurement measurement;
  measurement.place = place;
  measurement_table().read(reader, measurement);
  SimulatedNumber number;
  number.config =
      read_experiment(config_json(reader, folder), reader.pointer_to("config"), hardware);
  number.run = find_run(reader, number.config);
  number.metric = read_metric(reader, number.config);
  number.run_key = fmt::format(
      "{} {} {}", std::visit([](const auto& one) { return to_json(one); }, number.config).dump(),
      number.run, number.metric);
  if (number.metric.ends_with("_s")) measurement.dimension = units::Dimension::time;
  measurement.measured = read_measured(reader, "measured", measurement.dimension);
  measurement.standard_error = read_measured(reader, "standard_error", measurement.dimension);
  if (measurement.standard_error <= 0.0)
    throw input::InputError(reader.pointer_to("standard_error"),
                            "must be above 0; use the clock resolution if nothing better is known");
  reader.finish();
  measurement.of = std::move(number);
  return measurement;
}

input::Json measurement_schema() { return measurement_table().schema(); }

}  // namespace equarx::calibrate
