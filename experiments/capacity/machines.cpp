#include "experiments/capacity/machines.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "experiments/config/machine_names.hpp"
#include "experiments/config/model_json.hpp"
#include "topologies/grid.hpp"

namespace equarx::capacity {
namespace {

using input::Json;

/// GPUs of a node.
constexpr std::uint32_t kNode = 8;
/// Requests of a simulated load.
constexpr std::uint64_t kRequests = 300;

/// The shape with the shortest longest axis.
hardware::SliceLengths most_compact(const std::vector<hardware::SliceLengths>& shapes) {
  return *std::ranges::min_element(shapes, {}, [](const hardware::SliceLengths& lengths) {
    return *std::ranges::max_element(lengths);
  });
}

}  // namespace

std::vector<Machine> machines_of(const std::string& name, const std::vector<std::uint32_t>& sizes) {
  const hardware::Chip chip = config::load_chip(name, "--chips");
  const std::string known = config::chip_name(name);
  std::vector<Machine> machines;
  for (const std::uint32_t size : sizes) {
    const auto add = [&](const Json& topology) {
      machines.push_back({known, topology, size, chip.price.value, chip.is_calibrated()});
    };
    const bool has_slices = !chip.slices.list.empty() || chip.slices.cubes;
    if (has_slices) {
      const auto shapes = hardware::slices_of(chip.slices, size);
      if (!shapes.empty()) add({{"slice", topology::format_lengths(most_compact(shapes))}});
    } else if (size == 1) {
      add({{"ring", 1}});
    } else if (size <= kNode) {
      add({{chip.switch_efficiency.value > 0.0 ? "switch" : "fully-connected", size}});
    }
  }
  return machines;
}

input::JsonValue configuration(const Request& request, const Machine& machine,
                               const Formats& formats, std::uint64_t tokens,
                               std::uint32_t sequences, double requests_per_s) {
  const workloads::Transformer model = config::load_model(request.model, "--model");
  Json attention = {{"method", "fused"}, {"skips_future", true}};
  if (model.local_layers_per_global > 0) attention["skips_outside_window"] = true;
  Json serving = {
      {"model", request.model},
      {"precision", formats.precision},
      {"attention", attention},
      {"quantize", Json::array({{{"format", formats.collective}, {"algorithm", "auto"}}})},
      {"load",
       {{"requests_per_s", requests_per_s},
        {"requests", kRequests},
        {"prompt", request.prompt},
        {"output", request.output}}},
      {"scheduler", {{"sequences", sequences}, {"tokens", tokens}}}};
  if (formats.kv != "bf16") serving["kv"] = formats.kv;
  return Json{{"hardware", machine.chip}, {"topology", *machine.topology}, {"serving", serving}};
}

}  // namespace equarx::capacity
