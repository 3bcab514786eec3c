#include "tools/cli/config_file.hpp"

#include "experiments/config_json.hpp"
#include "experiments/json_text.hpp"
#include "experiments/schema.hpp"
#include "tools/cli/overrides.hpp"

namespace equarx::cli {

ConfigFile read_config_file(const ConfigArguments& arguments) {
  const std::string text = experiments::read_file(arguments.path);
  return naming_file(arguments.path, [&]() -> ConfigFile {
    experiments::Json json = experiments::parse_json(text);
    for (const std::string& override : arguments.overrides) apply_override(json, override);
    experiments::ExperimentConfig config = experiments::read_config(json);
    experiments::check_schema(json, "experiment");
    return {std::move(json), std::move(config)};
  });
}

}  // namespace equarx::cli
