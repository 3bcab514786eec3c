#include "importers/profile/kineto_calls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/os/printable.hpp"
#include "importers/common/imported_collective.hpp"
#include "importers/profile/events.hpp"
#include "importers/profile/groups.hpp"

namespace equarx::profile {
namespace {

using collectives::Collective;
using input::Json;
using numerics::ElementFormat;

/// Names that PyTorch's NCCL backend gives a kind of collective.
struct KindRow {
  std::string_view name;
  std::string_view kind;
  Collective collective;
};

// torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, RECORD_PARAM_COMMS_DATA, without prefixes "_",
// underscores, and suffixes.
constexpr std::array<KindRow, 6> kKindRows = {{
    {"allreduce", "all-reduce", Collective::all_reduce},
    {"allgather", "all-gather", Collective::all_gather},
    {"reducescatter", "reduce-scatter", Collective::reduce_scatter},
    {"alltoall", "all-to-all", Collective::all_to_all},
    {"alltoallv", "all-to-all", Collective::all_to_all},
    {"broadcast", "broadcast", Collective::broadcast},
}};

/// An element type of PyTorch.
struct TypeRow {
  std::string_view name;
  double bytes;
  ElementFormat format;  ///< of as many bytes, or of a part of them
  bool is_exact;         ///< the same type
};

// Names and sizes from c10/core/ScalarType.h.
constexpr std::array<TypeRow, 25> kTypeRows = {{
    {"Float", 4.0, ElementFormat::fp32, true},
    {"BFloat16", 2.0, ElementFormat::bf16, true},
    {"Half", 2.0, ElementFormat::fp16, true},
    {"Float8_e4m3fn", 1.0, ElementFormat::fp8_e4m3, true},
    {"Float8_e5m2", 1.0, ElementFormat::fp8_e5m2, true},
    {"Float8_e4m3fnuz", 1.0, ElementFormat::fp8_e4m3, false},
    {"Float8_e5m2fnuz", 1.0, ElementFormat::fp8_e5m2, false},
    {"Float8_e8m0fnu", 1.0, ElementFormat::fp8_e4m3, false},
    {"Byte", 1.0, ElementFormat::fp8_e4m3, false},
    {"Char", 1.0, ElementFormat::fp8_e4m3, false},
    {"Bool", 1.0, ElementFormat::fp8_e4m3, false},
    {"QInt8", 1.0, ElementFormat::fp8_e4m3, false},
    {"QUInt8", 1.0, ElementFormat::fp8_e4m3, false},
    {"Short", 2.0, ElementFormat::bf16, false},
    {"UInt16", 2.0, ElementFormat::bf16, false},
    {"Int", 4.0, ElementFormat::fp32, false},
    {"UInt32", 4.0, ElementFormat::fp32, false},
    {"QInt32", 4.0, ElementFormat::fp32, false},
    {"ComplexHalf", 4.0, ElementFormat::fp32, false},
    {"Long", 8.0, ElementFormat::fp32, false},
    {"UInt64", 8.0, ElementFormat::fp32, false},
    {"Double", 8.0, ElementFormat::fp32, false},
    {"ComplexFloat", 8.0, ElementFormat::fp32, false},
    {"ComplexDouble", 16.0, ElementFormat::fp32, false},
    {"Bits8", 1.0, ElementFormat::fp8_e4m3, false},
}};

/// "_allgather_base", "all_gather_into_tensor_coalesced" and others become "allgather".
std::string plain_name(std::string name) {
  std::erase(name, '_');
  for (const std::string_view ending :
       {"coalesced", "intotensor", "tensor", "base", "single", "oop"})
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

const KindRow* kind_row(const std::string& name) {
  const auto* const row = std::ranges::find(kKindRows, plain_name(name), &KindRow::name);
  return row == kKindRows.end() ? nullptr : row;
}

const TypeRow* type_row(std::string_view name) {
  const auto* const row = std::ranges::find(kTypeRows, name, &TypeRow::name);
  return row == kTypeRows.end() ? nullptr : row;
}

/// Numbers of elements, negative if unknown.
double elements_of(const Json& args, Collective collective) {
  const bool is_result = collective == Collective::all_gather;
  return number_of(args, is_result ? "Out msg nelems" : "In msg nelems").value_or(-1.0);
}

/// True for kernels of a maximum, minimum or product, as in "ncclDevKernel_AllReduce_Max_f32".
bool sums_nothing(std::string_view kernel) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"_Max", "_Min", "_Prod", "_MinMax"},
      [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
}

/// Sets the ranks of the recorded process group if they are listed; returns why they are invalid, or
/// an empty string.
std::string set_listed_ranks(const Json& args, Call& call) {
  constexpr double kMostRanks = 1 << 20;
  constexpr std::size_t kShown = 40;
  call.chips = static_cast<std::uint32_t>(
      std::clamp(number_of(args, "Group size").value_or(0.0), 0.0, kMostRanks));
  const auto listed = args.find("Process Group Ranks");
  const std::string text = listed != args.end() && listed->is_array()
                               ? listed->dump()
                               : text_of(args, "Process Group Ranks");
  const std::optional<RankList> list = read_ranks(text);
  if (!list)
    return text.empty()
               ? ""
               : fmt::format("unreadable ranks '{}'", os::printable(text).substr(0, kShown));
  std::optional<std::vector<std::uint32_t>> ranks = completed(*list, call.chips);
  if (!ranks || ranks->empty()) return {};
  std::ranges::sort(*ranks);
  if (call.chips == 0) call.chips = static_cast<std::uint32_t>(ranks->size());
  if (std::ranges::adjacent_find(*ranks) != ranks->end() || ranks->size() != call.chips)
    return fmt::format("its process group has {} ranks, but lists {}", call.chips, ranks->size());
  call.groups = {*ranks};
  call.has_assumed_ranks = list->truncated;
  return call.chips < 2 ? "groups of one chip" : "";
}

/// True for an all-to-all of different sizes per rank, or of sizes that are truncated. Equal sizes
/// are written as an empty list.
bool is_uneven(const Json& args) {
  for (const char* const key : {"In split size", "Out split size"}) {
    const std::string text = text_of(args, key);
    const auto sizes = read_ranks(text);
    if (text.empty() || (sizes && sizes->ranks.empty() && !sizes->truncated)) continue;
    if (!sizes || sizes->truncated ||
        std::ranges::adjacent_find(sizes->ranks, std::not_equal_to<>()) != sizes->ranks.end())
      return true;
  }
  return false;
}

/// Sets kind, type and size; returns why they are unknown, or an empty string.
std::string set_data(const Json& args, std::string_view kernel, Call& call) {
  const KindRow* kind = kind_row(call.name);
  if (call.name == "barrier") return "only waits";
  if (kind == nullptr) return "unsupported kind";
  call.kind = kind->kind;
  const TypeRow* type = type_row(call.type);
  if (type == nullptr) return fmt::format("unknown element type '{}'", call.type);
  const double elements = elements_of(args, kind->collective);
  if (!(elements >= 0.0)) return "its size is not recorded";
  call.bytes = elements * type->bytes;
  call.format = type->format;
  if (call.bytes <= 0.0) return "moves no data";
  call.collective = kind->collective;
  call.is_uneven = kind->collective == Collective::all_to_all && is_uneven(args);
  call.can_quantize = type->is_exact && steps::is_wide(type->format) && !sums_nothing(kernel);
  return {};
}

}  // namespace

ProcessGroups process_groups(const Json& distributed_info) {
  ProcessGroups groups;
  const auto listed = distributed_info.find("pg_config");
  if (listed == distributed_info.end() || !listed->is_array()) return groups;
  for (const Json& group : *listed) {
    if (!group.is_object() || !group.contains("ranks")) continue;
    const Json& ranks = group["ranks"];
    const auto list = read_ranks(ranks.is_string() ? ranks.get<std::string>() : ranks.dump());
    if (list && !list->truncated && !list->ranks.empty())
      groups[os::printable(text_of(group, "pg_name"))] = list->ranks;
  }
  return groups;
}

bool describes_collective(const Json& args) { return !text_of(args, "Collective name").empty(); }

Call kineto_call(const Json& args, std::string_view kernel) {
  Call call{.name = os::printable(text_of(args, "Collective name")),
            .sequence = os::printable(text_of(args, "Process Group Name")),
            .kind = {},
            .type = os::printable(text_of(args, "dtype"))};
  call.kind = call.name;
  const std::string of_ranks = set_listed_ranks(args, call);
  call.obstacle = set_data(args, kernel, call);
  if (call.obstacle.empty()) call.obstacle = of_ranks;
  return call;
}

void set_unlisted_ranks(const ProcessGroups& groups, std::uint32_t chips, Call& call) {
  const auto known = groups.find(call.sequence);
  const bool is_known = known != groups.end() && known->second.size() == call.chips;
  if (call.has_assumed_ranks && is_known) {
    call.groups.clear();
    call.has_assumed_ranks = false;
  }
  if (!call.groups.empty() || !call.obstacle.empty()) return;
  std::vector<std::uint32_t> ranks;
  if (known != groups.end()) {
    ranks = known->second;
  } else if (call.chips == chips) {
    ranks.resize(chips);
    std::iota(ranks.begin(), ranks.end(), std::uint32_t{0});
  }
  std::ranges::sort(ranks);
  if (call.chips == 0) call.chips = static_cast<std::uint32_t>(ranks.size());
  if (ranks.empty() || ranks.size() != call.chips)
    call.obstacle = "the ranks of its process group are not recorded";
  else if (ranks.size() < 2)
    call.obstacle = "groups of one chip";
  else
    call.groups = {ranks};
}

}  // namespace equarx::profile
