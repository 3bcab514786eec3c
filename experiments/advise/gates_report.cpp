#include "experiments/advise/gates_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "base/units/quantity.hpp"
#include "experiments/advise/sizes.hpp"
#include "experiments/advise/text.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::advise {
namespace {

std::string size_text(const GateSize& size) {
  return size ? units::bytes_text(static_cast<double>(*size)) : "never";
}

std::string from_text(const GateSize& size) {
  return size == gain_sizes().front() ? size_text(size) + " or less" : size_text(size);
}

std::string interval_text(const Gate& gate) {
  if (!gate.interval) return "-";
  const auto& [low, high] = *gate.interval;
  if (low == high) return size_text(low);
  return fmt::format("{} to {}", size_text(low), size_text(high));
}

output::TableRow row_of(const MachineGates& machine, const Gate& gate) {
  return {machine.config.chip.name,
          config::topology_text(machine.config.topology),
          fmt::format("{}", machine.ranks),
          gate.codec,
          gate.format,
          gate.algorithm,
          from_text(gate.from),
          interval_text(gate),
          speedup_text(gate.speedup),
          sqnr_text(gate.nmse)};
}

/// Name of the tensor's type in PyTorch.
std::string_view torch_name(const MachineGates& machine) {
  switch (machine.config.tensor.dtype) {
    case numerics::ElementFormat::bf16: return "bfloat16";
    case numerics::ElementFormat::fp16: return "float16";
    default: return "float32";
  }
}

/// Bytes for a Python source: "4 * MB", "64 * KB", "None".
std::string python_bytes(const GateSize& size) {
  constexpr std::uint64_t kKibi = 1024;
  if (!size) return "None";
  if (*size % (kKibi * kKibi) == 0) return fmt::format("{} * MB", *size / (kKibi * kKibi));
  return fmt::format("{} * KB", *size / kKibi);
}

/// Entries of machines of one chip.
std::string python_text(const std::vector<MachineGates>& machines, const std::string& chip) {
  std::string entries;
  std::string codecs;
  for (const MachineGates& machine : machines) {
    if (machine.config.chip.name != chip || machine.gates.empty()) continue;
    std::vector<std::string> sizes;
    std::vector<std::string> names;
    for (const Gate& gate : machine.gates) {
      sizes.push_back(python_bytes(gate.from));
      names.push_back(gate.codec);
    }
    codecs = fmt::format("{}", fmt::join(names, ", "));
    entries += fmt::format("    (torch.{}, {}): [{}],  # {}\n", torch_name(machine), machine.ranks,
                           fmt::join(sizes, ", "), config::topology_text(machine.config.topology));
  }
  if (entries.empty()) return {};
  return fmt::format("MIN_SIZE = {{  # {}, by type and ranks: [{}]; None: never\n{}}}\n", chip,
                     codecs, entries);
}

input::Json size_json(const GateSize& size) {
  return size ? input::Json(*size) : input::Json(nullptr);
}

input::Json gate_json(const Gate& gate) {
  return {{"codec", gate.codec},
          {"format", gate.format},
          {"algorithm", gate.algorithm},
          {"min_bytes", size_json(gate.from)},
          {"interval", gate.interval ? input::Json({{"low", size_json(gate.interval->first)},
                                                    {"high", size_json(gate.interval->second)}})
                                     : input::Json(nullptr)},
          {"speedup_at_largest", gate.speedup},
          {"nmse", gate.nmse},
          {"sqnr_db", numerics::sqnr_db(gate.nmse)}};
}

}  // namespace

std::string to_text(const std::vector<MachineGates>& machines) {
  const config::ExperimentConfig& first = machines.front().config;
  const std::vector<std::uint64_t> sizes = gain_sizes();
  std::string text = fmt::format(
      "Gates of {} of {}, {} to {}: smallest size from which a codec is faster than "
      "every plain collective\n\n",
      collectives::name(first.collective), numerics::name(first.tensor.dtype),
      size_text(sizes.front()), size_text(sizes.back()));
  std::vector<output::TableRow> rows = {{"chip", "topology", "ranks", "codec", "format",
                                         "algorithm", "from", "68 % interval", "speedup", "SQNR"}};
  for (const MachineGates& machine : machines)
    for (const Gate& gate : machine.gates) rows.push_back(row_of(machine, gate));
  text += output::aligned_table(rows);
  text += fmt::format("  speedup: at {}; SQNR: of normal values at {}\n", size_text(sizes.back()),
                      size_text(kErrorBytes));
  for (const MachineGates& machine : machines)
    if (!machine.why_not.empty())
      text += fmt::format("  {}, {}: {}\n", machine.config.chip.name,
                          config::topology_text(machine.config.topology), machine.why_not);
  std::vector<std::string> chips;
  for (const MachineGates& machine : machines)
    if (std::ranges::find(chips, machine.config.chip.name) == chips.end())
      chips.push_back(machine.config.chip.name);
  for (const std::string& chip : chips) text += '\n' + python_text(machines, chip);
  return text;
}

input::Json to_json(const std::vector<MachineGates>& machines) {
  input::Json list = input::Json::array();
  for (const MachineGates& machine : machines) {
    input::Json gates = input::Json::array();
    for (const Gate& gate : machine.gates) gates.push_back(gate_json(gate));
    list.push_back({{"chip", machine.config.chip.name},
                    {"topology", config::topology_text(machine.config.topology)},
                    {"ranks", machine.ranks},
                    {"dtype", numerics::name(machine.config.tensor.dtype)},
                    {"gates", std::move(gates)},
                    {"why_not", machine.why_not.empty() ? input::Json(nullptr)
                                                        : input::Json(machine.why_not)}});
  }
  return {{"program", "equarx-sim"}, {"version", output::version()}, {"machines", std::move(list)}};
}

}  // namespace equarx::advise
