#include "experiments/sweep_key.hpp"

#include <vector>

#include "experiments/config_json.hpp"
#include "experiments/input_error.hpp"
#include "experiments/result_json.hpp"

namespace equarx::experiments {
namespace {

std::vector<std::string> files_of(const ExperimentConfig& config) {
  std::vector<std::string> files = config.tensor.files;
  // Names of what is built in are no files, and belong to the version.
  std::vector<std::string> named = {config.hardware, config.topology.file};
  if (config.workload) named.push_back(config.workload->model_name);
  for (const std::string& name : named)
    if (name.find('/') != std::string::npos || name.ends_with(".json")) files.push_back(name);
  return files;
}

}  // namespace

std::string SweepKeys::key(const Json& config) {
  try {
    const ExperimentConfig resolved = read_config(config);
    Json files = Json::object();
    for (const std::string& file : files_of(resolved)) files[file] = digest(file);
    return config_hash({{"version", version()}, {"config", to_json(resolved)}, {"files", files}});
  } catch (const InputError&) {
    return config_hash({{"version", version()}, {"unreadable", config}});
  }
}

const std::string& SweepKeys::digest(const std::string& file) {
  const auto [entry, is_new] = digests_.try_emplace(file);
  if (is_new) entry->second = text_hash(read_file(file));
  return entry->second;
}

}  // namespace equarx::experiments
