#include "experiments/predict/xla_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"

namespace equarx::predict {
namespace {

struct Device {
  std::string_view chip;
  std::string_view key;
};

/// Keys of chips: compute capability (https://developer.nvidia.com/cuda-gpus) or gfx version
/// (https://llvm.org/docs/AMDGPUUsage.html); at 10.0 with the last word of the device's name.
constexpr std::array kDevices = {Device{"a100", "sm_80"},         Device{"h100", "sm_90"},
                                 Device{"h200", "sm_90"},         Device{"h800", "sm_90"},
                                 Device{"gh200", "sm_90"},        Device{"b200", "sm_100_B200"},
                                 Device{"gb200", "sm_100_GB200"}, Device{"mi300x", "gfx942"}};

struct Type {
  std::string_view name;
  std::string_view primitive;  ///< xla.PrimitiveType
  std::uint64_t bytes;
};

constexpr std::array kTypes = {Type{"fp32", "F32", 4}, Type{"bf16", "BF16", 2},
                               Type{"fp16", "F16", 2}, Type{"fp8-e4m3", "F8E4M3FN", 1},
                               Type{"fp8-e5m2", "F8E5M2", 1}};

/// Opcodes that collective_interpolator.cc rebuilds from a shape.
constexpr std::array<std::string_view, 4> kOpcodes = {"all-reduce", "all-gather", "reduce-scatter",
                                                      "all-to-all"};

/// The requested key, or the chip's.
std::string device_of(const std::string& requested, const std::string& hardware) {
  const bool is_word = std::ranges::all_of(
      requested, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  if (!is_word)
    throw input::InputError(
        "--device",
        fmt::format("'{}' is no key; it has letters, digits and underscores", requested));
  if (!requested.empty()) return requested;
  const auto* const at = std::ranges::find(kDevices, hardware, &Device::chip);
  if (at != kDevices.end()) return std::string(at->key);
  throw input::InputError(
      "--device",
      fmt::format("XLA's table of collectives has no key of '{}'; give one, like sm_90", hardware));
}

void check_opcode(const std::string& collective) {
  if (std::ranges::find(kOpcodes, collective) == kOpcodes.end())
    throw input::InputError(
        "--collectives", fmt::format("XLA's table of collectives has no '{}'; use {}", collective,
                                     fmt::join(kOpcodes, ", ")));
}

/// Elements of the result of an instruction; 0 if the tensor does not divide into shards.
std::uint64_t result_elements(const TableRow& row, const Type& type) {
  const std::uint64_t elements = row.query.bytes / type.bytes;
  if (row.query.collective == "all-reduce") return elements;
  if (elements % row.prediction->ranks != 0) return 0;
  return row.query.collective == "reduce-scatter" ? elements / row.prediction->ranks : elements;
}

void add_entry(const TableRow& row, const Type& type, std::uint64_t elements, std::uint32_t chips,
               std::string& text) {
  const std::uint32_t ranks = row.prediction->ranks;
  fmt::format_to(std::back_inserter(text),
                 R"(    entries {{
      instruction {{
        opcode: "{}"
        shape {{ element_type: {} dimensions: {} layout {{ minor_to_major: 0 }} is_dynamic_dimension: false }}
        {}channel_id: 1
        use_global_device_ids: true
        iota_collective_device_list {{
          num_replica_groups: {} num_devices_per_group: {} iota_reshape_dims: {} iota_transpose_perm: 0
        }}
      }}
      network_throughput_bytes_per_sec: {}
    }}
)",
                 row.query.collective, type.primitive, elements,
                 row.query.collective == "all-reduce" ? "" : "dimensions: 0\n        ",
                 chips / ranks, ranks, chips / ranks * ranks,
                 std::llround(static_cast<double>(row.query.bytes) / row.prediction->time_s));
}

}  // namespace

std::string to_xla_table(const Table& table, const std::string& device) {
  std::string text = fmt::format(
      "# proto-message: xla.gpu.DeviceHloInstructionProfiles\n"
      "entries {{\n  key: \"{}\"\n  value {{\n",
      device_of(device, table.hardware));
  std::set<std::tuple<std::string, std::uint32_t, std::uint64_t>> keys;
  for (const TableRow& row : table.rows) {
    check_opcode(row.query.collective);
    const auto* const type = std::ranges::find(kTypes, row.query.dtype, &Type::name);
    if (type == kTypes.end())
      throw input::InputError("/tensor/dtype",
                              fmt::format("XLA has no type '{}'", row.query.dtype));
    const std::uint64_t elements = result_elements(row, *type);
    if (elements == 0) continue;
    if (!keys.emplace(row.query.collective, row.prediction->ranks, row.query.bytes).second)
      throw input::InputError("--collective",
                              "XLA's table has one row per size; name one collective");
    add_entry(row, *type, elements, table.chips, text);
  }
  if (keys.empty())
    throw input::InputError("--bytes", "no size divides into shards; use multiples of the ranks");
  return text + "  }\n}\n";
}

}  // namespace equarx::predict
