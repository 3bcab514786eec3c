#include "importers/profile/xprof.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/os/printable.hpp"
#include "importers/profile/events.hpp"
#include "importers/profile/xprof_text.hpp"

namespace equarx::profile {
namespace {

using input::InputError;
using input::Json;

constexpr double kSecondsPerTick = 1e-6;  // of ts and dur
constexpr double kPicosecond = 1e-12;
/// Most events of a file; later ones are dropped (xla/tsl/profiler/convert/xplane_to_trace_events.cc,
/// GetTraceViewerMaxEvents()).
constexpr std::size_t kMostEvents = 1'000'000;

/// An operation that events execute.
struct Op {
  std::string name;
  std::optional<HloText> text;
  bool is_unread = false;  ///< communication whose text has no collective
};

/// An event of a thread.
struct Ran {
  std::uint32_t op = 0;
  Span span;
};

/// True for names and categories of collectives and of fusions with them.
bool names_communication(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {
      "all-reduce",         "all-gather",           "reduce-scatter", "all-to-all",
      "collective-permute", "collective-broadcast", "megascale"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

class XprofReader {
 public:
  /// Counts the event. True for texts of names and of operations, and maybe of others.
  bool wants(std::string_view event) {
    ++events_;
    return event.find("long_name") != std::string_view::npos ||
           event.find("hlo_category") != std::string_view::npos ||
           event.find("_name\"") != std::string_view::npos ||
           event.find("\"%") != std::string_view::npos;
  }

  void add(const Json& event) {
    const std::string phase = text_of(event, "ph");
    const std::pair thread = {number_of(event, "pid").value_or(-1.0),
                              number_of(event, "tid").value_or(-1.0)};
    const Json& args = object_of(event, "args");
    if (phase == "M" && text_of(event, "name") == "process_name")
      process_names_[thread.first] = os::printable(text_of(args, "name"));
    if (phase == "M" && text_of(event, "name") == "thread_name")
      thread_names_[thread] = text_of(args, "name");
    if (phase == "X") add_ran(event, args, thread);
  }

  Profile finish(std::uint32_t chips) {
    if (events_ >= kMostEvents)
      profile_
          .notes[fmt::format("files of the trace viewer end after {} events: later ones are "
                             "missing",
                             kMostEvents)] = 1;
    set_chips(chips);
    for (const auto& [thread, name] : thread_names_)
      if (name == "Async XLA Ops" && is_device(thread.first)) add_async(thread);
    for (const auto& [thread, name] : thread_names_)
      if (name == "XLA Ops" && is_device(thread.first)) add_ops(thread);
    if (profile_.executions.empty()) throw_empty();
    return std::move(profile_);
  }

 private:
  void add_ran(const Json& event, const Json& args, const std::pair<double, double>& thread) {
    const auto start = number_of(event, "ts");
    const auto ticks = number_of(event, "dur");
    const auto exact = number_of(args, "device_duration_ps");
    if (!start || (!ticks && !exact) || ticks.value_or(0.0) < 0.0 || exact.value_or(0.0) < 0.0) {
      ++profile_.notes["events without a valid start and duration are not used"];
      return;
    }
    const double duration_s = exact ? *exact * kPicosecond : *ticks * kSecondsPerTick;
    if (duration_s > 0.0)
      ran_[thread].push_back({op_of(event, args), {*start * kSecondsPerTick, duration_s}});
  }

  std::uint32_t op_of(const Json& event, const Json& args) {
    std::string text = text_of(args, "long_name");
    if (text.empty()) text = text_of(event, "name");
    const auto [found, is_new] =
        op_ids_.emplace(std::move(text), static_cast<std::uint32_t>(ops_.size()));
    if (!is_new) return found->second;
    Op op{.name = os::printable(text_of(event, "name")), .text = read_hlo_text(found->first)};
    if (op.text && !is_collective(*op.text)) op.text.reset();
    op.is_unread = !op.text && (names_communication(op.name) ||
                                names_communication(text_of(args, "hlo_category")));
    ops_.push_back(std::move(op));
    return found->second;
  }

  /// True for chips, without their sparse cores.
  bool is_device(double process) const {
    const auto found = process_names_.find(process);
    return found != process_names_.end() && found->second.starts_with("/device:") &&
           found->second.find("SparseCore") == std::string::npos;
  }

  /// Sets the chips of the run: as many as groups name, or else as the machine has.
  void set_chips(std::uint32_t chips) {
    std::uint64_t least = 0;
    for (const Op& op : ops_)
      if (op.text) least = std::max(least, least_chips(*op.text));
    profile_.chips = static_cast<std::uint32_t>(std::min<std::uint64_t>(least, 1 << 24));
    run_chips_ = profile_.chips > 0 ? profile_.chips : chips;
  }

  std::uint32_t device_of(double process) {
    const auto [found, is_new] =
        device_ids_.emplace(process, static_cast<std::uint32_t>(profile_.devices.size()));
    if (is_new) profile_.devices.push_back({.name = process_names_.at(process)});
    return found->second;
  }

  /// Events of a thread, outer ones before those within them.
  std::vector<Ran>& ordered(const std::pair<double, double>& thread) {
    std::vector<Ran>& ran = ran_[thread];
    std::ranges::sort(ran, [](const Ran& a, const Ran& b) {
      if (a.span.start_s != b.span.start_s) return a.span.start_s < b.span.start_s;
      return a.span.duration_s > b.span.duration_s;
    });
    return ran;
  }

  /// Asynchronous collectives, from start to end.
  void add_async(const std::pair<double, double>& thread) {
    const std::uint32_t device = device_of(thread.first);
    for (const Ran& ran : ordered(thread)) {
      const Op& op = ops_[ran.op];
      if (op.is_unread) add_unread(op, device, ran.span);
      if (!op.text || hlo::split(op.text->opcode).end == hlo::AsyncEnd::done) continue;
      async_.emplace(device, op.text->name);
      execute(*op.text, device, ran.span);
    }
  }

  void add_ops(const std::pair<double, double>& thread) {
    const std::uint32_t device = device_of(thread.first);
    const std::vector<Ran>& events = ordered(thread);
    for (std::size_t i = 0; i < events.size(); ++i) {
      // Loops and calls contain the events of their bodies.
      const bool is_outer = i + 1 < events.size() &&
                            events[i + 1].span.start_s < events[i].span.end_s() &&
                            events[i + 1].span.end_s() <= events[i].span.end_s();
      if (!is_outer) add_op(ops_[events[i].op], device, events[i].span);
    }
    if (!started_.empty())
      profile_.notes["asynchronous collectives without an end are not used"] += started_.size();
    started_.clear();
  }

  void add_op(const Op& op, std::uint32_t device, const Span& span) {
    if (op.is_unread) return add_unread(op, device, span);
    if (!op.text) return profile_.devices[device].other.push_back(span);
    const HloText& text = *op.text;
    switch (hlo::split(text.opcode).end) {
      case hlo::AsyncEnd::none: return execute(text, device, span);
      case hlo::AsyncEnd::start:
        if (!async_.contains({device, text.name})) started_[text.name] = {&text, span};
        return;
      case hlo::AsyncEnd::update: return;
      case hlo::AsyncEnd::done: return end(text, device, span);
    }
  }

  void end(const HloText& text, std::uint32_t device, const Span& span) {
    std::string start = text.operand;
    if (start.empty()) {
      constexpr std::string_view kDone = "-done";
      start = text.name;
      if (const std::size_t at = start.find(kDone); at != std::string::npos)
        start.replace(at, kDone.size(), "-start");
    }
    if (async_.contains({device, start})) return;
    const auto found = started_.find(start);
    if (found == started_.end()) {
      ++profile_.notes["asynchronous collectives without a start are not used"];
      return;
    }
    const auto [of, first] = found->second;
    started_.erase(found);
    execute(*of, device, {first.start_s, span.end_s() - first.start_s});
  }

  void execute(const HloText& text, std::uint32_t device, const Span& span) {
    profile_.devices[device].communication.push_back(span);
    profile_.executions.push_back({call_id(profile_, xprof_call(text, run_chips_)), device, span});
  }

  void add_unread(const Op& op, std::uint32_t device, const Span& span) {
    profile_.devices[device].communication.push_back(span);
    ++profile_
          .notes[fmt::format("{} has no HLO text of a collective, as in fusions: only its time "
                             "is used",
                             op.name.substr(0, op.name.find('.')))];
  }

  [[noreturn]] void throw_empty() const {
    if (profile_.devices.empty())
      throw InputError("", "has no line \"XLA Ops\" of a device; is it the trace.json of XProf?");
    throw InputError("",
                     "has no collective with HLO text (\"long_name\"); record a program of "
                     "several TPU chips with jax.profiler.trace()");
  }

  Profile profile_;
  std::size_t events_ = 0;
  std::uint32_t run_chips_ = 0;
  std::map<double, std::string> process_names_;
  std::map<std::pair<double, double>, std::string> thread_names_;
  std::map<std::string, std::uint32_t> op_ids_;  // by HLO text, or else by name
  std::vector<Op> ops_;
  std::map<std::pair<double, double>, std::vector<Ran>> ran_;  // by thread
  std::map<double, std::uint32_t> device_ids_;                 // by process
  std::set<std::pair<std::uint32_t, std::string>> async_;      // device and name, with own events
  std::map<std::string, std::pair<const HloText*, Span>> started_;  // by name
};

}  // namespace

Profile read_xprof(std::string_view text, std::uint32_t chips) {
  XprofReader reader;
  read_events(
      text, [&](std::string_view event) { return reader.wants(event); },
      [&](const Json& event) { reader.add(event); });
  return reader.finish(chips);
}

}  // namespace equarx::profile
