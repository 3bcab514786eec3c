#include "tools/cli/topology_command.hpp"

#include <utility>

#include "experiments/config_parts.hpp"
#include "experiments/hardware_json.hpp"
#include "experiments/input_error.hpp"
#include "experiments/json_text.hpp"
#include "experiments/output_files.hpp"
#include "experiments/topology_report.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/overrides.hpp"

namespace equarx::cli {
namespace {

using experiments::InputError;
using experiments::Json;

constexpr const char* kDefaultHardware = "tpu-v5e";

// Paths on the command line need not be UTF-8.
constexpr auto kReplace = Json::error_handler_t::replace;

/// The options as the keys of a configuration, which are read with the same rules and messages.
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
  if (!arguments.wraparound.empty()) {
    const Json axes = Json::parse("[" + arguments.wraparound + "]", nullptr, false);
    topology["wraparound"] = axes.is_discarded() ? Json{arguments.wraparound} : axes;
  }
  return topology;
}

experiments::TopologyReport report(Json json, const TopologyArguments& arguments) {
  for (const std::string& override : arguments.config.overrides) apply_override(json, override);
  experiments::ObjectReader reader(json, "");
  const auto chip = experiments::load_chip(reader.text("hardware"), "/hardware");
  return report_topology(experiments::read_topology(reader.object("topology"), chip), chip);
}

experiments::TopologyReport report(const TopologyArguments& arguments) {
  Json topology = topology_of(arguments);
  const std::string& path = arguments.config.path;
  if (path.empty()) {
    const std::string hardware = arguments.hardware.empty() ? kDefaultHardware : arguments.hardware;
    return report({{"hardware", hardware}, {"topology", std::move(topology)}}, arguments);
  }
  if (!topology.empty() || !arguments.hardware.empty())
    throw InputError("",
                     "give a CONFIG or options for the topology, not both; --set changes what "
                     "a CONFIG says");
  const std::string text = experiments::read_file(path);
  return naming_file(path, [&] { return report(experiments::parse_json(text), arguments); });
}

}  // namespace

void describe_topology(const TopologyArguments& arguments) {
  const experiments::TopologyReport result = report(arguments);
  if (!arguments.svg.empty()) experiments::write_file(arguments.svg, to_svg(result));
  print(arguments.json ? to_json(result).dump(2, ' ', false, kReplace) + "\n" : to_table(result));
}

}  // namespace equarx::cli
