// Checks traces against the rules of the Trace Event Format, and against the results of the same run.
#include "experiments/trace/file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::trace::file_test {
namespace {

using testing::changed;
using testing::good_config;
using TrackId = std::pair<int, int>;

constexpr double kMicrosecond = 1e-6;
/// Tolerance of times in microseconds, written with picoseconds and read as doubles.
constexpr double kRounding = 1e-5;

struct Traced {
  run::ExperimentResult result;
  input::Json json;
};

Traced trace_of(const input::Json& config, const std::string& label = "") {
  std::ostringstream out;
  const plan::Plan plan = testing::plan_of(config);
  TraceFile file(out, plan.config, label);
  run::ExperimentResult result =
      run::run_experiment(plan, [](const std::string&) {}, {.threads = 0, .observer = &file});
  file.finish();
  return {std::move(result), input::parse_json(out.str())};
}

TrackId track_of(const input::Json& event) {
  return {event.at("pid").get<int>(), event.at("tid").get<int>()};
}

double start_of(const input::Json& event) { return event.at("ts").get<double>(); }
double end_of(const input::Json& event) { return start_of(event) + event.at("dur").get<double>(); }

/// Events of a file, sorted by kind.
struct Events {
  std::map<int, std::string> processes;
  std::map<TrackId, std::string> tracks;
  std::map<TrackId, std::vector<input::Json>> slices;
  std::map<std::uint64_t, std::pair<input::Json, input::Json>> flows;  ///< start and end

  std::map<std::pair<int, std::string>, int> counts;  ///< last value of each counter

  explicit Events(const input::Json& trace) {
    for (const input::Json& event : trace.at("traceEvents")) {
      const std::string phase = event.at("ph");
      if (phase == "M")
        add_name(event);
      else if (phase == "X")
        slices[track_of(event)].push_back(event);
      else if (phase == "C")
        add_count(event);
      else
        add_flow(event, phase);
    }
    for (auto& [track, list] : slices)
      std::ranges::stable_sort(list, {}, [](const input::Json& slice) { return start_of(slice); });
  }

  void add_name(const input::Json& event) {
    const std::string what = event.at("name");
    if (what == "process_name")
      processes[event.at("pid").get<int>()] = event.at("args").at("name").get<std::string>();
    else if (what == "thread_name")
      tracks[track_of(event)] = event.at("args").at("name").get<std::string>();
    else if (!what.ends_with("_sort_index"))
      FAIL(event);
  }

  void add_count(const input::Json& event) {
    const int count = event.at("args").at("transfers").get<int>();
    if (count < 0) FAIL(event);
    counts[{event.at("pid").get<int>(), event.at("name").get<std::string>()}] = count;
  }

  void add_flow(const input::Json& event, const std::string& phase) {
    auto& [start, end] = flows[event.at("id").get<std::uint64_t>()];
    input::Json& half = phase == "s" ? start : end;
    if ((phase != "s" && phase != "f") || !half.is_null()) FAIL(event);  // each once only
    half = event;
  }

  /// Total time of the slices of a category in seconds, by track.
  std::map<TrackId, double> busy_s(const std::string& category) const {
    std::map<TrackId, double> sums;
    for (const auto& [track, list] : slices)
      for (const input::Json& slice : list)
        if (slice.at("cat") == category)
          sums[track] += slice.at("dur").get<double>() * kMicrosecond;
    return sums;
  }
};

/// Checks that `slices` are sorted and do not overlap.
bool touches_slice(const std::vector<input::Json>& slices, double time) {
  auto after = std::ranges::upper_bound(slices, time + kRounding, {}, start_of);
  return after != slices.begin() && time <= end_of(*--after) + kRounding;
}

bool is_good_slice(const input::Json& slice) {
  return start_of(slice) >= 0.0 && slice.at("dur").get<double>() >= 0.0 &&
         !slice.at("name").get<std::string>().empty() && slice.at("args").is_object();
}

void check_slices(const Events& events) {
  for (const auto& [track, list] : events.slices) {
    CAPTURE(track.first, track.second);
    CHECK(events.processes.contains(track.first));
    CHECK(events.tracks.contains(track));
    CHECK(std::ranges::all_of(list, is_good_slice));
    for (std::size_t i = 1; i < list.size(); ++i)
      if (start_of(list[i]) < end_of(list[i - 1]) - kRounding) FAIL(list[i - 1] << " " << list[i]);
  }
}

void check_counts(const Events& events) {
  for (const auto& [what, count] : events.counts) {
    CHECK(events.processes.contains(what.first));
    CHECK(count == 0);  // at the end
  }
}

bool is_good_flow(const Events& events, const input::Json& start, const input::Json& end) {
  return !start.is_null() && !end.is_null() && start.at("name") == end.at("name") &&
         start.at("cat") == end.at("cat") && end.at("bp") == "e" &&
         start_of(start) <= start_of(end) &&
         touches_slice(events.slices.at(track_of(start)), start_of(start)) &&
         touches_slice(events.slices.at(track_of(end)), start_of(end));
}

void check_flows(const Events& events) {
  CHECK_FALSE(events.flows.empty());
  for (const auto& [id, flow] : events.flows)
    if (!is_good_flow(events, flow.first, flow.second)) FAIL(flow.first << " " << flow.second);
}

/// Checks the rules of the format, and the file's data about its origin.
Events check_format(const input::Json& trace) {
  CHECK(trace.at("displayTimeUnit") == "ns");
  Events events(trace);
  check_slices(events);
  check_flows(events);
  check_counts(events);
  CHECK(trace.at("otherData").at("version").is_string());
  CHECK(trace.at("otherData").at("config_hash").get<std::string>().size() == 32);
  return events;
}

/// Checks that the slices of a run agree with its result.
void check_run(const Events& events, const input::Json& group, const run::RunResult& run) {
  CAPTURE(run.label);
  CHECK(group.at("label") == run.label);
  std::set<int> chips;
  for (const input::Json& chip : group.at("chips")) chips.insert(chip.at("pid").get<int>());
  const int links = group.at("links_pid").get<int>();
  double busiest_s = 0.0;
  for (const auto& [track, busy_s] : events.busy_s("core"))
    if (chips.contains(track.first)) busiest_s = std::max(busiest_s, busy_s);
  CHECK(busiest_s == Approx(run.core_busy_s).epsilon(1e-5));
  double last_us = 0.0;
  std::uint64_t transfers = 0;
  for (const auto& [track, list] : events.slices) {
    if (!chips.contains(track.first) && track.first != links) continue;
    for (const input::Json& slice : list) {
      last_us = std::max(last_us, end_of(slice));
      if (slice.at("cat") == "dma") ++transfers;
    }
  }
  CHECK(last_us * kMicrosecond == Approx(run.time_s).margin(1e-12));
  CHECK(transfers == run.messages);
  for (const auto& [id, flow] : events.flows)
    if (chips.contains(track_of(flow.first).first)) --transfers;
  CHECK(transfers == 0);
}

/// Time covered by the slices of each link, by name.
std::map<std::string, double> link_busy_s(const Events& events, const input::Json& group) {
  std::map<std::string, double> busy;
  for (const auto& [track, busy_s] : events.busy_s("link"))
    if (track.first == group.at("links_pid").get<int>()) busy[events.tracks.at(track)] += busy_s;
  return busy;
}

TEST_CASE("a trace follows the format and agrees with the results") {
  const auto [result, json] = trace_of(changed("/simulation", "full"));
  const Events events = check_format(json);
  const input::Json& groups = json.at("otherData").at("runs");
  REQUIRE(groups.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    check_run(events, groups[i], result.runs[i]);
    CHECK(groups[i].at("chips").size() == 8);
    const auto busy = link_busy_s(events, groups[i]);
    for (const run::LinkUse& link : result.runs[i].links)
      CHECK((busy.contains(link.name) ? busy.at(link.name) : 0.0) ==
            Approx(link.busy_s).margin(1e-12 * 100));  // a picosecond for each slice
  }
}

TEST_CASE("tracing does not change results") {
  const Traced traced = trace_of(good_config());
  const run::ExperimentResult plain = testing::run(good_config());
  for (std::size_t i = 0; i < plain.runs.size(); ++i) {
    CHECK(traced.result.runs[i].time_s == Approx(plain.runs[i].time_s).epsilon(1e-12));
    CHECK(traced.result.runs[i].core_busy_s == Approx(plain.runs[i].core_busy_s).epsilon(1e-12));
    CHECK(traced.result.runs[i].messages == plain.runs[i].messages);
  }
}

TEST_CASE("core slices are named by instruction, and have the part of the tensor as arguments") {
  const auto [result, json] = trace_of(changed("/simulation", "full"), "int8");
  const Events events(json);
  std::set<std::string> names;
  for (const auto& [track, list] : events.slices)
    for (const input::Json& slice : list) {
      if (slice.at("cat") != "core") continue;
      names.insert(slice.at("name").get<std::string>());
      if (slice.at("name") == "startup") continue;  // of the whole collective
      const input::Json& about = slice.at("args");
      const bool in_tensor = about.at("shard").get<int>() < 8 &&
                             about.at("minishard").get<int>() < 2 &&
                             about.value("microshard", 0) < 2 && about.at("segment").get<int>() < 2;
      const bool in_phase =
          about.at("phase") == "ReduceScatter" || about.at("phase") == "AllGather";
      const bool has_bytes = slice.at("name") == "barrier" || about.at("bytes").get<int>() > 0;
      if (!in_tensor || !in_phase || !has_bytes) FAIL(slice);
    }
  for (const char* name : {"startup", "find scales", "encode scales", "quantize", "accumulate",
                           "dequantize", "send", "wait"}) {
    CAPTURE(name);
    CHECK(names.contains(name));
  }
}

TEST_CASE("a transfer has the shard that its receiver waits for") {
  // In step t, the ReduceScatter of a ring sends the shard t positions back.
  const auto [result, json] = trace_of(changed("/simulation", "full"), "int8");
  const Events events(json);
  std::map<std::string, int> received;
  std::map<std::string, int> awaited;
  const auto key = [](const input::Json& about) {
    return about.at("phase").dump() + about.at("segment").dump() + about.at("shard").dump() +
           about.at("minishard").dump() + about.value("microshard", input::Json()).dump() +
           about.at("content").dump();
  };
  for (const auto& [track, list] : events.slices)
    for (const input::Json& slice : list) {
      if (slice.at("cat") == "dma") ++received[key(slice.at("args"))];
      if (slice.at("cat") == "core" && slice.at("name") == "wait") ++awaited[key(slice.at("args"))];
    }
  CHECK(!received.empty());
  CHECK(received == awaited);
}

TEST_CASE("idle slices have the cause of the wait") {
  const auto [result, json] = trace_of(good_config(), "int8");
  const Events events(json);
  double idle_us = 0.0;
  for (const auto& [track, list] : events.slices)
    for (const input::Json& slice : list)
      if (slice.at("cat") == "idle") {
        CHECK_THAT(slice.at("args").at("waits_for").get<std::string>(),
                   Catch::Matchers::StartsWith("the "));
        idle_us += slice.at("dur").get<double>();
      }
  const sim::Waits& waits = result.runs[1].core.waits;
  CHECK(idle_us > 0.0);
  const auto chips = static_cast<double>(json.at("otherData").at("runs").at(0).at("chips").size());
  CHECK(idle_us * kMicrosecond ==
        Approx(chips * (waits.links_s + waits.senders_s + waits.queue_s)).epsilon(1e-3));
}

TEST_CASE("names of representative chips include the number of simulated chips") {
  input::Json config = changed("/topology/slice", "\"4x4\"");
  config["simulation"] = "symmetric";
  config["numerics"] = "off";
  const auto [result, json] = trace_of(config, "int8");
  const Events events = check_format(json);
  check_run(events, json.at("otherData").at("runs").at(0), result.runs[1]);
  REQUIRE(result.runs[1].symmetric);
  CHECK_THAT(events.processes.at(1), ContainsSubstring("of 16 chips simulated"));
  CHECK(events.processes.size() == json["otherData"]["runs"][0]["chips"].size() + 1);
}

TEST_CASE("transfers that share a link are drawn on parallel tracks, and marked as shared") {
  input::Json config = good_config();
  config["collectives"] = input::Json::array({{{"label", "direct"}, {"algorithm", "one-shot"}}});
  config["baseline"] = "direct";
  config["topology"] = {{"mesh", "4x2"}};
  const auto [result, json] = trace_of(config);
  const Events events = check_format(json);
  check_run(events, json.at("otherData").at("runs").at(0), result.runs[0]);
  bool beside = false;
  for (const auto& [track, name] : events.tracks)
    beside = beside || (name.find("->") != std::string::npos && name.ends_with(" (2)"));
  CHECK(beside);
  bool shared = false;
  for (const auto& [track, list] : events.slices)
    for (const input::Json& slice : list)
      shared = shared || slice.at("args").value("link", "").starts_with("shared");
  CHECK(shared);
}

TEST_CASE("with shared HBM, waits for it are core time, and only links have tracks") {
  input::Json config = changed("/simulation", "full");
  config["wire_buffers"] = "hbm";
  const plan::Plan plan = testing::plan_of(config);
  const auto [result, json] = trace_of(config, "int8");
  const Events events = check_format(json);
  check_run(events, json.at("otherData").at("runs").at(0), result.runs[1]);
  for (const auto& [track, name] : events.tracks) CHECK_THAT(name, !ContainsSubstring("HBM"));
  std::uint64_t count = 0;
  for (const input::Json& event : json.at("traceEvents"))
    if (event.at("ph") != "M") ++count;
  const std::uint64_t most = most_trace_events(plan.collectives[1].candidates.front());
  CHECK(count <= most);
  CHECK(count * 2 > most);
}

TEST_CASE("every algorithm can be traced") {
  for (const std::string algorithm : {"ring", "torus", "halving-doubling", "recursive-doubling",
                                      "one-shot", "two-shot", "auto"}) {
    CAPTURE(algorithm);
    input::Json config = good_config();
    config["topology"] = {{"torus", "4x2"}};
    config["tensor"]["shape"] = {16, 1024};
    config["collectives"] = input::Json::array({{{"label", "it"}, {"algorithm", algorithm}}});
    config["baseline"] = "it";
    config["numerics"] = "off";
    const auto [result, json] = trace_of(config);
    const Events events = check_format(json);
    check_run(events, json.at("otherData").at("runs").at(0), result.runs[0]);
  }
}

TEST_CASE("a single run can be selected, and must exist") {
  const auto [result, json] = trace_of(good_config(), "bf16");
  REQUIRE(json.at("otherData").at("runs").size() == 1);
  CHECK(json["otherData"]["runs"][0]["label"] == "bf16");
  for (const auto& [process, name] : Events(json).processes)
    CHECK_THAT(name, Catch::Matchers::StartsWith("bf16: "));
  CHECK(testing::message_of([] { trace_of(good_config(), "int4"); }) ==
        "--trace-run 'int4': no collective has this label; available: bf16, int8");
}

TEST_CASE("labels may be any printable text") {
  input::Json config = good_config();
  config["collectives"][1]["label"] = "a \"b\" \\ \xc3\xa4";
  const auto [result, json] = trace_of(config);
  CHECK(json["otherData"]["runs"][1]["label"] == config["collectives"][1]["label"]);
  check_format(json);
}

TEST_CASE("a trace too large for viewers is refused before anything runs") {
  input::Json config = changed("/tensor/shape", "[8192, 8192]");
  config["topology"] = {{"slice", "16x16"}};
  config["simulation"] = "full";
  config["collectives"][1]["minishards"] = 64;
  config["collectives"][1]["microshards"] = 8;
  const std::string message = testing::message_of([&] { trace_of(config); });
  CHECK_THAT(message, Catch::Matchers::StartsWith("--trace: the trace would have "));
  CHECK_THAT(message, ContainsSubstring("--trace-run LABEL"));
  CHECK_THAT(message, ContainsSubstring("minishards"));
  CHECK(message.find('\n') == std::string::npos);
  CHECK(testing::message_of([&] { trace_of(config, "int8"); }).find("--trace-run") ==
        std::string::npos);
}

TEST_CASE("the predicted number of events is a tight upper bound") {
  const plan::Plan plan = testing::plan_of(changed("/simulation", "full"));
  std::uint64_t most = 0;
  for (const plan::PlannedCollective& collective : plan.collectives)
    most += most_trace_events(collective.candidates.front());
  std::uint64_t events = 0;
  const input::Json json = trace_of(changed("/simulation", "full")).json;
  for (const input::Json& event : json.at("traceEvents"))
    if (event.at("ph") != "M") ++events;
  CHECK(events <= most);
  CHECK(events * 2 > most);
}

}  // namespace
}  // namespace equarx::trace::file_test
