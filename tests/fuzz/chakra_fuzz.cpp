// Any bytes either parse to a trace, which round-trips and converts to a step, or are refused in
// one line.
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/exceptions/exceptions.hpp"
#include "importers/chakra/chakra_step.hpp"
#include "importers/chakra/file.hpp"
#include "models/steps/mesh_layout.hpp"

namespace {

/// True if the trace survives writing and reading. Ignores times, whose whole microseconds may
/// exceed the precision of a double.
bool round_trips(const equarx::chakra::Trace& trace) {
  using namespace equarx::chakra;
  const Trace again = read_trace(write_trace(trace));
  if (again.nodes.size() != trace.nodes.size()) return false;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (again.nodes[i].id != trace.nodes[i].id || again.nodes[i].kind != trace.nodes[i].kind ||
        again.nodes[i].after != trace.nodes[i].after || again.nodes[i].name != trace.nodes[i].name)
      return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace equarx;
  try {
    const chakra::Trace trace = chakra::read_trace({reinterpret_cast<const char*>(data), size});
    if (!round_trips(trace)) std::abort();
    constexpr std::uint32_t kChips = 4;
    const steps::ChakraTraces traces{
        .chips = std::vector<chakra::Trace>(kChips, trace), .devices = kChips, .groups = {}};
    std::vector<std::uint32_t> lengths;
    for (const steps::MeshAxis& axis : steps::axes_for(traces)) lengths.push_back(axis.length);
    const steps::Mesh mesh = steps::lay_mesh(lengths, steps::axes_for(traces));
    steps::validate(steps::chakra_step(traces, mesh).graph);
  } catch (const exceptions::UserError& error) {
    constexpr std::size_t kLongestLine = 2000;
    if (std::string_view(error.what()).size() > kLongestLine + size) std::abort();
  } catch (const std::invalid_argument&) {
    // an empty, cyclic or too large step
  }
  return 0;
}
