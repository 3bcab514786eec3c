#include "sim/step_program.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace equarx::sim {
namespace {

using collectives::ChannelId;
using collectives::Rank;

constexpr std::uint32_t kNoStream = 0xFFFFFFFF;

/// A dependency (predecessor, successor) between tasks of different streams, with its own event.
using Edge = std::pair<std::uint32_t, std::uint32_t>;

std::vector<std::uint32_t> streams_of_tasks(const StepProgram& work) {
  std::vector<std::uint32_t> streams(work.tasks, kNoStream);
  for (std::uint32_t stream = 0; stream < work.streams.size(); ++stream)
    for (const TaskRun& run : work.streams[stream]) streams.at(run.task) = stream;
  return streams;
}

/// By program, the stream that runs it but for its `other` part.
std::vector<std::uint32_t> streams_of_programs(const StepProgram& work, ProgramPart other) {
  std::vector<std::uint32_t> streams(work.programs.size(), kNoStream);
  for (std::uint32_t stream = 0; stream < work.streams.size(); ++stream)
    for (const TaskRun& run : work.streams[stream]) {
      if (!run.program || run.part == other) continue;
      const std::uint32_t before = std::exchange(streams.at(*run.program), stream);
      if (before != kNoStream && before != stream)
        throw std::logic_error("a program is run by two streams");
    }
  return streams;
}

/// An event that is signalled to a task.
struct Signal {
  std::uint32_t event = 0;
  const TaskRun* to = nullptr;
};

/// Events that signal the completion of tasks to dependent streams.
class Events {
 public:
  explicit Events(const StepProgram& work) : signals_(work.tasks), runs_(work.tasks) {
    for (const std::vector<TaskRun>& stream : work.streams)
      for (const TaskRun& run : stream) runs_.at(run.task) = &run;
    const std::vector<std::uint32_t> streams = streams_of_tasks(work);
    for (const std::vector<TaskRun>& stream : work.streams)
      for (const TaskRun& run : stream)
        for (const std::uint32_t before : run.after) {
          if (streams.at(before) == kNoStream)
            throw std::logic_error("a task depends on a task that no stream runs");
          if (!numbers_.emplace(Edge{before, run.task}, count()).second) continue;
          signals_[before].push_back({count() - 1, &run});
        }
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(numbers_.size()); }
  std::uint32_t number(std::uint32_t before, std::uint32_t after) const {
    return numbers_.at({before, after});
  }
  const std::vector<Signal>& signals_of(std::uint32_t task) const { return signals_[task]; }
  const TaskRun& run_of(std::uint32_t task) const { return *runs_[task]; }

 private:
  std::map<Edge, std::uint32_t> numbers_;
  std::vector<std::vector<Signal>> signals_;  ///< by task: events to signal
  std::vector<const TaskRun*> runs_;          ///< by task
};

/// Writes the instruction streams of chips with given ranks in the programs, and once each the parts of
/// programs that they run.
class ListWriter {
 public:
  /// `lists`: the result; must outlive the object
  ListWriter(const StepProgram& work, const Events& events, std::vector<std::vector<Step>>& lists)
      : work_(work), events_(events), lists_(lists), first_channels_(first_channels(work)) {
    collectives::MessageId first = 0;
    for (const PlacedProgram& placed : work.programs) {
      first_messages_.push_back(first);
      first += static_cast<collectives::MessageId>(placed.program->messages.size());
    }
  }

  /// `ranks`: rank of the chip in each program.
  std::vector<Step> write(const std::vector<TaskRun>& stream, const std::vector<Rank>& ranks,
                          std::uint32_t chip) {
    std::vector<Step> steps;
    for (const TaskRun& run : stream) {
      if (!runs_on(work_, run, chip)) continue;
      for (const std::uint32_t before : run.after)
        if (runs_on(work_, events_.run_of(before), chip))
          add(steps, run, {.kind = Step::Kind::await, .number = events_.number(before, run.task)});
      add(steps, run, {.kind = Step::Kind::mark, .number = start_mark(run.task)});
      if (run.program)
        add(steps, run,
            {.kind = Step::Kind::run, .number = part(*run.program, run.part, ranks[*run.program])});
      add_other_work(steps, run);
      add(steps, run, {.kind = Step::Kind::mark, .number = end_mark(run.task)});
      for (const Signal& signal : events_.signals_of(run.task))
        if (runs_on(work_, *signal.to, chip))
          add(steps, run, {.kind = Step::Kind::signal, .number = signal.event});
    }
    steps.push_back({});
    return steps;
  }

 private:
  static void add(std::vector<Step>& steps, const TaskRun& run, Step step) {
    step.instruction = run.task;
    steps.push_back(step);
  }

  /// The list of a part of a program, written at its first use.
  std::uint32_t part(std::size_t program, ProgramPart part, Rank rank) {
    const auto number = static_cast<std::uint32_t>(lists_.size());
    const auto [known, is_new] = parts_.emplace(std::tuple{program, part, rank}, number);
    if (is_new) lists_.push_back(part_of(program, part, rank));
    return known->second;
  }

  std::vector<Step> part_of(std::size_t program, ProgramPart part, Rank rank) const {
    const PlacedProgram& placed = work_.programs[program];
    std::vector<Step> steps = make_timeline(*placed.program, *placed.costs, rank);
    if (part == ProgramPart::waits) steps.back() = {};
    std::erase_if(steps, [&](const Step& step) { return is_left_out(step, part); });
    for (Step& step : steps) {
      if (step.kind != Step::Kind::send && step.kind != Step::Kind::wait) continue;
      if (step.kind == Step::Kind::send) add_protocol(placed, step);
      step.number += first_channels_[program];
      step.message += first_messages_[program];
    }
    return steps;
  }

  /// Core work belongs to the sends.
  static bool is_left_out(const Step& step, ProgramPart part) {
    if (part == ProgramPart::all || step.kind == Step::Kind::end) return false;
    return (step.kind == Step::Kind::wait) == (part == ProgramPart::sends);
  }

  /// `send`: with the number of its channel in the program.
  static void add_protocol(const PlacedProgram& placed, Step& send) {
    if (!placed.latency_s.empty()) send.latency_s = placed.latency_s[send.number];
    if (placed.bytes_of_byte != 1.0)
      send.bytes = static_cast<std::uint64_t>(
          std::llround(static_cast<double>(send.bytes) * placed.bytes_of_byte));
  }

  static void add_other_work(std::vector<Step>& steps, const TaskRun& run) {
    if (run.host_s > 0.0) add(steps, run, {.kind = Step::Kind::host, .delay_s = run.host_s});
    if (run.core_s > 0.0) add(steps, run, {.kind = Step::Kind::compute, .delay_s = run.core_s});
    for (const HbmWork& work : run.with_hbm) {
      Step step{.kind = Step::Kind::compute, .delay_s = work.before_s, .hbm_bytes = work.hbm_bytes};
      // Without bytes there is nothing to overlap.
      (work.hbm_bytes > 0 ? step.overlapped_s : step.delay_s) += work.core_s;
      add(steps, run, step);
    }
  }

  const StepProgram& work_;
  const Events& events_;
  std::vector<std::vector<Step>>& lists_;
  std::vector<ChannelId> first_channels_;
  std::vector<collectives::MessageId> first_messages_;
  std::map<std::tuple<std::size_t, ProgramPart, Rank>, std::uint32_t> parts_;
};

/// By program, the first rank of each range with identical instructions.
std::vector<std::vector<Rank>> first_ranks(const StepProgram& work) {
  std::vector<std::vector<Rank>> firsts;
  for (const PlacedProgram& placed : work.programs)
    firsts.push_back(rank_range_starts(*placed.program));
  return firsts;
}

/// By program, the first rank with the same timeline as the chip's rank.
std::vector<Rank> representative_ranks(const StepProgram& work, std::uint32_t chip,
                                       const std::vector<std::vector<Rank>>& firsts) {
  std::vector<Rank> ranks;
  for (std::size_t program = 0; program < work.programs.size(); ++program) {
    const std::vector<Rank>& rank_of_chip = work.programs[program].rank_of_chip;
    const Rank rank = rank_of_chip.empty() ? 0 : rank_of_chip[chip];
    ranks.push_back(*std::prev(std::ranges::upper_bound(firsts[program], rank)));
  }
  return ranks;
}

}  // namespace

bool runs_on(const StepProgram& work, const TaskRun& run, std::uint32_t chip) {
  return !run.chips || work.chip_sets[*run.chips][chip];
}

std::vector<ChannelId> first_channels(const StepProgram& work) {
  std::vector<ChannelId> firsts;
  ChannelId first = 0;
  for (const PlacedProgram& placed : work.programs) {
    firsts.push_back(first);
    first += static_cast<ChannelId>(placed.program->channels.size());
  }
  return firsts;
}

std::vector<std::uint32_t> chip_kinds(const StepProgram& work, std::uint32_t chips) {
  const std::vector<std::vector<Rank>> firsts = first_ranks(work);
  std::map<std::pair<std::vector<Rank>, std::vector<bool>>, std::uint32_t> known;
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    std::vector<bool> sets;
    for (const std::vector<bool>& set : work.chip_sets) sets.push_back(set[chip]);
    const auto number = static_cast<std::uint32_t>(known.size());
    const std::pair key{representative_ranks(work, chip, firsts), std::move(sets)};
    kinds.push_back(known.emplace(key, number).first->second);
  }
  return kinds;
}

Timelines make_timelines(const StepProgram& work, std::uint32_t chips) {
  const Events events(work);
  Timelines timelines;
  ListWriter writer(work, events, timelines.lists);
  timelines.streams = static_cast<std::uint32_t>(work.streams.size());
  timelines.events = events.count();
  timelines.marks = 2 * work.tasks;
  const std::vector<std::uint32_t> senders = streams_of_programs(work, ProgramPart::waits);
  const std::vector<std::uint32_t> receivers = streams_of_programs(work, ProgramPart::sends);
  for (std::size_t program = 0; program < work.programs.size(); ++program) {
    const collectives::Program& collective = *work.programs[program].program;
    timelines.stream_of_channel.insert(timelines.stream_of_channel.end(),
                                       collective.channels.size(), receivers[program]);
    timelines.sender_of_channel.insert(timelines.sender_of_channel.end(),
                                       collective.channels.size(), senders[program]);
  }
  const std::vector<std::vector<Rank>> firsts = first_ranks(work);
  const std::vector<std::uint32_t> kinds = chip_kinds(work, chips);
  std::vector<std::uint32_t> lists;  // by kind and stream
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    const std::size_t first = std::size_t{kinds[chip]} * timelines.streams;
    if (first == lists.size()) {
      const std::vector<Rank> ranks = representative_ranks(work, chip, firsts);
      for (const std::vector<TaskRun>& stream : work.streams) {
        std::vector<Step> steps = writer.write(stream, ranks, chip);
        lists.push_back(static_cast<std::uint32_t>(timelines.lists.size()));
        timelines.lists.push_back(std::move(steps));
      }
    }
    for (std::uint32_t stream = 0; stream < timelines.streams; ++stream)
      timelines.list_of.push_back(lists[first + stream]);
  }
  return timelines;
}

}  // namespace equarx::sim
