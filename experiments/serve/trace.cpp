#include "experiments/serve/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/trace/events.hpp"

namespace equarx::serve {
namespace {

using trace::Slice;
using trace::to_picoseconds;
using trace::Track;

std::string replica_name(const ServeResult& result, std::size_t replica) {
  const std::uint32_t decoding = result.config.pool.replicas();
  return replica < decoding ? fmt::format("replica {}", replica)
                            : fmt::format("prefill replica {}", replica - decoding);
}

std::string step_name(const serving::StepRecord& step) {
  if (step.prompt_tokens == 0) return fmt::format("{} decoded", step.decode_tokens);
  if (step.decode_tokens == 0) return fmt::format("{} of prompts", step.prompt_tokens);
  return fmt::format("{} decoded, {} of prompts", step.decode_tokens, step.prompt_tokens);
}

void write_steps(const ServeResult& result, trace::TraceEventWriter& writer) {
  std::uint32_t named = 0;
  for (const serving::StepRecord& step : result.outcome.steps) {
    const auto process = static_cast<std::uint32_t>(step.replica + 1);
    for (; named < process; ++named) {
      writer.name_process(named + 1, replica_name(result, named));
      writer.name_track({named + 1, 0}, "steps");
    }
    const trace::Picoseconds start = to_picoseconds(step.start_s);
    writer.add_slice({.track = {process, 0},
                      .name = step_name(step),
                      .category = "step",
                      .start = start,
                      .end = to_picoseconds(step.end_s)},
                     fmt::format(R"({{"prompt_tokens":{},"decode_tokens":{},"waiting":{}}})",
                                 step.prompt_tokens, step.decode_tokens, step.waiting));
    writer.add_count(process, "waiting", start, static_cast<int>(step.waiting));
    writer.add_count(process, "KV cache, MiB", start,
                     static_cast<int>(step.used_bytes / (1 << 20)));
  }
}

/// Writes requests on as few tracks as keep those in flight apart.
void write_requests(const ServeResult& result, trace::TraceEventWriter& writer) {
  const auto process = result.config.pool.replicas() +
                       (result.config.prefill ? result.config.prefill->pool.replicas() : 0) + 1;
  writer.name_process(process, "requests");
  using Free = std::pair<double, std::uint32_t>;  // time, track
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  std::uint32_t tracks = 0;
  for (std::size_t i = 0; i < result.outcome.records.size(); ++i) {
    const serving::Record& record = result.outcome.records[i];
    std::uint32_t track = tracks;
    if (!free.empty() && free.top().first <= record.request.arrival_s) {
      track = free.top().second;
      free.pop();
    } else {
      ++tracks;
    }
    free.emplace(record.last_token_s, track);
    const trace::Picoseconds arrival = to_picoseconds(record.request.arrival_s);
    const trace::Picoseconds first = to_picoseconds(record.first_token_s);
    const std::string arguments = fmt::format(R"({{"request":{},"prompt":{},"output":{}}})", i,
                                              record.request.prompt, record.request.output);
    writer.add_slice({{process, track}, "to first token", "request", arrival, first}, arguments);
    if (record.request.output > 1)
      writer.add_slice(
          {{process, track}, "decoding", "request", first, to_picoseconds(record.last_token_s)},
          arguments);
  }
}

}  // namespace

void write_trace(std::ostream& out, const ServeResult& result) {
  trace::TraceEventWriter writer(out);
  write_steps(result, writer);
  write_requests(result, writer);
  writer.finish(input::Json::object());
}

}  // namespace equarx::serve
