#include "tools/cli/config_file.hpp"

#include <iostream>
#include <iterator>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "base/output/files.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/label_notes.hpp"
#include "experiments/config/named_files.hpp"
#include "experiments/config/serving_json.hpp"
#include "experiments/serve/serve.hpp"
#include "experiments/step/memory.hpp"
#include "importers/hlo/import.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/overrides.hpp"

namespace equarx::cli {

std::string read_text(const std::string& path) {
  if (path != kStandardInput) return input::read_file(path);
  return input::read_stream(std::cin, "standard input");
}

input::JsonValue read_json(const ConfigArguments& arguments) {
  return read_json(arguments, read_text(arguments.path));
}

input::JsonValue read_json(const ConfigArguments& arguments, const std::string& text) {
  return naming_file(arguments.path, [&]() -> input::JsonValue {
    if (imports::is_program(text))
      throw input::InputError("",
                              "is an XLA program, not a configuration; 'equarx-sim import hlo' "
                              "converts it, and 'equarx-sim advise' accepts it");
    input::Json json = input::parse_json(text);
    apply_overrides(json, arguments.overrides);
    return json;
  });
}

ConfigFile read_config_file(const ConfigArguments& arguments, input::JsonValue json) {
  return naming_file(arguments.path, [&]() -> ConfigFile {
    config::ExperimentConfig config = config::read_config(json);
    input::check_schema(json, "experiment");
    return {std::move(json), std::move(config)};
  });
}

ConfigFile read_config_file(const ConfigArguments& arguments) {
  return read_config_file(arguments, read_json(arguments));
}

config::Config read_any(const std::string& path, const input::JsonValue& json) {
  return naming_file(path, [&] {
    config::Config config = config::read_checked(json);
    if (const auto* step = std::get_if<config::StepConfig>(&config)) step::check_memory(*step);
    return config;
  });
}

config::ServingConfig read_serving(const std::string& path, const input::JsonValue& json) {
  return naming_file(path, [&] {
    config::ServingConfig config = config::read_serving(json);
    input::check_schema(json, "serving");
    serve::check(config);
    return config;
  });
}

namespace {

void warn(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    print_message(fmt::format("equarx-sim: warning: {}\n", note));
}

}  // namespace

void print_warnings(const config::ExperimentConfig& config) {
  warn(config::label_notes(config.collectives, config.tensor.dtype));
}

void print_warnings(const config::StepConfig& config) {
  if (config.compared)
    warn(config::label_notes(config.compared->collectives, config.compared->tensor.dtype));
  if (const std::optional<std::string> memory = step::memory_warning(config)) warn({*memory});
}

void check_not_read(const std::string& output, const std::string& path,
                    const config::Config& config) {
  std::vector<std::string> inputs =
      std::visit([](const auto& one) { return config::named_files(one); }, config);
  inputs.push_back(path);
  output::check_not_input(output, inputs);
}

}  // namespace equarx::cli
