// Profiles written by hand in the form of Kineto and XProf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::profile::testing {

/// A trace of these events; `info`: further members, like "\"distributedInfo\": {},".
inline std::string trace_of(const std::vector<std::string>& events, std::string_view info = "") {
  return fmt::format("{{{}\"traceEvents\": [{}]}}", info, fmt::join(events, ","));
}

/// "distributedInfo" of a rank.
inline std::string run_of(int rank, int ranks) {
  return fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": {}}},)", rank, ranks);
}

/// Kernel of Kineto, in microseconds; `args`: further arguments, like "\"External id\": 3".
inline std::string kernel(std::string_view name, double start, double duration,
                          std::string_view args = R"("device": 0)") {
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, )"
      R"("args": {{{}}}}})",
      name, start, duration, args);
}

/// Arguments of a collective among `ranks`, "[0, 1]"; `size`: their number.
inline std::string args_of(std::string_view collective, long in, long out, std::string_view type,
                           int size, std::string_view ranks, std::string_view group = "0") {
  return fmt::format(
      R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "{}", )"
      R"("Group size": {}, "Process Group Name": "{}", "Process Group Ranks": "{}")",
      collective, in, out, type, size, group, ranks);
}

/// An AllReduce of 1024 bf16 elements on ranks 0 and 1, as kernel.
inline std::string sum_of_two(double start, double duration) {
  return kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)", start, duration,
                args_of("allreduce", 1024, 1024, "BFloat16", 2, "[0, 1]"));
}

/// Metadata of XProf: two TPUs, with lines 3 and 4.
inline std::vector<std::string> devices_of_xprof() {
  std::vector<std::string> events;
  for (int device = 0; device < 2; ++device) {
    const int pid = 3 + device;
    events.push_back(fmt::format(R"({{"ph": "M", "pid": {}, "name": "process_name", )"
                                 R"("args": {{"name": "/device:TPU:{}"}}}})",
                                 pid, device));
    for (const auto& [tid, name] : {std::pair{3, "XLA Ops"}, std::pair{4, "Async XLA Ops"}})
      events.push_back(fmt::format(R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_name", )"
                                   R"("args": {{"name": "{}"}}}})",
                                   pid, tid, name));
  }
  return events;
}

/// Event of XProf on line `tid` of a TPU, in microseconds.
inline std::string op(int device, int tid, double start, double duration, std::string_view text) {
  const std::string_view name = text.substr(1, text.find(' ') - 1);
  return fmt::format(R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "name": "{}", )"
                     R"("args": {{"long_name": "{}"}}}})",
                     3 + device, tid, start, duration, name, text);
}

}  // namespace equarx::profile::testing
