#include "sim/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace equarx::sim {

using collectives::BufferId;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Op;
using collectives::Origin;
using collectives::Program;
using collectives::Rank;
using collectives::RankRange;

std::uint64_t held_bytes(const Step& send, double rate) {
  if (send.link_s == 0.0) return send.bytes;
  return send.bytes + static_cast<std::uint64_t>(std::llround(send.link_s * rate));
}

namespace {

void check_costs(const Program& program, const Costs& costs) {
  const std::size_t instructions = program.instructions.size();
  if (costs.core_s.size() != instructions || costs.link_s.size() != program.messages.size() ||
      (!costs.hbm_bytes.empty() && costs.hbm_bytes.size() != instructions) ||
      (!costs.least_s.empty() && costs.least_s.size() != instructions))
    throw std::logic_error("every instruction and every message needs a cost");
}

/// True if the instruction fills a buffer of its rank.
bool encodes(Op op) {
  return op == Op::quantize || op == Op::lend || op == Op::encode_scales || op == Op::encode_amax;
}

/// The buffer of its own rank that an instruction needs; std::nullopt if none.
std::optional<BufferId> own_buffer(const Program& program, const Instruction& instruction) {
  if (instruction.op == Op::send) {
    const collectives::Message& message = program.messages[instruction.message];
    return message.origin == Origin{} ? std::optional(message.buffer) : std::nullopt;
  }
  const bool reads = instruction.op == Op::deliver || instruction.op == Op::dequantize;
  return reads && instruction.origin == Origin{} ? std::optional(instruction.buffer) : std::nullopt;
}

/// Buffers that a stream fills and another stream of the rank needs, with an event for each.
class Handovers {
 public:
  explicit Handovers(const Program& program) : program_(program) {
    std::map<BufferId, std::vector<const Instruction*>> fills;
    for (const Instruction& instruction : program.instructions)
      if (encodes(instruction.op)) fills[instruction.buffer].push_back(&instruction);
    for (const Instruction& instruction : program.instructions) {
      const auto buffer = own_buffer(program, instruction);
      if (!buffer) continue;
      for (const Instruction* const fill : fills[*buffer])
        if (fill->stream != instruction.stream && overlap(fill->ranks, instruction.ranks))
          events_.try_emplace({*buffer, instruction.stream}, Event{count(), fill->ranks});
    }
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(events_.size()); }
  /// The event of a rank that an instruction awaits if it is the first of its stream that needs it.
  std::optional<std::uint32_t> awaited(const Instruction& instruction, Rank rank) const {
    const auto buffer = own_buffer(program_, instruction);
    if (!buffer) return std::nullopt;
    const auto found = events_.find({*buffer, instruction.stream});
    if (found == events_.end() || !found->second.fillers.contains(rank)) return std::nullopt;
    return found->second.number;
  }
  /// The events that follow an instruction.
  std::vector<std::uint32_t> signalled(const Instruction& instruction) const {
    std::vector<std::uint32_t> numbers;
    if (!encodes(instruction.op)) return numbers;
    for (auto event = events_.lower_bound({instruction.buffer, 0});
         event != events_.end() && event->first.first == instruction.buffer; ++event)
      if (event->first.second != instruction.stream) numbers.push_back(event->second.number);
    return numbers;
  }

 private:
  struct Event {
    std::uint32_t number = 0;
    RankRange fillers;
  };

  static bool overlap(const RankRange& one, const RankRange& other) {
    return one.first <= other.last && other.first <= one.last;
  }

  const Program& program_;
  std::map<std::pair<BufferId, std::uint32_t>, Event> events_;  ///< by buffer and stream
};

/// Lowers the instructions of a stream to steps.
class TimelineWriter {
 public:
  /// `start_s`: core time before the first instruction.
  TimelineWriter(const Program& program, const Costs& costs, Rank rank, double start_s, bool traced)
      : program_(program), costs_(costs.of(rank)), rank_(rank), traced_(traced), delay_s_(start_s) {
    if (traced && delay_s_ > 0.0)
      steps_.push_back({.kind = Step::Kind::start, .delay_s = take_delay()});
  }

  /// Makes room for the steps of all transfers of the rank, which most steps are: growing takes twice
  /// the memory.
  void reserve() {
    steps_.reserve(2 + static_cast<std::size_t>(std::ranges::count_if(
                           program_.instructions, [&](const Instruction& instruction) {
                             return is_transfer(instruction.op) &&
                                    program_.runs(instruction, rank_);
                           })));
  }

  /// Signals or awaits an event.
  void synchronise(Step::Kind kind, std::uint32_t event) {
    steps_.push_back({.kind = kind, .number = event, .delay_s = take_delay()});
  }
  void take(InstructionId id) {
    switch (program_.instructions[id].op) {
      case Op::send: return send(id);
      case Op::wait: return wait(id);
      default: return work(id);
    }
  }
  std::vector<Step> end() && {
    steps_.push_back({.kind = Step::Kind::end,
                      .delay_s = take_delay(),
                      .instruction = static_cast<InstructionId>(program_.instructions.size() - 1)});
    return std::move(steps_);
  }

 private:
  void send(InstructionId id) {
    const collectives::MessageId message = program_.instructions[id].message;
    delay_s_ += costs_.core_s[id];
    steps_.push_back({.kind = Step::Kind::send,
                      .number = program_.messages[message].channel,
                      .delay_s = take_delay(),
                      .bytes = program_.message_bytes(message, rank_),
                      .link_s = costs_.link_s[message],
                      .message = message,
                      .instruction = id});
  }
  void wait(InstructionId id) {
    const collectives::MessageId message = program_.instructions[id].message;
    steps_.push_back({.kind = Step::Kind::wait,
                      .number = program_.messages[message].channel,
                      .delay_s = take_delay(),
                      .message = message,
                      .instruction = id});
    delay_s_ = costs_.core_s[id];
    if ((traced_ && delay_s_ > 0.0) || least_s(id) > 0.0)
      steps_.push_back({.kind = Step::Kind::work,
                        .delay_s = take_delay(),
                        .instruction = id,
                        .least_s = least_s(id)});
  }
  void work(InstructionId id) {
    if (least_s(id) > 0.0) flush(id);
    const std::uint64_t hbm_bytes = costs_.hbm_bytes.empty() ? 0 : costs_.hbm_bytes[id];
    const double overlapped_s = hbm_bytes > 0 ? costs_.core_s[id] - costs_.before_hbm_s : 0.0;
    delay_s_ += hbm_bytes > 0 ? costs_.before_hbm_s : costs_.core_s[id];
    if (traced_ || hbm_bytes > 0 || least_s(id) > 0.0)
      steps_.push_back({.kind = Step::Kind::work,
                        .delay_s = take_delay(),
                        .instruction = id,
                        .hbm_bytes = hbm_bytes,
                        .overlapped_s = overlapped_s,
                        .least_s = least_s(id)});
  }
  double least_s(InstructionId id) const {
    return costs_.least_s.empty() ? 0.0 : costs_.least_s[id];
  }
  /// Ends the core work before an instruction whose own duration counts.
  void flush(InstructionId next) {
    if (delay_s_ > 0.0)
      steps_.push_back({.kind = Step::Kind::work, .delay_s = take_delay(), .instruction = next});
  }
  double take_delay() { return std::exchange(delay_s_, 0.0); }

  const Program& program_;
  const Costs& costs_;
  Rank rank_;
  bool traced_;
  double delay_s_;  ///< core time since the last step
  std::vector<Step> steps_;
};

/// The timelines of the streams of a rank.
std::vector<std::vector<Step>> make_streams(const Program& program, const Costs& costs,
                                            const Handovers& handovers, std::uint32_t streams,
                                            Rank rank, bool traced) {
  // The first events are starts of the streams after the first.
  const std::uint32_t starts = streams - 1;
  std::vector<TimelineWriter> writers;
  for (std::uint32_t stream = 0; stream < streams; ++stream) {
    TimelineWriter& writer =
        writers.emplace_back(program, costs, rank, stream == 0 ? costs.start_s : 0.0, traced);
    if (stream > 0) writer.synchronise(Step::Kind::await, stream - 1);
  }
  for (std::uint32_t start = 0; start < starts; ++start)
    writers.front().synchronise(Step::Kind::signal, start);
  std::set<std::uint32_t> awaited;
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (!program.runs(instruction, rank)) continue;
    TimelineWriter& writer = writers[instruction.stream];
    const auto event = handovers.awaited(instruction, rank);
    if (event && awaited.insert(*event).second)
      writer.synchronise(Step::Kind::await, starts + *event);
    writer.take(id);
    for (const std::uint32_t filled : handovers.signalled(instruction))
      writer.synchronise(Step::Kind::signal, starts + filled);
  }
  std::vector<std::vector<Step>> lists;
  for (TimelineWriter& writer : writers) lists.push_back(std::move(writer).end());
  return lists;
}

/// Sets the streams that send and receive in each channel.
void assign_channels(const Program& program, Timelines& timelines) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  timelines.stream_of_channel.assign(program.channels.size(), kNone);
  timelines.sender_of_channel = timelines.stream_of_channel;
  for (const Instruction& instruction : program.instructions) {
    if (!is_transfer(instruction.op)) continue;
    std::vector<std::uint32_t>& streams =
        instruction.op == Op::send ? timelines.sender_of_channel : timelines.stream_of_channel;
    const std::uint32_t before =
        std::exchange(streams[program.messages[instruction.message].channel], instruction.stream);
    if (before != kNone && before != instruction.stream)
      throw std::logic_error("a channel is used by several streams");
  }
}

}  // namespace

std::vector<Step> make_timeline(const Program& program, const Costs& costs, Rank rank,
                                bool traced) {
  check_costs(program, costs);
  TimelineWriter writer(program, costs, rank, costs.start_s, traced);
  writer.reserve();
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (instruction.stream > 0) throw std::logic_error("a program of one stream has several");
    if (program.runs(instruction, rank)) writer.take(id);
  }
  return std::move(writer).end();
}

std::vector<Rank> rank_range_starts(const collectives::Program& program) {
  std::set<std::uint64_t> borders = {0};
  if (program.counts)
    for (Rank rank = 1; rank < program.ranks(); ++rank) borders.insert(rank);
  for (const collectives::Instruction& instruction : program.instructions) {
    if (instruction.ranks == RankRange{}) continue;
    for (const std::uint64_t border :
         {std::uint64_t{instruction.ranks.first}, std::uint64_t{instruction.ranks.last} + 1})
      if (border < program.ranks()) borders.insert(border);
  }
  return {borders.begin(), borders.end()};
}

Timelines make_timelines(const collectives::Program& program, const Costs& costs,
                         std::uint32_t ranks, bool traced) {
  check_costs(program, costs);
  const std::vector<Rank> firsts = rank_range_starts(program);
  Timelines timelines;
  timelines.streams = stream_count(program);
  std::optional<Handovers> handovers;
  if (timelines.streams > 1) {
    handovers.emplace(program);
    timelines.events = timelines.streams - 1 + handovers->count();
    assign_channels(program, timelines);
  }
  std::uint32_t first_list = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    if (std::ranges::binary_search(firsts, rank)) {
      first_list = static_cast<std::uint32_t>(timelines.lists.size());
      std::vector<std::vector<Step>> lists =
          handovers ? make_streams(program, costs, *handovers, timelines.streams, rank, traced)
                    : std::vector<std::vector<Step>>{make_timeline(program, costs, rank, traced)};
      std::ranges::move(lists, std::back_inserter(timelines.lists));
    }
    for (std::uint32_t stream = 0; stream < timelines.streams; ++stream)
      timelines.list_of.push_back(first_list + stream);
  }
  return timelines;
}

}  // namespace equarx::sim
