#include "importers/msccl/schedule.hpp"

#include <fmt/format.h>

namespace equarx::schedules {

bool receives(Op op) {
  return op == Op::receive || op == Op::receive_copy_send || op == Op::receive_reduce_send ||
         op == Op::receive_reduce_copy || op == Op::receive_reduce_copy_send;
}

bool sends(Op op) {
  return op == Op::send || op == Op::receive_copy_send || op == Op::receive_reduce_send ||
         op == Op::receive_reduce_copy_send;
}

bool reads_source(Op op) {
  return op == Op::send || op == Op::copy || op == Op::reduce || op == Op::receive_reduce_send ||
         op == Op::receive_reduce_copy || op == Op::receive_reduce_copy_send;
}

bool writes_destination(Op op) {
  return op == Op::receive || op == Op::copy || op == Op::reduce || op == Op::receive_copy_send ||
         op == Op::receive_reduce_copy || op == Op::receive_reduce_copy_send;
}

bool Step::operator==(const Step& other) const {
  return op == other.op && source == other.source && destination == other.destination &&
         count == other.count && after == other.after && signals == other.signals;
}

bool ThreadBlock::operator==(const ThreadBlock& other) const {
  return send_to == other.send_to && receive_from == other.receive_from &&
         channel == other.channel && steps == other.steps;
}

std::uint32_t memory_chunks(const Schedule& schedule, std::uint32_t rank, Memory memory) {
  const auto ranks = static_cast<std::uint32_t>(schedule.ranks.size());
  const std::uint32_t own = schedule.ranks[rank].chunks[static_cast<std::size_t>(memory)];
  if (memory == Memory::scratch || schedule.collective == Collective::custom) return own;
  const bool part = (schedule.collective == Collective::all_gather && memory == Memory::input) ||
                    (schedule.collective == Collective::reduce_scatter && memory == Memory::output);
  return part ? schedule.chunks / ranks : schedule.chunks;
}

std::uint64_t count_blocks(const Schedule& schedule) {
  std::uint64_t blocks = 0;
  for (const Rank& rank : schedule.ranks) blocks += rank.blocks.size();
  return blocks;
}

std::uint64_t count_steps(const Schedule& schedule) {
  std::uint64_t steps = 0;
  for (const Rank& rank : schedule.ranks)
    for (const ThreadBlock& block : rank.blocks) steps += block.steps.size();
  return steps;
}

std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return "allreduce";
    case Collective::all_gather: return "allgather";
    case Collective::reduce_scatter: return "reducescatter";
    case Collective::all_to_all: return "alltoall";
    case Collective::broadcast: return "broadcast";
    case Collective::reduce: return "reduce";
    case Collective::custom: return "custom";
  }
  return "custom";
}

std::string_view name(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple: return "Simple";
    case Protocol::ll: return "LL";
    case Protocol::ll128: return "LL128";
  }
  return "Simple";
}

std::string_view name(Memory memory) {
  switch (memory) {
    case Memory::input: return "i";
    case Memory::output: return "o";
    case Memory::scratch: return "s";
  }
  return "i";
}

std::string_view name(Op op) {
  switch (op) {
    case Op::nop: return "nop";
    case Op::send: return "s";
    case Op::receive: return "r";
    case Op::copy: return "cpy";
    case Op::reduce: return "re";
    case Op::receive_copy_send: return "rcs";
    case Op::receive_reduce_send: return "rrs";
    case Op::receive_reduce_copy: return "rrc";
    case Op::receive_reduce_copy_send: return "rrcs";
  }
  return "nop";
}

std::string describe(const Schedule& schedule, std::uint32_t rank, std::uint32_t block,
                     std::uint32_t step) {
  const std::uint32_t line = schedule.ranks[rank].blocks[block].steps[step].line;
  return fmt::format("step {} of thread block {} of rank {}{}", step, block, rank,
                     line == 0 ? "" : fmt::format(" (line {})", line));
}

}  // namespace equarx::schedules
