#include "models/hardware/chip.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::hardware {

std::string_view name(Provenance provenance) {
  switch (provenance) {
    case Provenance::datasheet:
      return "datasheet";
    case Provenance::measured:
      return "measured";
    case Provenance::calibrated:
      return "calibrated";
    case Provenance::assumed:
      return "assumed";
  }
  throw std::logic_error("unknown provenance");
}

std::span<const ParameterInfo> parameters() {
  using units::Dimension;
  static const std::array table = {
      ParameterInfo{"link_bandwidth", &Chip::link_bandwidth, false, Dimension::bandwidth, false,
                    "one direction of one ICI link"},
      ParameterInfo{"link_efficiency", &Chip::link_efficiency, true, Dimension::bandwidth, false,
                    "share of the link bandwidth that payload gets"},
      ParameterInfo{"hop_latency", &Chip::hop_latency, false, Dimension::time, true,
                    "from the start of a transfer to its first byte at the neighbour"},
      ParameterInfo{"hbm_capacity", &Chip::hbm_capacity, false, Dimension::bytes, false,
                    "memory of one chip"},
      ParameterInfo{"hbm_bandwidth", &Chip::hbm_bandwidth, false, Dimension::bandwidth, false,
                    "memory bandwidth of one chip"},
      ParameterInfo{"vmem_capacity", &Chip::vmem_capacity, false, Dimension::bytes, false,
                    "on-chip vector memory"},
      ParameterInfo{"vmem_bandwidth", &Chip::vmem_bandwidth, false, Dimension::bandwidth, false,
                    "bandwidth of the on-chip vector memory"},
      ParameterInfo{"vector_rate", &Chip::vector_rate, false, Dimension::operations, false,
                    "FP32 vector ALU operations"},
      ParameterInfo{"instruction_overhead", &Chip::instruction_overhead, false, Dimension::time,
                    true, "core time to start one vector instruction on a tile"},
      ParameterInfo{"dma_overhead", &Chip::dma_overhead, false, Dimension::time, true,
                    "core time to start one remote DMA"},
      ParameterInfo{"wait_overhead", &Chip::wait_overhead, false, Dimension::time, true,
                    "core time of one semaphore wait, after the arrival"},
  };
  return table;
}

std::string format_value(const ParameterInfo& info, const Parameter& parameter) {
  return info.is_ratio ? fmt::format("{}", parameter.value)
                       : units::format(parameter.value, info.dimension);
}

bool offers_slice(const Chip& chip, std::span<const std::uint32_t> lengths) {
  std::vector<std::uint32_t> wanted(lengths.begin(), lengths.end());
  std::ranges::sort(wanted);
  return std::ranges::any_of(chip.slices, [&](std::vector<std::uint32_t> slice) {
    std::ranges::sort(slice);
    return slice == wanted;
  });
}

}  // namespace equarx::hardware
