#include "importers/msccl/msccl_export.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "experiments/config/counts_json.hpp"
#include "experiments/plan/plan.hpp"
#include "importers/msccl/from_program.hpp"
#include "importers/msccl/msccl.hpp"
#include "importers/msccl/msccl_xml.hpp"

namespace equarx::imports {
namespace {

using input::InputError;

std::string labels(const config::ExperimentConfig& config) {
  std::string all;
  for (const config::CollectiveConfig& one : config.collectives)
    all += fmt::format("{}{}", all.empty() ? "" : ", ", one.label);
  return all;
}

/// The configuration reduced to one collective. MSCCL's interpreter runs a schedule, not a kernel of
/// workgroups, so that it has the messages of a chip without them.
config::ExperimentConfig with_only(config::ExperimentConfig config, const std::string& label) {
  const auto found = std::ranges::find(config.collectives, label, &config::CollectiveConfig::label);
  if (found == config.collectives.end())
    throw InputError(
        "", fmt::format("--collective: '{}' is unknown; use one of {}", label, labels(config)));
  config.collectives = {*found};
  config.baseline = 0;
  config.chip.compute_units.value = 0.0;
  return config;
}

std::string text_of(const config::ExperimentConfig& config, const std::string& label) {
  return input::within(fmt::format("'{}' cannot be exported to MSCCL", label), [&] {
    const plan::Plan planned = plan::make_plan(with_only(config, label));
    const plan::CollectivePlan& collective = planned.collectives.front().candidates.front();
    schedules::Schedule schedule = schedules::from_program(collective.program);
    schedule.name = label;
    std::string text = schedules::write_msccl_xml(schedule);
    read_msccl(text);  // chunk layouts that differ from NCCL are rejected
    return text;
  });
}

}  // namespace

std::string export_msccl(const config::ExperimentConfig& config, const std::string& label) {
  config::reject_counts(config);
  if (!label.empty() || config.collectives.size() == 1)
    return text_of(config, label.empty() ? config.collectives.front().label : label);
  std::string first_reason;
  for (const config::CollectiveConfig& one : config.collectives) {
    try {
      return text_of(config, one.label);
    } catch (const InputError& error) {
      if (first_reason.empty()) first_reason = error.what();
    }
  }
  throw InputError("", first_reason);
}

}  // namespace equarx::imports
