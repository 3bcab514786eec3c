// Any text either converts from HLO to a step or is refused in one short line.
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/exceptions/exceptions.hpp"
#include "importers/hlo/flow_totals.hpp"
#include "importers/hlo/hlo_step.hpp"
#include "importers/hlo/parser.hpp"
#include "models/steps/mesh_layout.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equarx;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const hlo::Module module = hlo::parse_module(text);
    // The importer first checks the number of devices against the machine.
    constexpr std::uint64_t kMostChips = 4096;
    if (module.devices() > kMostChips) return 0;
    const hlo::Flow flow = hlo::make_flow(module, {.by_name = {}, .otherwise = 3});
    // Keeps an input at a millisecond, far below a program of 100,000 tasks.
    constexpr double kMostCollectives = 1000.0;
    const hlo::FlowTotals totals = totals_of(flow);
    if (std::reduce(totals.times.begin(), totals.times.end()) > kMostCollectives) return 0;
    const auto chips = static_cast<std::uint32_t>(module.devices());
    const steps::Mesh mesh = steps::lay_mesh({chips}, {{.name = "chips", .length = chips}});
    const steps::Mesh divided = [&] {
      steps::Mesh made{{}, steps::axes_for(flow, chips)};
      for (steps::MeshAxis& axis : made.axes) {
        if (axis.length > 1) axis.machine_axes = {made.machine.size()};
        if (axis.length > 1) made.machine.push_back(axis.length);
      }
      return made;
    }();
    validate(hlo_step(flow, mesh).graph);
    validate(hlo_step(flow, divided).graph);
  } catch (const exceptions::UserError& error) {
    constexpr std::size_t kLongestLine = 4000;
    const std::string_view message = error.what();
    if (message.size() > kLongestLine + size) std::abort();
  } catch (const std::invalid_argument&) {
    // an empty or too large step
  }
  return 0;
}
