#include "importers/msccl/msccl_timelines.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace equarx::imports {
namespace {

using schedules::Op;
using schedules::Queue;
using schedules::Queues;
using schedules::Runtime;
using schedules::Schedule;
using schedules::ThreadBlock;
using sim::Step;

/// Size of transfers: large enough that latency hardly shows with several in flight, small enough
/// that thread blocks share a link evenly.
constexpr std::uint64_t kPiece = std::uint64_t{1} << 15U;
/// Message that frees a slot of a queue.
constexpr std::uint64_t kFlagBytes = 8;

std::vector<std::uint64_t> pieces_of(std::uint64_t bytes) {
  const std::uint64_t count = std::max<std::uint64_t>((bytes + kPiece - 1) / kPiece, 1);
  std::vector<std::uint64_t> pieces;
  for (std::uint64_t i = 0; i < count; ++i)
    pieces.push_back(bytes * (i + 1) / count - bytes * i / count);
  return pieces;
}

std::uint64_t messages_in(const ThreadBlock& block, bool (*takes_part)(Op),
                          const Runtime& runtime) {
  std::uint64_t messages = 0;
  for (const schedules::Step& step : block.steps)
    if (takes_part(step.op)) messages += messages_of(runtime.cut(), step.count);
  return messages * runtime.cut().loops;
}

const ThreadBlock& block_of(const Schedule& schedule, const schedules::BlockId& id) {
  return schedule.ranks[id.rank].blocks[id.block];
}

/// Maps queues to channels.
class Channels {
 public:
  Channels(const Schedule& schedule, const Queues& queues, const Runtime& runtime)
      : ranks_(static_cast<std::uint32_t>(schedule.ranks.size())) {
    for (const Queue& queue : queues.all) {
      data_.push_back(channel(queue.sender.rank, queue.receiver.rank, queue.channel, false));
      messages_.push_back(messages_in(block_of(schedule, queue.sender), schedules::sends, runtime));
      free_.push_back(
          messages_.back() > runtime.cut().room
              ? std::optional(channel(queue.receiver.rank, queue.sender.rank, queue.channel, true))
              : std::nullopt);
    }
  }

  /// Channel of the messages of a queue.
  std::uint32_t data(schedules::QueueId queue) const { return data_[queue]; }
  /// Channel of the flags that free slots; std::nullopt if the queue never fills up.
  std::optional<std::uint32_t> free(schedules::QueueId queue) const { return free_[queue]; }
  std::uint64_t messages(schedules::QueueId queue) const { return messages_[queue]; }
  const std::vector<std::uint32_t>& offsets() const { return offsets_; }

 private:
  std::uint32_t channel(std::uint32_t from, std::uint32_t to, std::uint32_t number, bool flags) {
    const std::uint32_t offset = (to + ranks_ - from) % ranks_;
    const auto [found, is_new] = known_.emplace(std::tuple{offset, number, flags},
                                                static_cast<std::uint32_t>(offsets_.size()));
    if (is_new) offsets_.push_back(offset);
    return found->second;
  }

  std::uint32_t ranks_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, std::uint32_t> known_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> data_;
  std::vector<std::optional<std::uint32_t>> free_;
  std::vector<std::uint64_t> messages_;
};

/// Events of a rank: one per step that waits for a step of another thread block.
struct Events {
  /// Events signaled at the end of a step, by thread block and step.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> signals;
  /// Event awaited by a step, by thread block and step.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> awaited;
};

Events events_of(const schedules::Rank& rank) {
  Events events;
  std::uint32_t next = 0;
  for (std::uint32_t block = 0; block < rank.blocks.size(); ++block)
    for (std::uint32_t step = 0; step < rank.blocks[block].steps.size(); ++step) {
      const auto& after = rank.blocks[block].steps[step].after;
      if (!after || after->block == block) continue;  // steps of a block run in order
      events.signals[{after->block, after->step}].push_back(next);
      events.awaited[{block, step}] = next++;
    }
  return events;
}

/// Writes the instruction stream of one thread block.
class Writer {
 public:
  Writer(const Runtime& runtime, const BlockSpeed& speed, const Encoded& encoded,
         const Channels& channels)
      : runtime_(runtime), speed_(speed), encoded_(encoded), channels_(channels) {}

  std::vector<Step> write(const ThreadBlock& block, std::uint32_t number, const Events& events,
                          std::optional<schedules::QueueId> sent,
                          std::optional<schedules::QueueId> received) {
    steps_.clear();
    sent_ = {sent, 0};
    received_ = {received, 0};
    sent_bytes_ = 0;
    if (!block.steps.empty()) busy(speed_.startup_s);
    for (std::uint64_t loop = 0; loop < runtime_.cut().loops; ++loop)
      for (std::uint32_t step = 0; step < block.steps.size(); ++step) {
        const auto awaited = events.awaited.find({number, step});
        if (awaited != events.awaited.end()) add(Step::Kind::await, awaited->second);
        write_step(block.steps[step], loop);
        const auto signals = events.signals.find({number, step});
        if (signals != events.signals.end())
          for (const std::uint32_t event : signals->second) add(Step::Kind::signal, event);
      }
    add(Step::Kind::end, 0);
    return std::move(steps_);
  }

  std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  /// Queue end used by a thread block, and the number of messages so far.
  struct End {
    std::optional<schedules::QueueId> queue;
    std::uint64_t messages = 0;
  };

  void add(Step::Kind kind, std::uint32_t number, std::uint64_t bytes = 0) {
    steps_.push_back({.kind = kind, .number = number, .bytes = bytes});
  }
  /// Time of the thread block itself; does not contend for a shared core.
  void busy(double seconds) {
    if (seconds > 0.0) steps_.push_back({.kind = Step::Kind::host, .delay_s = seconds});
  }
  double seconds_for(std::uint64_t bytes) const { return static_cast<double>(bytes) / speed_.rate; }

  void write_step(const schedules::Step& step, std::uint64_t loop) {
    if (step.op == Op::nop) return;
    const std::uint64_t bytes = runtime_.loop_bytes(loop);
    if (!schedules::sends(step.op) && !schedules::receives(step.op))
      return busy(seconds_for(bytes * step.count));
    for (std::uint32_t message = 0; message < messages_of(runtime_.cut(), step.count); ++message)
      write_message(step.op, bytes * runtime_.message_chunks(step.count, message));
  }

  void write_message(Op op, std::uint64_t bytes) {
    if (schedules::sends(op)) take_slot();
    for (const std::uint64_t slice : runtime_.slices(bytes)) {
      const std::uint64_t wire = wire_bytes(slice);
      // Work is proportional to the FP32 data, including flags.
      const double work_s = seconds_for(std::max(runtime_.wire_bytes(slice), wire));
      const std::vector<std::uint64_t> pieces = pieces_of(wire);
      const double piece_s = work_s / static_cast<double>(pieces.size());
      const bool at_once = schedules::receives(op) && !runtime_.has_flags();
      if (at_once)
        for (std::size_t i = 0; i < pieces.size(); ++i)
          add(Step::Kind::wait, channels_.data(*received_.queue));
      for (const std::uint64_t piece : pieces) {
        if (schedules::receives(op) && !at_once)
          add(Step::Kind::wait, channels_.data(*received_.queue));
        busy(piece_s);
        if (schedules::sends(op)) {
          add(Step::Kind::send, channels_.data(*sent_.queue), piece);
          sent_bytes_ += piece;
        }
      }
    }
    if (schedules::receives(op)) free_slot();
  }

  std::uint64_t wire_bytes(std::uint64_t slice) const {
    return runtime_.wire_bytes(encoded_ ? encoded_(slice) : slice);
  }

  /// Waits until the queue has a free slot.
  void take_slot() {
    const auto channel = channels_.free(*sent_.queue);
    if (channel && sent_.messages >= runtime_.cut().room) add(Step::Kind::wait, *channel);
    ++sent_.messages;
  }
  /// Frees a slot, if the sender waits for it.
  void free_slot() {
    const auto channel = channels_.free(*received_.queue);
    ++received_.messages;
    if (channel && received_.messages + runtime_.cut().room <= channels_.messages(*received_.queue))
      add(Step::Kind::send, *channel, kFlagBytes);
  }

  const Runtime& runtime_;
  const BlockSpeed& speed_;
  const Encoded& encoded_;
  const Channels& channels_;
  std::vector<Step> steps_;
  End sent_;
  End received_;
  std::uint64_t sent_bytes_ = 0;
};

}  // namespace

MscclTimelines make_timelines(const Schedule& schedule, const Queues& queues,
                              const Runtime& runtime, const BlockSpeed& speed,
                              const Encoded& encoded) {
  const Channels channels(schedule, queues, runtime);
  MscclTimelines result{.timelines = {}, .offsets = channels.offsets(), .queue_bytes = {}};
  result.queue_bytes.resize(queues.all.size());
  sim::Timelines& lines = result.timelines;
  lines.streams = 2;  // with a single stream, engines ignore events
  for (const schedules::Rank& rank : schedule.ranks)
    lines.streams = std::max(lines.streams, static_cast<std::uint32_t>(rank.blocks.size()));
  lines.lists.push_back({{.kind = Step::Kind::end}});
  Writer writer(runtime, speed, encoded, channels);
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const Events events = events_of(schedule.ranks[rank]);
    lines.events = std::max(lines.events, static_cast<std::uint32_t>(events.awaited.size()));
    for (std::uint32_t block = 0; block < lines.streams; ++block) {
      if (block >= schedule.ranks[rank].blocks.size()) {
        lines.list_of.push_back(0);
        continue;
      }
      const auto sent = queues.sent_by[rank][block];
      lines.list_of.push_back(static_cast<std::uint32_t>(lines.lists.size()));
      lines.lists.push_back(writer.write(schedule.ranks[rank].blocks[block], block, events, sent,
                                         queues.received_by[rank][block]));
      if (sent) result.queue_bytes[*sent] = writer.sent_bytes();
    }
  }
  return result;
}

double estimated_steps(const Schedule& schedule, const Runtime& runtime) {
  constexpr double kPerPiece = 2.0;    // work, and a send or a wait
  constexpr double kPerMessage = 6.0;  // two slices, and flow control
  constexpr double kPerStep = 3.0;     // wait, work, signal
  const auto loops = static_cast<double>(runtime.cut().loops);
  const double pieces =
      static_cast<double>(runtime.wire_bytes(runtime.chunk_bytes())) / static_cast<double>(kPiece);
  double steps = 0.0;
  for (const schedules::Rank& rank : schedule.ranks)
    for (const ThreadBlock& block : rank.blocks)
      for (const schedules::Step& step : block.steps) {
        steps += kPerStep * loops;
        if (!schedules::sends(step.op) && !schedules::receives(step.op)) continue;
        steps += kPerMessage * loops * messages_of(runtime.cut(), step.count);
        steps += kPerPiece * pieces * step.count;
      }
  return steps;
}

}  // namespace equarx::imports
