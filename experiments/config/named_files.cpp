#include "experiments/config/named_files.hpp"

#include "experiments/input/json_text.hpp"

namespace equarx::config {

std::vector<std::string> named_files(const ExperimentConfig& config) {
  std::vector<std::string> files = config.tensor.files;
  std::vector<std::string> named = {config.hardware, config.topology.file};
  if (config.workload) named.push_back(config.workload->model_name);
  for (const std::string& name : named)
    if (input::is_path(name)) files.push_back(name);
  return files;
}

}  // namespace equarx::config
