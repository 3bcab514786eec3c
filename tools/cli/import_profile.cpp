#include "tools/cli/import_profile.hpp"

#include <optional>
#include <string>
#include <vector>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/step/run.hpp"
#include "importers/profile/report.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/import_command.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"

namespace equarx::cli {

void import_profile(const ImportArguments& arguments, imports::Profiler profiler) {
  imports::ProgramOptions options;
  options.hardware = profiler == imports::Profiler::kineto ? "h100" : "tpu-v5e";
  read_options(arguments, options);
  std::vector<std::string> paths = {arguments.file};
  paths.insert(paths.end(), arguments.more_files.begin(), arguments.more_files.end());
  const imports::ImportedProfile profile = naming_options("", [&] {
    return imports::import_profile(
        profiler, paths,
        [](const std::string& path) {
          return path == kStandardInput ? read_text(path) : imports::read_profile_text(path);
        },
        options);
  });
  std::optional<step::StepResult> result;
  if (!profile.program.step->is_null())
    result = naming_file(arguments.file, [&] { return simulate(plan_step(profile.program.step)); });
  print(arguments.json ? input::json_text(to_json(profile, result), 2) + "\n"
                       : to_table(profile, result));
}

}  // namespace equarx::cli
