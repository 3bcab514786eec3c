#include "experiments/sweep/key.hpp"

#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/hash.hpp"
#include "base/output/provenance.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/result/json.hpp"

namespace equarx::sweep {

SweepKeys::Described SweepKeys::describe(const input::Json& config, const std::string& experiment) {
  std::shared_ptr<const PointSummary> summary;
  input::Json parts = {{"version", output::version()}};
  if (!experiment.empty()) parts["experiment"] = experiment;
  try {
    config::AnyConfig read = config::read_any_config(config);
    summary = std::make_shared<const PointSummary>(summary_of(read));
    input::Json files = input::Json::object();
    // Built-in names are not files; the version covers them.
    for (const std::string& file : read.files) files[file] = digest(file);
    parts["config"] = std::move(*read.resolved);
    parts["files"] = files;
    // A hardware file may be based on others.
    if (input::is_path(read.hardware)) parts["chip"] = config::to_json(read.chip);
  } catch (const input::InputError&) {
    parts["unreadable"] = config;
  }
  return {output::config_hash(parts), std::move(summary)};
}

std::string SweepKeys::base(const input::Json& config) {
  try {
    return output::config_hash(config::read_any_config(config).resolved);
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
