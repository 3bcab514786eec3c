#include "experiments/sweep/key.hpp"

#include "experiments/config/hardware_json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/named_files.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/output/hash.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/result/json.hpp"

namespace equarx::sweep {
std::string SweepKeys::key(const input::Json& config, const std::string& experiment) {
  input::Json parts = {{"version", output::version()}};
  if (!experiment.empty()) parts["experiment"] = experiment;
  try {
    const config::ExperimentConfig resolved = config::read_config(config);
    input::Json files = input::Json::object();
    // Names of what is built in are no files, and belong to the version.
    for (const std::string& file : config::named_files(resolved)) files[file] = digest(file);
    parts["config"] = to_json(resolved);
    parts["files"] = files;
    // A hardware file may be based on others.
    if (input::is_path(resolved.hardware)) parts["chip"] = config::to_json(resolved.chip);
  } catch (const input::InputError&) {
    parts["unreadable"] = config;
  }
  return output::config_hash(parts);
}

std::string SweepKeys::base(const input::Json& config) {
  try {
    return output::config_hash(to_json(config::read_config(config)));
  } catch (const input::InputError&) {
    return output::config_hash(config);
  }
}

const std::string& SweepKeys::digest(const std::string& file) {
  const auto [entry, is_new] = digests_.try_emplace(file);
  if (is_new) entry->second = output::file_hash(file);
  return entry->second;
}

}  // namespace equarx::sweep
