#include "models/hardware/chip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace equarx::hardware {

namespace {

ParameterInfo optional_time(std::string_view key, Parameter Chip::*member,
                            std::string_view description) {
  return {key, member, ParameterKind::quantity, units::Dimension::time, true, description, true};
}

ParameterInfo optional_share(std::string_view key, Parameter Chip::*member,
                             std::string_view description) {
  return {key,         member, ParameterKind::ratio, units::Dimension::operations, false,
          description, true};
}

ParameterInfo optional_rate(std::string_view key, Parameter Chip::*member,
                            std::string_view description) {
  return {key,         member, ParameterKind::quantity, units::Dimension::operations, false,
          description, true};
}

}  // namespace

std::span<const ParameterInfo> parameters() {
  using units::Dimension;
  static const std::array table = {
      ParameterInfo{"links", &Chip::links, ParameterKind::count, Dimension::bytes, false,
                    "links of one chip to others; on a TPU, ICI, two per axis of the torus"},
      ParameterInfo{"link_bandwidth", &Chip::link_bandwidth, ParameterKind::quantity,
                    Dimension::bandwidth, false, "one direction of one link"},
      ParameterInfo{"link_efficiency", &Chip::link_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "payload share of the link bandwidth"},
      ParameterInfo{"hop_latency", &Chip::hop_latency, ParameterKind::quantity, Dimension::time,
                    true, "from the start of a transfer to its first byte at the neighbour"},
      ParameterInfo{"shared_link_efficiency", &Chip::shared_link_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false,
                    "share of the payload rate reached by links that several pairs of chips use"},
      ParameterInfo{"collective_startup", &Chip::collective_startup, ParameterKind::quantity,
                    Dimension::time, true,
                    "core time before the first instruction of a collective"},
      ParameterInfo{"hbm_capacity", &Chip::hbm_capacity, ParameterKind::quantity, Dimension::bytes,
                    false, "memory of one chip"},
      ParameterInfo{"hbm_bandwidth", &Chip::hbm_bandwidth, ParameterKind::quantity,
                    Dimension::bandwidth, false, "memory bandwidth of one chip"},
      ParameterInfo{"hbm_efficiency", &Chip::hbm_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "achievable share of the memory bandwidth"},
      ParameterInfo{"vmem_capacity", &Chip::vmem_capacity, ParameterKind::quantity,
                    Dimension::bytes, false, "on-chip vector memory"},
      ParameterInfo{"vmem_bandwidth", &Chip::vmem_bandwidth, ParameterKind::quantity,
                    Dimension::bandwidth, false, "bandwidth of the on-chip vector memory"},
      ParameterInfo{"vector_rate", &Chip::vector_rate, ParameterKind::quantity,
                    Dimension::operations, false, "FP32 vector ALU operations"},
      ParameterInfo{"matrix_rate_bf16", &Chip::matrix_rate_bf16, ParameterKind::quantity,
                    Dimension::operations, false, "peak rate of bf16 GEMMs"},
      ParameterInfo{"matrix_rate_int8", &Chip::matrix_rate_int8, ParameterKind::quantity,
                    Dimension::operations, false, "peak rate of int8 GEMMs"},
      ParameterInfo{"matrix_rate_fp8", &Chip::matrix_rate_fp8, ParameterKind::quantity,
                    Dimension::operations, false, "peak rate of FP8 GEMMs", true},
      ParameterInfo{"matrix_rate_fp4", &Chip::matrix_rate_fp4, ParameterKind::quantity,
                    Dimension::operations, false, "peak rate of FP4 GEMMs", true},
      ParameterInfo{"matrix_rate_fp32", &Chip::matrix_rate_fp32, ParameterKind::quantity,
                    Dimension::operations, false, "peak rate of FP32 GEMMs", true},
      ParameterInfo{"matrix_efficiency", &Chip::matrix_efficiency, ParameterKind::ratio,
                    Dimension::operations, false, "achievable share of the peak GEMM rate"},
      ParameterInfo{"instruction_overhead", &Chip::instruction_overhead, ParameterKind::quantity,
                    Dimension::time, true, "core time to start one vector instruction on a tile"},
      ParameterInfo{"dma_overhead", &Chip::dma_overhead, ParameterKind::quantity, Dimension::time,
                    true, "core time to start one remote DMA"},
      ParameterInfo{"wait_overhead", &Chip::wait_overhead, ParameterKind::quantity, Dimension::time,
                    true, "core time of one semaphore wait, after the arrival"},
      ParameterInfo{"barrier_time", &Chip::barrier_time, ParameterKind::quantity, Dimension::time,
                    true,
                    "core time of one barrier with the neighbours, before a quantized minishard"},
      ParameterInfo{"step_sync_time", &Chip::step_sync_time, ParameterKind::quantity,
                    Dimension::time, true,
                    "link time of the sync before each step of a quantized ring"},
      ParameterInfo{"dma_queue", &Chip::dma_queue, ParameterKind::count, Dimension::bytes, false,
                    "outstanding transfers to one neighbour before a send blocks the core"},
      ParameterInfo{"host_bandwidth", &Chip::host_bandwidth, ParameterKind::quantity,
                    Dimension::bandwidth, false,
                    "per direction between the memory of one chip and its host", true},
      ParameterInfo{"thread_block_rate", &Chip::thread_block_rate, ParameterKind::quantity,
                    Dimension::bandwidth, false,
                    "rate at which one thread block of a schedule sends, copies or adds", true},
      ParameterInfo{"kernel_startup", &Chip::kernel_startup, ParameterKind::quantity,
                    Dimension::time, true, "time before the first step of a schedule kernel", true},
      optional_time("operation_startup", &Chip::operation_startup,
                    "before the first byte of an operation of a step"),
      optional_time("matrix_startup", &Chip::matrix_startup, "before the first FLOP of a GEMM"),
      optional_share("matrix_hbm_efficiency", &Chip::matrix_hbm_efficiency,
                     "share of the memory bandwidth reached by GEMM operands"),
      optional_share("matrix_efficiency_int8", &Chip::matrix_efficiency_int8,
                     "share of the peak int8 rate"),
      optional_share("matrix_efficiency_fp8", &Chip::matrix_efficiency_fp8,
                     "share of the peak FP8 rate"),
      optional_share("matrix_efficiency_fp4", &Chip::matrix_efficiency_fp4,
                     "share of the peak FP4 rate"),
      optional_share("matrix_efficiency_fp32", &Chip::matrix_efficiency_fp32,
                     "share of the peak FP32 rate"),
      optional_share("convolution_efficiency", &Chip::convolution_efficiency,
                     "share of the peak bf16 rate in convolutions"),
      optional_share("attention_efficiency", &Chip::attention_efficiency,
                     "share of the peak bf16 rate in fused attention"),
      optional_share("attention_backward_efficiency", &Chip::attention_backward_efficiency,
                     "the same, of the backward pass"),
      optional_time("attention_row_time", &Chip::attention_row_time,
                    "start and end of a query row of a head, for every two products"),
      optional_share("amax_efficiency", &Chip::amax_efficiency,
                     "share of the memory rate of casts that find an amax"),
      optional_rate("sort_rate", &Chip::sort_rate, "comparisons of sorts"),
      optional_rate("decode_rate", &Chip::decode_rate, "weights decoded by GEMMs"),
      optional_share("decoded_efficiency", &Chip::decoded_efficiency,
                     "share of the peak bf16 rate in GEMMs that decode weights"),
      optional_share("step_overhead", &Chip::step_overhead,
                     "time of training steps outside of operations, relative to their bf16 GEMMs"),
      ParameterInfo{"program_startup", &Chip::program_startup, ParameterKind::quantity,
                    Dimension::time, true,
                    "core time before a collective that is timed as a program of its own", true},
      ParameterInfo{"ll_startup", &Chip::ll_startup, ParameterKind::quantity, Dimension::time, true,
                    "startup under NCCL's protocol LL", true},
      ParameterInfo{"ll_hop_latency", &Chip::ll_hop_latency, ParameterKind::quantity,
                    Dimension::time, true, "hop latency under LL", true},
      ParameterInfo{"ll_efficiency", &Chip::ll_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "payload share under LL", true},
      ParameterInfo{"ll128_startup", &Chip::ll128_startup, ParameterKind::quantity, Dimension::time,
                    true, "startup under LL128", true},
      ParameterInfo{"ll128_hop_latency", &Chip::ll128_hop_latency, ParameterKind::quantity,
                    Dimension::time, true, "hop latency under LL128", true},
      ParameterInfo{"ll128_efficiency", &Chip::ll128_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "payload share under LL128", true},
      ParameterInfo{"simple_startup", &Chip::simple_startup, ParameterKind::quantity,
                    Dimension::time, true, "startup under Simple", true},
      ParameterInfo{"simple_hop_latency", &Chip::simple_hop_latency, ParameterKind::quantity,
                    Dimension::time, true, "hop latency under Simple", true},
      ParameterInfo{"simple_efficiency", &Chip::simple_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "payload share under Simple", true},
      ParameterInfo{"switch_efficiency", &Chip::switch_efficiency, ParameterKind::ratio,
                    Dimension::bandwidth, false, "payload share of sums in a switch", true},
      ParameterInfo{"switch_startup", &Chip::switch_startup, ParameterKind::quantity,
                    Dimension::time, true, "startup of sums in a switch, with hops", true},
  };
  return table;
}

const ParameterInfo* find_parameter(std::string_view key) {
  const auto table = parameters();
  const auto found = std::ranges::find(table, key, &ParameterInfo::key);
  return found == table.end() ? nullptr : &*found;
}

bool is_absent(const Chip& chip, const ParameterInfo& info) {
  return info.may_be_absent && (chip.*info.member).value == 0.0;
}

std::optional<double> standard_uncertainty(const Parameter& parameter) {
  constexpr double kUniformVariance = 1.0 / 12.0;  // for a width of 1
  if (parameter.standard_error) return parameter.standard_error;
  if (!parameter.range) return std::nullopt;
  return (parameter.range->high - parameter.range->low) * std::sqrt(kUniformVariance);
}

std::string format_value(const ParameterInfo& info, double value) {
  return info.kind == ParameterKind::quantity ? units::format(value, info.dimension)
                                              : fmt::format("{}", value);
}

std::string format_value(const ParameterInfo& info, const Parameter& parameter) {
  return format_value(info, parameter.value);
}

std::string uncertainty_text(const ParameterInfo& info, const Parameter& parameter) {
  std::string text;
  if (parameter.standard_error)
    text = fmt::format("+- {}", format_value(info, *parameter.standard_error));
  if (parameter.range)
    text += fmt::format("{}{} to {}", text.empty() ? "" : ", ",
                        format_value(info, parameter.range->low),
                        format_value(info, parameter.range->high));
  return text;
}

}  // namespace equarx::hardware
