#include "experiments/sweep/key.hpp"

#include <vector>

#include "experiments/config/json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/output/hash.hpp"
#include "experiments/output/provenance.hpp"
#include "experiments/result/json.hpp"

namespace equarx::sweep {
namespace {

std::vector<std::string> files_of(const config::ExperimentConfig& config) {
  std::vector<std::string> files = config.tensor.files;
  // Names of what is built in are no files, and belong to the version.
  std::vector<std::string> named = {config.hardware, config.topology.file};
  if (config.workload) named.push_back(config.workload->model_name);
  for (const std::string& name : named)
    if (input::is_path(name)) files.push_back(name);
  return files;
}

}  // namespace

std::string SweepKeys::key(const input::Json& config, const std::string& experiment) {
  input::Json parts = {{"version", output::version()}};
  if (!experiment.empty()) parts["experiment"] = experiment;
  try {
    const config::ExperimentConfig resolved = config::read_config(config);
    input::Json files = input::Json::object();
    for (const std::string& file : files_of(resolved)) files[file] = digest(file);
    parts["config"] = to_json(resolved);
    parts["files"] = files;
  } catch (const input::InputError&) {
    parts["unreadable"] = config;
  }
  return output::config_hash(parts);
}

const std::string& SweepKeys::digest(const std::string& file) {
  const auto [entry, is_new] = digests_.try_emplace(file);
  if (is_new) entry->second = output::file_hash(file);
  return entry->second;
}

}  // namespace equarx::sweep
