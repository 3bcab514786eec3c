#include "importers/profile/kineto.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/printable.hpp"
#include "importers/profile/events.hpp"
#include "importers/profile/kineto_calls.hpp"

namespace equarx::profile {
namespace {

using input::InputError;
using input::Json;

constexpr double kMicrosecond = 1e-6;
constexpr const char* kOptions =
    "record it with torch.profiler.profile(activities=[ProfilerActivity.CPU, "
    "ProfilerActivity.CUDA], record_shapes=True)";

bool contains_any(std::string_view text, const auto& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// True for kernels of communication libraries and known custom collectives, by their names.
bool is_communication(std::string_view kernel) {
  // NCCL and RCCL; MSCCL; vLLM, SGLang and TensorRT-LLM; PyTorch's symmetric memory; DeepEP.
  constexpr std::array<std::string_view, 10> kParts = {"ncclDevKernel",
                                                       "ncclKernel",
                                                       "mscclKernel",
                                                       "cross_device_reduce",
                                                       "one_shot_all_reduce",
                                                       "two_shot_all",
                                                       "multimem_all",
                                                       "allReduceKernel",
                                                       "nvshmem",
                                                       "deep_ep::"};
  return contains_any(kernel, kParts);
}

/// Operation that launched a kernel.
struct Operation {
  std::int64_t external_id = 0;  ///< 0 if absent
  std::int64_t sequence = -1;    ///< number in its process group; -1 if absent

  auto operator<=>(const Operation&) const = default;
};

/// A kernel of a collective without a description of its own.
struct Undescribed {
  std::uint32_t device = 0;
  Span span;
  Operation operation;
  std::string kernel;
};

class KinetoReader {
 public:
  /// True for texts of kernels and of operations that describe collectives, and maybe of others.
  static bool wants(std::string_view event) {
    return contains_any(
        event, std::array<std::string_view, 3>{"\"kernel\"", "\"Kernel\"", "record_param_comms"});
  }

  void add(const Json& event) {
    if (text_of(event, "ph") != "X") return;
    const std::string category = text_of(event, "cat");
    if (category == "kernel" || category == "Kernel") return add_kernel(event);
    if (text_of(event, "name") == "record_param_comms") add_description(event);
  }

  Profile finish(const Json& info) {
    describe_rest();
    set_run(info);
    if (profile_.executions.empty()) throw_empty();
    for (const Execution& execution : profile_.executions) add_assumptions(execution);
    for (const auto& [kernel, count] : unread_)
      profile_
          .notes[fmt::format("{} kernels without sizes, as in CUDA graphs: only their time is "
                             "used",
                             kernel)] += count;
    return std::move(profile_);
  }

 private:
  void add_assumptions(const Execution& execution) {
    const Call& call = profile_.calls[execution.call];
    if (call.has_assumed_ranks)
      ++profile_.notes["truncated lists of ranks are completed by their stride"];
    if (call.is_uneven) ++profile_.notes["uneven all-to-alls are simulated as even"];
  }

  static std::int64_t whole(const std::optional<double>& number, std::int64_t otherwise) {
    constexpr double kMost = 9007199254740992.0;  // 2^53
    return number && *number >= 0.0 && *number < kMost ? static_cast<std::int64_t>(*number)
                                                       : otherwise;
  }

  static Operation operation_of(const Json& args) {
    auto id = number_of(args, "External id");
    if (!id) id = number_of(args, "external id");
    return {whole(id, 0), whole(number_of(args, "Seq"), -1)};
  }

  std::uint32_t device_of(const Json& event) {
    const Json& args = object_of(event, "args");
    const auto number = number_of(args, "device");
    const double key = number ? *number : number_of(event, "pid").value_or(0.0);
    const auto [found, is_new] =
        device_ids_.emplace(key, static_cast<std::uint32_t>(profile_.devices.size()));
    if (is_new) profile_.devices.push_back({.name = fmt::format("device {:.0f}", key)});
    return found->second;
  }

  void add_kernel(const Json& event) {
    const Json& args = object_of(event, "args");
    const std::string name = text_of(event, "name");
    const auto start = number_of(event, "ts");
    const auto duration = number_of(event, "dur");
    const bool is_collective = describes_collective(args) || is_communication(name);
    if (!start || !duration || *duration < 0.0) {
      ++profile_.notes["kernels without a valid start and duration are not used"];
      return;
    }
    if (*duration == 0.0) return;
    const Span span{*start * kMicrosecond, *duration * kMicrosecond};
    const std::uint32_t device = device_of(event);
    if (!is_collective) return profile_.devices[device].other.push_back(span);
    profile_.devices[device].communication.push_back(span);
    if (describes_collective(args))
      add_execution(id_of(kineto_call(args, name)), device, span, operation_of(args));
    else
      undescribed_.push_back({device, span, operation_of(args), name});
  }

  void add_description(const Json& event) {
    const Json& args = object_of(event, "args");
    const std::int64_t id = operation_of(args).external_id;
    if (id <= 0 || !describes_collective(args)) return;
    const Call call = kineto_call(args, {});
    const auto found = std::ranges::find(described_, call);
    description_of_[id] = static_cast<std::uint32_t>(found - described_.begin());
    if (found == described_.end()) described_.push_back(call);
  }

  /// Executes kernels that only their operation describes.
  void describe_rest() {
    for (const Undescribed& kernel : undescribed_) {
      const auto found = description_of_.find(kernel.operation.external_id);
      if (found == description_of_.end()) {
        ++unread_[os::printable(kernel.kernel.substr(0, kernel.kernel.find_first_of("(<")))];
        continue;
      }
      add_execution(id_of(described_[found->second]), kernel.device, kernel.span, kernel.operation);
    }
  }

  std::uint32_t id_of(const Call& call) { return call_id(profile_, call); }

  /// Several kernels of one operation are one execution. Those of a CUDA graph have the external id
  /// of its launch, but their own "Seq".
  void add_execution(std::uint32_t call, std::uint32_t device, const Span& span,
                     const Operation& operation) {
    if (operation.external_id > 0) {
      const auto [found, is_new] = execution_of_.emplace(
          std::pair{device, operation}, static_cast<std::uint32_t>(profile_.executions.size()));
      if (!is_new && profile_.executions[found->second].call == call)
        return extend(profile_.executions[found->second].span, span);
    }
    profile_.executions.push_back({call, device, span});
  }

  static void extend(Span& span, const Span& by) {
    const double end_s = std::max(span.end_s(), by.end_s());
    span.start_s = std::min(span.start_s, by.start_s);
    span.duration_s = end_s - span.start_s;
  }

  /// Sets chips, ranks and chip of the run.
  void set_run(const Json& info) {
    const Json& distributed = object_of(info, "distributedInfo");
    set_groups(distributed);
    if (const auto rank = number_of(distributed, "rank"))
      for (Device& device : profile_.devices)
        device.name = profile_.devices.size() == 1
                          ? fmt::format("rank {:.0f}", *rank)
                          : fmt::format("rank {:.0f}, {}", *rank, device.name);
    const auto properties = info.find("deviceProperties");
    if (properties != info.end() && properties->is_array() && !properties->empty() &&
        properties->front().is_object())
      profile_.chip = os::printable(text_of(properties->front(), "name"));
  }

  void set_groups(const Json& distributed) {
    constexpr double kMostRanks = 1 << 20;
    const double given = number_of(distributed, "world_size").value_or(0.0);
    if (given < 0.0 || given > kMostRanks)
      throw InputError("", fmt::format("has a world_size of {:.0f} in \"distributedInfo\"", given));
    const ProcessGroups groups = process_groups(distributed);
    std::uint32_t ranks = static_cast<std::uint32_t>(given);
    for (const Call& call : profile_.calls)
      if (!call.groups.empty()) ranks = std::max(ranks, call.groups.front().back() + 1);
    for (Call& call : profile_.calls) {
      set_unlisted_ranks(groups, ranks, call);
      if (call.groups.empty()) continue;
      const std::uint32_t last = call.groups.front().back();
      if (given > 0.0 && last >= given)
        throw InputError("", fmt::format("process group '{}' has rank {}, but \"distributedInfo\" "
                                         "has a world_size of {:.0f}",
                                         call.sequence, last, given));
      ranks = std::max(ranks, last + 1);
    }
    profile_.chips = ranks;
  }

  [[noreturn]] void throw_empty() const {
    std::size_t kernels = 0;
    for (const Device& device : profile_.devices) kernels += device.other.size();
    if (unread_.empty())
      throw InputError("", fmt::format("has no collective among its {} kernels; is it a profile of "
                                       "several ranks on GPUs? If so, {}",
                                       kernels, kOptions));
    throw InputError("", fmt::format("none of its {} collective kernels has a size, such as '{}'; "
                                     "{}",
                                     undescribed_.size(), unread_.begin()->first, kOptions));
  }

  Profile profile_;
  std::map<double, std::uint32_t> device_ids_;  // by number of the profile
  std::vector<Undescribed> undescribed_;
  std::vector<Call> described_;
  std::map<std::int64_t, std::uint32_t> description_of_;                       // by external id
  std::map<std::pair<std::uint32_t, Operation>, std::uint32_t> execution_of_;  // by device
  Notes unread_;  // kernels without sizes, by name
};

}  // namespace

Profile read_kineto(std::string_view text) {
  KinetoReader reader;
  const input::JsonValue info =
      read_events(text, KinetoReader::wants, [&](const Json& event) { reader.add(event); });
  return reader.finish(*info);
}

}  // namespace equarx::profile
