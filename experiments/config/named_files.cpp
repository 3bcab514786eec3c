#include "experiments/config/named_files.hpp"

#include "base/input/json_text.hpp"

namespace equarx::config {

std::vector<std::string> named_files(const ExperimentConfig& config) {
  std::vector<std::string> files = config.tensor.files;
  std::vector<std::string> named = {config.hardware, config.topology.file};
  for (const std::string& name : named)
    if (input::is_path(name)) files.push_back(name);
  return files;
}

std::vector<std::string> named_files(const StepConfig& config) {
  std::vector<std::string> files = named_files(config.machine);
  std::vector<std::string> named;
  if (config.workload) named.push_back(config.workload->model_name);
  if (config.training) named.push_back(config.training->model_name);
  for (const std::string& name : named)
    if (input::is_path(name)) files.push_back(name);
  for (const std::optional<TensorConfig>& tensor : config.values)
    if (tensor) files.insert(files.end(), tensor->files.begin(), tensor->files.end());
  return files;
}

}  // namespace equarx::config
