#include "experiments/plan/checks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/pointer.hpp"
#include "base/process/host_memory.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/estimates.hpp"
#include "models/collectives/direct_exchange.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::plan {
namespace {

/// Bits per element of the largest cast type; 0 if no collective casts.
std::size_t cast_bits(const config::ExperimentConfig& config) {
  std::size_t bits = 0;
  for (const config::CollectiveConfig& collective : config.collectives)
    if (config::has_casts(collective))
      bits = std::max(bits,
                      numerics::element_bits(config::tensor_type(collective, config.tensor.dtype)));
  return bits;
}

/// Bits per element held by a chip: tensor and result, each also in the cast type if there is one.
double working_set_bits(const config::ExperimentConfig& config) {
  return 2.0 * static_cast<double>(numerics::element_bits(config.tensor.dtype) + cast_bits(config));
}

/// Elements of quantized minishards that a chip processes at once: one per segment, of the coarsest
/// chunks.
double minishard_elements(const collectives::Program& program) {
  std::vector<double> largest(program.partition.segments());
  for (const collectives::Buffer& buffer : program.buffers) {
    if (buffer.content != collectives::Content::scales) continue;
    const std::uint32_t segment = buffer.tile.segment;
    const std::uint32_t uncut = buffer.tile.uncut;
    const double elements = static_cast<double>(program.partition.chunk_elements(segment, uncut)) /
                            program.partition.cut(segment, uncut).minishards;
    largest[segment] = std::max(largest[segment], elements);
  }
  return std::accumulate(largest.begin(), largest.end(), 0.0);
}

/// Links that a chip sends over at once: to distinct peers, limited by the transfers that a direct
/// exchange keeps in flight and by the links of the chip; on a switch, all of its port.
std::size_t links_at_once(const collectives::Program& program,
                          const config::ExperimentConfig& config) {
  const std::size_t links = config::links_of_chip(config.topology, config.chip);
  if (config.topology.kind == config::TopologyKind::on_switch) return links;
  std::set<collectives::Offset> peers;
  for (const collectives::Channel& channel : program.channels) peers.insert(channel.offset);
  return std::min({peers.size(), links, std::size_t{collectives::kShardsUnderWay}});
}

}  // namespace

Expected<void> check_hbm_capacity(const config::ExperimentConfig& config) {
  constexpr double kBitsPerByte = 8.0;
  const double bits = working_set_bits(config);
  const double needed = static_cast<double>(config.tensor.elements) * bits / kBitsPerByte;
  const double capacity = config.chip.hbm_capacity.value;
  if (needed <= capacity) return {};
  const auto largest =
      capacity / bits * static_cast<double>(numerics::element_bits(config.tensor.dtype));
  return infeasible(
      "/tensor",
      fmt::format("needs {} on each chip (tensor and result{}), but {} has {} of HBM; use a tensor "
                  "of at most {}",
                  units::bytes_text(needed), cast_bits(config) == 0 ? "" : ", and both as cast",
                  config.chip.name, units::bytes_text(capacity), units::bytes_text(largest)),
      needed);
}

Expected<void> check_program_size(const config::CollectiveConfig& collective,
                                  const collectives::RankGrid& grid,
                                  const config::ExperimentConfig& config,
                                  const std::string& pointer) {
  // A message with its buffer, about four instructions with their costs, and two timeline steps;
  // doubled for the growth of vectors.
  constexpr double kBytesPerMessage = 768.0;
  constexpr double kMostMessages = 0x1p29;  // instruction indices have 32 bits
  const double messages = estimate_messages(collective, grid, config);
  const double needed = messages * kBytesPerMessage;
  if (needed <= process::kLittleMemory) return {};
  const double available = process::available_memory_bytes();
  if (messages > kMostMessages || needed > available)
    return infeasible(
        pointer,
        fmt::format("needs {:.3g} messages on each of {} chips and {} of memory, but this "
                    "computer has {}; use fewer minishards or microshards, fewer chips, or "
                    "a smaller tensor",
                    messages, grid.ranks(), units::bytes_text(needed),
                    units::bytes_text(available)));
  return {};
}

/// FP32 sums and wire buffers in and out, unless these are in HBM; double-buffered, because one
/// minishard is on the wire while another is summed.
Expected<void> check_vmem(const collectives::Program& program,
                          const config::ExperimentConfig& config, const std::string& pointer) {
  constexpr double kBuffersPerElement = 2.0;
  constexpr double kSumBytes = 4.0;
  constexpr double kWireBytes = 1.0 + 1.0;
  const hardware::Chip& chip = config.chip;
  const bool in_hbm = config.wire_buffers == collectives::WireBuffers::hbm;
  const double needed =
      kBuffersPerElement * (kSumBytes + (in_hbm ? 0.0 : kWireBytes)) * minishard_elements(program);
  if (needed > chip.vmem_capacity.value)
    return infeasible(
        input::pointer(pointer, "minishards"),
        fmt::format("minishards of this size need {} of VMEM for their sums and buffers, and {} "
                    "has {}; use at least {} times as many",
                    units::bytes_text(needed), chip.name,
                    units::bytes_text(chip.vmem_capacity.value),
                    std::ceil(needed / chip.vmem_capacity.value)));
  return {};
}

/// An unquantized AllGather receives into HBM and forwards from there. If DMAs share HBM, its
/// contention is simulated instead.
Expected<void> check_hbm_bandwidth(const collectives::Program& program,
                                   const config::ExperimentConfig& config) {
  if (config.wire_buffers == collectives::WireBuffers::hbm) return {};
  const std::size_t links = links_at_once(program, config);
  const double traffic = config.chip.hbm_rate_of_links(links);
  if (traffic > config.chip.hbm_rate())
    return infeasible(
        "/hardware",
        fmt::format(
            "the HBM of {} reaches {} (hbm_bandwidth x hbm_efficiency), less than the {} that its "
            "{} links need; remove \"wire_buffers\": \"vmem\" to simulate HBM contention, or use "
            "fewer links",
            config.chip.name,
            units::format_short(config.chip.hbm_rate(), units::Dimension::bandwidth),
            units::format_short(traffic, units::Dimension::bandwidth), links));
  return {};
}

Expected<void> check_host_memory(const collectives::Program& program,
                                 const config::ExperimentConfig& config, unsigned threads) {
  if (!config.numerics) return {};
  return check_host_memory(values::memory_need(program), program, config, threads);
}

Expected<void> check_host_memory(const values::MemoryNeed& need,
                                 const collectives::Program& program,
                                 const config::ExperimentConfig& config, unsigned threads) {
  double needed = static_cast<double>(need.bytes(threads));
  needed += static_cast<double>(values::result_elements(program)) *  // the baseline's result
            static_cast<double>(numerics::element_bits(config.tensor.dtype)) / 8.0;
  if (needed <= process::kLittleMemory) return {};
  const double available = process::available_memory_bytes();
  if (needed > available)
    return infeasible(
        "/tensor", fmt::format("computing its values needs {} of memory, but this computer has {}; "
                               "use more minishards, a smaller tensor, or \"numerics\": \"off\"",
                               units::bytes_text(needed), units::bytes_text(available)));
  return {};
}

}  // namespace equarx::plan
