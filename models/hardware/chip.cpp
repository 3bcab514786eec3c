#include "models/hardware/chip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace equarx::hardware {

namespace {

ParameterInfo optional(std::string_view key, Parameter Chip::*member, units::Dimension dimension,
                       std::string_view description) {
  const bool is_time = dimension == units::Dimension::time;
  return {key, member, ParameterKind::quantity, dimension, is_time, description, true};
}

ParameterInfo cost(std::string_view key, Parameter Chip::*member, units::Dimension dimension,
                   std::string_view description) {
  return {key, member, ParameterKind::quantity, dimension, false, description, true, false};
}

ParameterInfo optional_count(std::string_view key, Parameter Chip::*member,
                             std::string_view description) {
  return {key, member, ParameterKind::count, units::Dimension::bytes, false, description, true};
}

ParameterInfo optional_share(std::string_view key, Parameter Chip::*member,
                             std::string_view description) {
  return {key,         member, ParameterKind::ratio, units::Dimension::operations, false,
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
      optional("matrix_rate_fp8", &Chip::matrix_rate_fp8, Dimension::operations,
               "peak rate of FP8 GEMMs"),
      optional("matrix_rate_fp4", &Chip::matrix_rate_fp4, Dimension::operations,
               "peak rate of FP4 GEMMs"),
      optional("matrix_rate_fp32", &Chip::matrix_rate_fp32, Dimension::operations,
               "peak rate of FP32 GEMMs"),
      optional("matrix_rate_int1", &Chip::matrix_rate_int1, Dimension::operations,
               "peak rate of binary GEMMs"),
      optional("matrix_rate_table", &Chip::matrix_rate_table, Dimension::operations,
               "peak rate of GEMMs by look-up of products: two operations each"),
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
      optional("host_bandwidth", &Chip::host_bandwidth, Dimension::bandwidth,
               "per direction between the memory of one chip and its host"),
      optional("thread_block_rate", &Chip::thread_block_rate, Dimension::bandwidth,
               "rate at which one thread block of a schedule sends, copies or adds"),
      optional("kernel_startup", &Chip::kernel_startup, Dimension::time,
               "time before the first step of a schedule kernel"),
      optional_count("compute_units", &Chip::compute_units,
                     "units of a GPU that run workgroups of a collective's kernel"),
      optional_count("workgroups_per_unit", &Chip::workgroups_per_unit,
                     "workgroups that a compute unit runs at once"),
      optional("workgroup_tile", &Chip::workgroup_tile, Dimension::bytes,
               "part of the tensor that a workgroup processes at a time"),
      optional("tile_codec_time", &Chip::tile_codec_time, Dimension::time,
               "least time in which a workgroup encodes or decodes a tile"),
      optional("peer_read_time", &Chip::peer_read_time, Dimension::time,
               "from a peer's flag to its data in the registers of a workgroup"),
      optional("codec_rate", &Chip::codec_rate, Dimension::bandwidth,
               "encoded bytes that all compute units write and read"),
      optional("copy_rate", &Chip::copy_rate, Dimension::bandwidth,
               "plain bytes that all compute units write and read"),
      optional("operation_startup", &Chip::operation_startup, Dimension::time,
               "before the first byte of an operation of a step"),
      optional("matrix_startup", &Chip::matrix_startup, Dimension::time,
               "before the first FLOP of a GEMM"),
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
      optional_share("matrix_efficiency_int1", &Chip::matrix_efficiency_int1,
                     "share of the peak binary rate"),
      optional_share("matrix_efficiency_table", &Chip::matrix_efficiency_table,
                     "share of the peak rate of look-ups"),
      optional_share("convolution_efficiency", &Chip::convolution_efficiency,
                     "share of the peak bf16 rate in convolutions"),
      optional_share("attention_efficiency", &Chip::attention_efficiency,
                     "share of the peak bf16 rate in fused attention"),
      optional_share("attention_backward_efficiency", &Chip::attention_backward_efficiency,
                     "the same, of the backward pass"),
      optional("attention_row_time", &Chip::attention_row_time, Dimension::time,
               "start and end of a query row of a head, for every two products"),
      optional_share("amax_efficiency", &Chip::amax_efficiency,
                     "share of the memory rate of casts that find an amax"),
      optional("sort_rate", &Chip::sort_rate, Dimension::operations, "comparisons of sorts"),
      optional("decode_rate", &Chip::decode_rate, Dimension::operations,
               "weights decoded by GEMMs"),
      optional_share("decoded_efficiency", &Chip::decoded_efficiency,
                     "share of the peak bf16 rate in GEMMs that decode weights"),
      optional_share("step_overhead", &Chip::step_overhead,
                     "time of training steps outside of operations, relative to their bf16 GEMMs"),
      optional("program_startup", &Chip::program_startup, Dimension::time,
               "core time before a collective that is timed as a program of its own"),
      optional("ll_startup", &Chip::ll_startup, Dimension::time,
               "startup under NCCL's protocol LL"),
      optional("ll_hop_latency", &Chip::ll_hop_latency, Dimension::time, "hop latency under LL"),
      optional_share("ll_efficiency", &Chip::ll_efficiency, "payload share under LL"),
      optional("ll128_startup", &Chip::ll128_startup, Dimension::time, "startup under LL128"),
      optional("ll128_hop_latency", &Chip::ll128_hop_latency, Dimension::time,
               "hop latency under LL128"),
      optional_share("ll128_efficiency", &Chip::ll128_efficiency, "payload share under LL128"),
      optional("simple_startup", &Chip::simple_startup, Dimension::time, "startup under Simple"),
      optional("simple_hop_latency", &Chip::simple_hop_latency, Dimension::time,
               "hop latency under Simple"),
      optional_share("simple_efficiency", &Chip::simple_efficiency, "payload share under Simple"),
      optional("ll_network_latency", &Chip::ll_network_latency, Dimension::time,
               "latency across a network under LL, beyond the network's own"),
      optional("ll128_network_latency", &Chip::ll128_network_latency, Dimension::time,
               "the same under LL128"),
      optional("simple_network_latency", &Chip::simple_network_latency, Dimension::time,
               "the same under Simple"),
      optional("ll_network_bandwidth", &Chip::ll_network_bandwidth, Dimension::bandwidth,
               "most payload that leaves a node under LL"),
      optional("ll_tree_hop_latency", &Chip::ll_tree_hop_latency, Dimension::time,
               "hop latency of trees under LL"),
      optional("ll128_tree_hop_latency", &Chip::ll128_tree_hop_latency, Dimension::time,
               "the same under LL128"),
      optional("simple_tree_hop_latency", &Chip::simple_tree_hop_latency, Dimension::time,
               "the same under Simple"),
      optional("ll_tree_network_latency", &Chip::ll_tree_network_latency, Dimension::time,
               "latency of trees across a network under LL"),
      optional("ll128_tree_network_latency", &Chip::ll128_tree_network_latency, Dimension::time,
               "the same under LL128"),
      optional("simple_tree_network_latency", &Chip::simple_tree_network_latency, Dimension::time,
               "the same under Simple"),
      optional_share("tree_efficiency", &Chip::tree_efficiency, "rate of trees relative to rings"),
      optional_share("switch_efficiency", &Chip::switch_efficiency,
                     "payload share of sums in a switch"),
      optional("switch_startup", &Chip::switch_startup, Dimension::time,
               "startup of sums in a switch, with hops"),
      cost("price", &Chip::price, Dimension::price, "per chip, with its share of the host"),
      cost("power_idle", &Chip::power_idle, Dimension::power,
           "of a waiting chip with its memory, without the host"),
      cost("power_busy", &Chip::power_busy, Dimension::power,
           "the same while the matrix unit or the memory is busy, and at most"),
      cost("energy_bf16", &Chip::energy_bf16, Dimension::operation_energy,
           "of bf16 GEMMs, beyond idle; a multiplication and an addition are two operations"),
      cost("energy_fp32", &Chip::energy_fp32, Dimension::operation_energy, "of FP32 GEMMs"),
      cost("energy_int8", &Chip::energy_int8, Dimension::operation_energy, "of int8 GEMMs"),
      cost("energy_fp8", &Chip::energy_fp8, Dimension::operation_energy, "of FP8 GEMMs"),
      cost("energy_fp4", &Chip::energy_fp4, Dimension::operation_energy, "of FP4 GEMMs"),
      cost("energy_int1", &Chip::energy_int1, Dimension::operation_energy, "of binary GEMMs"),
      cost("energy_table", &Chip::energy_table, Dimension::operation_energy,
           "of GEMMs by look-up, two operations each"),
      cost("energy_vector", &Chip::energy_vector, Dimension::operation_energy,
           "of vector ALU operations"),
      cost("energy_hbm", &Chip::energy_hbm, Dimension::byte_energy,
           "read from the memory of a chip or written to it"),
      cost("energy_vmem", &Chip::energy_vmem, Dimension::byte_energy,
           "read from the on-chip vector memory or written to it"),
      cost("energy_link", &Chip::energy_link, Dimension::byte_energy, "over one link direction"),
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
