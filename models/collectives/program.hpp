// The program of a collective: what every chip does, in order. Plain data, written once for all
// ranks and read by the value executor (models/values), the time executor (sim) and the traffic
// count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/numerics/block_format.hpp"

namespace equarx::collectives {

/// Index of a Buffer, Message or Instruction within its program.
using BufferId = std::uint32_t;
using MessageId = std::uint32_t;
using InstructionId = std::uint32_t;

enum class Phase : std::uint8_t { reduce_scatter, all_gather };
inline constexpr std::size_t kPhases = 2;

/// A part of the tensor as a rank names it: its shard is `shard_offset` away from the rank's own.
struct Tile {
  std::uint32_t shard_offset = 0;  ///< shard = (rank + shard_offset) mod ranks, 0 <= offset < ranks
  std::uint32_t segment = 0;
  std::uint32_t minishard = 0;
  std::uint32_t microshard = 0;  ///< does not count for scales, which belong to the whole minishard

  bool operator==(const Tile&) const = default;
};

enum class Content : std::uint8_t {
  payload,  ///< the encoded elements of one microshard
  scales,   ///< the encoded scales of one minishard
};

/// Encoded bytes that are made once and may be sent on many times, verbatim.
struct Buffer {
  Content content = Content::payload;
  Phase phase = Phase::reduce_scatter;  ///< whose format it is in
  Tile tile{};                          ///< as named by the rank that makes it
  std::uint64_t bytes = 0;
  BufferId scales = 0;  ///< of a payload whose format has scales: the buffer that holds them
};

/// Neighbours on the ring of ranks.
enum class Direction : std::uint8_t {
  forward,   ///< to rank + 1
  backward,  ///< to rank - 1
};
inline constexpr std::size_t kDirections = 2;

/// One transfer by every rank to its neighbour in a direction. All ranks send it at the same place
/// of their list, and receive the one from the opposite neighbour.
struct Message {
  BufferId buffer = 0;
  Direction direction = Direction::forward;
  bool synchronises =
      false;  ///< neighbours synchronise before it: the first of a quantized ring step
};

enum class Op : std::uint8_t {
  find_scales,    ///< abs-max of a tile's values into the scale groups of its minishard
  encode_scales,  ///< abs-max of a minishard -> its scales, into `buffer`
  quantize,  ///< a tile's values -> `buffer`, with the minishard's scales if the format has them
  lend,      ///< the values already lie in the wire format: they are sent from there, without work
  accumulate,  ///< values = local values + decoded `buffer`, in FP32; if `finds_scales`, abs-max
               ///< too
  add,         ///< the same, rounded to the wire format, as a ring without scales sums
  dequantize,  ///< decoded `buffer` -> the result, in the tensor's type
  deliver,     ///< `buffer` is in the tensor's type and was received in place, without work
  barrier,     ///< wait until the neighbours have room for a minishard
  send,        ///< start an asynchronous DMA of `message`; the core goes on
  wait,        ///< block the core until `message` has arrived
};

/// Where vector work finds the local values of a tile.
enum class Operand : std::uint8_t {
  input,  ///< the rank's own part of the tensor, in the tensor's type
  sums,   ///< partial sums in FP32
};

struct Instruction {
  Op op = Op::send;
  Phase phase = Phase::reduce_scatter;
  Operand operand = Operand::input;
  bool finds_scales = false;  ///< of `accumulate`
  Tile tile{};                ///< of vector work and barriers
  BufferId buffer = 0;        ///< of all but find_scales, send and wait
  MessageId message = 0;      ///< of send and wait
};

/// A collective over `ranks` ranks on a ring.
struct Program {
  std::uint32_t ranks = 0;
  Partition partition;
  numerics::ElementFormat tensor_format = numerics::ElementFormat::bf16;
  numerics::BlockFormat formats[kPhases];  ///< on the wire, by phase
  std::vector<Buffer> buffers;
  std::vector<Message> messages;
  std::vector<Instruction> instructions;

  const numerics::BlockFormat& format(Phase phase) const {
    return formats[static_cast<std::size_t>(phase)];
  }
  std::uint64_t message_bytes(MessageId message) const {
    return buffers[messages[message].buffer].bytes;
  }
};

/// The rank that `rank` sends to.
std::uint32_t neighbour(std::uint32_t rank, Direction direction, std::uint32_t ranks);
Direction opposite(Direction direction);

/// Whether the instruction is work of the vector unit on a tile.
bool is_vector_work(Op op);

std::string_view name(Op op);
std::string_view name(Phase phase);
std::string_view name(Direction direction);

/// An instruction in words, for people who look for the place: "wait for the payload of segment 0,
/// minishard 3, microshard 0 from backward (ReduceScatter, instruction 17)".
std::string describe(const Program& program, InstructionId instruction);

}  // namespace equarx::collectives
