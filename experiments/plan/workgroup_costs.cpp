#include "experiments/plan/workgroup_costs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/collectives/divide_up.hpp"

namespace equarx::plan {
namespace {

using collectives::Instruction;
using collectives::Op;
using collectives::Origin;
using collectives::Program;

constexpr std::uint64_t kBitsPerByte = 8;

/// By buffer, the copies that its writer makes: for every message, and for its own result.
std::vector<std::uint32_t> copies_of_buffers(const Program& program, collectives::Rank writer) {
  if (program.graph)
    return std::vector(program.buffers.size(),
                       static_cast<std::uint32_t>(program.graph->neighbors(writer).size()));
  std::vector<std::uint32_t> copies(program.buffers.size());
  for (const collectives::Message& message : program.messages)
    if (message.origin == Origin{}) ++copies[message.buffer];
  for (const Instruction& instruction : program.instructions)
    if ((instruction.op == Op::deliver || instruction.op == Op::dequantize) &&
        instruction.origin == Origin{})
      ++copies[instruction.buffer];
  for (std::uint32_t& count : copies) count = std::max(count, 1U);
  return copies;
}

/// Elements and scales that an instruction writes to or reads from wire buffers, with repetitions.
struct Access {
  double elements = 0.0;
  double scale_bytes = 0.0;
};

class WorkgroupCosts {
 public:
  WorkgroupCosts(const Program& program, const hardware::Chip& chip,
                 const hardware::Workgroups& workgroups, collectives::Rank rank)
      : program_(program), chip_(chip), rank_(rank), copies_(copies_of_buffers(program, rank)) {
    const std::uint64_t bits =
        program.partition.elements() * numerics::element_bits(program.tensor_format);
    const std::uint64_t rows = workgroups.rows(bits / kBitsPerByte);
    const std::uint64_t at_once = stream_count(program) > 1 ? 1 : workgroups.per_unit;
    rows_ = static_cast<double>(collectives::divide_up(rows, at_once));
  }

  /// std::nullopt if the instruction accesses no wire bytes.
  std::optional<Access> access(const Instruction& instruction) const {
    const auto elements =
        static_cast<double>(program_.microshard(program_.written(instruction, rank_)).size());
    switch (instruction.op) {
      case Op::find_scales: return Access{};  // in registers, while encoding
      case Op::encode_scales:
        return Access{.scale_bytes = copies(instruction) * buffer_bytes(instruction)};
      case Op::quantize:
      case Op::lend: return Access{.elements = copies(instruction) * elements};
      case Op::accumulate:
      case Op::add:
      case Op::decode: return Access{.elements = elements};
      case Op::reduce:
      case Op::reduce_shards:
      case Op::dequantize:
      case Op::deliver:
        return Access{.elements = elements * program_.grid().span(instruction.origin.gathered)};
      default: return std::nullopt;
    }
  }

  double core_s(const Instruction& instruction, const Access& access) const {
    const double bytes =
        access.elements * numerics::element_bits(wire(instruction).element) / double{kBitsPerByte} +
        access.scale_bytes;
    return hardware::wire_access_time_s(chip_, bytes, is_encoded(instruction));
  }

  double least_s(const Instruction& instruction, const Access& access) const {
    if (!is_encoded(instruction)) return 0.0;
    const auto elements = static_cast<double>(program_.partition.elements());
    return hardware::tile_time_s(chip_, access.elements * rows_ / elements);
  }

  bool awaits_payload(const Instruction& instruction) const {
    return instruction.op == Op::wait &&
           program_.buffers[program_.messages[instruction.message].buffer].content ==
               collectives::Content::payload;
  }

 private:
  const numerics::BlockFormat& wire(const Instruction& instruction) const {
    return program_.format(instruction.phase);
  }
  bool is_encoded(const Instruction& instruction) const {
    return wire(instruction).scaled || wire(instruction).element != program_.tensor_format;
  }
  double copies(const Instruction& instruction) const { return copies_[instruction.buffer]; }
  double buffer_bytes(const Instruction& instruction) const {
    return static_cast<double>(program_.buffer_bytes(instruction.buffer, rank_));
  }

  const Program& program_;
  const hardware::Chip& chip_;
  collectives::Rank rank_;
  std::vector<std::uint32_t> copies_;
  double rows_ = 1.0;  ///< of tiles, one after another
};

}  // namespace

void run_in_workgroups(const Program& program, const hardware::Chip& chip,
                       const hardware::Workgroups& workgroups, collectives::Rank rank,
                       sim::Costs& costs) {
  const WorkgroupCosts own(program, chip, workgroups, rank);
  costs.least_s.assign(program.instructions.size(), 0.0);
  for (std::size_t id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (program.counts && !program.runs(instruction, rank)) continue;
    if (own.awaits_payload(instruction)) costs.least_s[id] = chip.peer_read_time.value;
    const std::optional<Access> access = own.access(instruction);
    if (!access) continue;
    costs.core_s[id] = own.core_s(instruction, *access);
    costs.least_s[id] = own.least_s(instruction, *access);
  }
}

}  // namespace equarx::plan
