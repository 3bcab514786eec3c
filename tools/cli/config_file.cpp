#include "tools/cli/config_file.hpp"

#include "experiments/config/json.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/schema.hpp"
#include "tools/cli/overrides.hpp"

namespace equarx::cli {

ConfigFile read_config_file(const ConfigArguments& arguments) {
  const std::string text = input::read_file(arguments.path);
  return naming_file(arguments.path, [&]() -> ConfigFile {
    input::Json json = input::parse_json(text);
    for (const std::string& override : arguments.overrides) apply_override(json, override);
    config::ExperimentConfig config = config::read_config(json);
    input::check_schema(json, "experiment");
    return {std::move(json), std::move(config)};
  });
}

}  // namespace equarx::cli
