#include "tools/python/bindings/inspect.hpp"

#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/chip_choice.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/inspect/hardware.hpp"
#include "experiments/inspect/topology.hpp"
#include "models/formats/block_format.hpp"
#include "tools/python/bindings/work.hpp"

namespace equarx::python {
namespace {

namespace py = pybind11;
using input::Json;

std::pair<std::string, std::string> list_chips() {
  const auto chips = inspect::built_in_chips();
  return {input::json_text(inspect::to_json(chips)), inspect::to_table(chips)};
}

std::pair<std::string, std::string> describe_chip(const std::string& name_or_path) {
  const hardware::Chip chip = config::load_chip(name_or_path, "");
  return {input::json_text(config::to_json(chip)), inspect::to_report(chip)};
}

/// `config` has "hardware" and "topology". Returns JSON, table and picture.
std::vector<std::string> describe_topology(const std::string& config, bool picture) {
  return without_interpreter([=](const StopFlag&) {
    const Json json = input::parse_json(config);
    input::ObjectReader reader(json, "");
    const hardware::Chip chip = config::read_chip_choice(reader).chip;
    const inspect::TopologyReport report =
        inspect::report_topology(config::read_topology(reader.object("topology"), chip), chip);
    return std::vector<std::string>{input::json_text(to_json(report)), to_table(report),
                                    picture ? to_svg(report) : std::string()};
  });
}

std::string without_comments(const std::string& json) { return input::parse_json(json).dump(); }

std::string list_formats() {
  Json all = Json::array();
  for (const auto& [name, format] : numerics::named_formats()) {
    Json& entry = all.emplace_back(Json{{"name", name},
                                        {"element", numerics::name(format.element)},
                                        {"bits", numerics::element_bits(format.element)},
                                        {"scaled", format.scaled},
                                        {"shared_scale", numerics::has_shared_scale(format)}});
    if (!format.scaled) continue;
    entry["scale"] = numerics::name(format.scale);
    entry["layout"] = numerics::name(format.layout);
    if (format.block > 0) entry["block"] = format.block;
    entry["tensor_scale"] = format.tensor_scale;
  }
  return all.dump();
}

}  // namespace

void bind_inspect(py::module_& core) {
  core.def("chips", &list_chips, "The built-in chips, as JSON and as a table.");
  core.def("chip", &describe_chip, py::arg("name_or_path"), "A chip, as JSON and as a report.");
  core.def("topology", &describe_topology, py::arg("config"), py::arg("picture"),
           "A topology, as JSON, as a table and, if requested, as an SVG picture.");
  core.def("formats", &list_formats, "The named number formats, as JSON.");
  core.def("format_name", &config::format_name, py::arg("name"),
           "The name of a format in equarx, given its name in other tools.");
  core.def("read_file", &input::read_file, py::arg("path"), "The text of a file.");
  core.def("without_comments", &without_comments, py::arg("json"),
           "JSON text without the comments that equarx allows.");
}

}  // namespace equarx::python
