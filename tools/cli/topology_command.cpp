#include <array>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/output/files.hpp"
#include "experiments/config/chip_choice.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/inspect/topology.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/messages.hpp"
#include "tools/cli/option_names.hpp"
#include "tools/cli/overrides.hpp"

namespace equarx::cli {
namespace {

using input::InputError;
using input::Json;

constexpr const char* kDefaultHardware = "tpu-v5e";

/// Converts options to configuration keys, so that they have the same rules and messages.
Json topology_of(const TopologyArguments& arguments) {
  Json topology = Json::object();
  for (const auto& [key, value] :
       {std::pair{"slice", arguments.slice}, std::pair{"mesh", arguments.mesh},
        std::pair{"torus", arguments.torus}, std::pair{"file", arguments.file}})
    if (!value.empty()) topology[key] = value;
  const auto add = [&](const char* key, const std::string& text) {
    if (text.empty()) return;
    const Json value = Json::parse(text, nullptr, false);
    topology[key] = value.is_discarded() ? Json(text) : value;
  };
  add("ring", arguments.ring);
  add("fully-connected", arguments.fully_connected);
  add("switch", arguments.on_switch);
  if (!arguments.wraparound.empty()) {
    const Json axes = Json::parse("[" + arguments.wraparound + "]", nullptr, false);
    topology["wraparound"] = axes.is_discarded() ? Json{arguments.wraparound} : axes;
  }
  return topology;
}

inspect::TopologyReport report(Json json, const TopologyArguments& arguments) {
  apply_overrides(json, arguments.config.overrides);
  input::ObjectReader reader(json, "");
  const hardware::Chip chip = config::read_chip_choice(reader).chip;
  return inspect::report_topology(config::read_topology(reader.object("topology"), chip), chip);
}

/// Reports a topology given by options only. Errors in overridden keys keep their JSON pointer.
inspect::TopologyReport report_options(const Json& json, const TopologyArguments& arguments) {
  if (!arguments.config.overrides.empty()) return report(json, arguments);
  return naming_options("", [&] {
    return naming_options(config::kTopologyPointer, [&] { return report(json, arguments); });
  });
}

inspect::TopologyReport report(const TopologyArguments& arguments) {
  Json topology = topology_of(arguments);
  const std::string& path = arguments.config.path;
  if (path.empty()) {
    const std::string hardware = arguments.hardware.empty() ? kDefaultHardware : arguments.hardware;
    return report_options({{"hardware", hardware}, {"topology", std::move(topology)}}, arguments);
  }
  if (!topology.empty() || !arguments.hardware.empty())
    throw InputError("",
                     "give a CONFIG or options for the topology, not both; --set overrides keys of "
                     "a CONFIG");
  const std::string text = input::read_file(path);
  return naming_file(path, [&] { return report(input::parse_json(text), arguments); });
}

}  // namespace

void describe_topology(const TopologyArguments& arguments) {
  output::check_not_input(arguments.svg,
                          std::array{arguments.config.path, arguments.file, arguments.hardware});
  const inspect::TopologyReport result = report(arguments);
  if (!arguments.svg.empty()) output::write_file(arguments.svg, to_svg(result));
  print(arguments.json ? input::json_text(to_json(result), 2) + "\n" : to_table(result));
}

}  // namespace equarx::cli
