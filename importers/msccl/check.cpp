#include "importers/msccl/check.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/queues.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

void check_chunks(const Schedule& schedule) {
  if (schedule.ranks.empty()) throw UserError("", "has no ranks");
  const bool in_parts = schedule.collective == Collective::all_gather ||
                        schedule.collective == Collective::reduce_scatter ||
                        schedule.collective == Collective::all_to_all;
  if (in_parts && schedule.chunks % schedule.ranks.size() != 0)
    throw UserError(
        "", fmt::format("nchunksperloop=\"{}\" is not a multiple of the {} ranks, as {} requires",
                        schedule.chunks, schedule.ranks.size(), name(schedule.collective)));
}

void check_range(const Schedule& schedule, std::uint32_t rank, std::uint32_t block,
                 std::uint32_t number, const Location& location) {
  const Step& step = schedule.ranks[rank].blocks[block].steps[number];
  const std::uint64_t end = std::uint64_t{location.chunk} + step.count;
  const std::uint32_t chunks = memory_chunks(schedule, rank, location.memory);
  if (end > chunks)
    throw UserError(describe(schedule, rank, block, number),
                    fmt::format("uses chunks {} to {} of \"{}\", which has {}", location.chunk,
                                end - 1, name(location.memory), chunks));
}

void check_dependency(const Schedule& schedule, std::uint32_t rank, std::uint32_t block,
                      std::uint32_t number) {
  const std::vector<ThreadBlock>& blocks = schedule.ranks[rank].blocks;
  const Dependency& after = *blocks[block].steps[number].after;
  const auto refuse = [&](const std::string& why) {
    throw UserError(
        describe(schedule, rank, block, number),
        fmt::format("waits for step {} of thread block {} {}", after.step, after.block, why));
  };
  if (after.block >= blocks.size() || after.step >= blocks[after.block].steps.size())
    return refuse("of its rank, which does not exist");
  if (after.block == block && after.step >= number)
    return refuse("which does not precede it, and would wait forever");
  if (!blocks[after.block].steps[after.step].signals)
    refuse("whose hasdep is 0, so it never signals completion; set it to 1");
}

/// Returns the indices of the steps whose operation satisfies `takes_part`.
std::vector<std::uint32_t> numbers_of(const ThreadBlock& block, bool (*takes_part)(Op)) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < block.steps.size(); ++number)
    if (takes_part(block.steps[number].op)) numbers.push_back(number);
  return numbers;
}

void check_queue(const Schedule& schedule, const Queue& queue) {
  const ThreadBlock& sender = schedule.ranks[queue.sender.rank].blocks[queue.sender.block];
  const ThreadBlock& receiver = schedule.ranks[queue.receiver.rank].blocks[queue.receiver.block];
  const auto sent = numbers_of(sender, sends);
  const auto received = numbers_of(receiver, receives);
  for (std::size_t i = 0; i < std::min(sent.size(), received.size()); ++i) {
    const std::uint32_t delivered = sender.steps[sent[i]].count;
    const std::uint32_t expected = receiver.steps[received[i]].count;
    if (delivered != expected)
      throw UserError(
          describe(schedule, queue.sender.rank, queue.sender.block, sent[i]),
          fmt::format(
              "sends {} chunks, but {}, which receives them, expects {}; the counts must match",
              delivered, describe(schedule, queue.receiver.rank, queue.receiver.block, received[i]),
              expected));
  }
  if (sent.size() != received.size())
    throw UserError(
        "", fmt::format("from rank {} to rank {} on channel {}, {} messages are sent but {} "
                        "received; the counts must match",
                        queue.sender.rank, queue.receiver.rank, queue.channel, sent.size(),
                        received.size()));
}

}  // namespace

void check(const Schedule& schedule) {
  check_chunks(schedule);
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank)
    for (std::uint32_t block = 0; block < schedule.ranks[rank].blocks.size(); ++block) {
      const std::vector<Step>& steps = schedule.ranks[rank].blocks[block].steps;
      for (std::uint32_t number = 0; number < steps.size(); ++number) {
        const Step& step = steps[number];
        if (reads_source(step.op)) check_range(schedule, rank, block, number, step.source);
        if (writes_destination(step.op))
          check_range(schedule, rank, block, number, step.destination);
        if (step.after) check_dependency(schedule, rank, block, number);
      }
    }
  for (const Queue& queue : find_queues(schedule).all) check_queue(schedule, queue);
}

}  // namespace equarx::schedules
