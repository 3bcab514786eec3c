// The program of a collective: what every chip does, in order. Plain data, written once for all
// ranks and read by the value executor (models/values), the time executor (sim) and the traffic
// count.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/collectives/partition.hpp"
#include "models/collectives/rank_grid.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {

/// Index of a Buffer within its program.
using BufferId = std::uint32_t;
/// Index of a Channel within its program.
using ChannelId = std::uint32_t;
/// Index of a Message within its program.
using MessageId = std::uint32_t;
/// Index of an Instruction within its program.
using InstructionId = std::uint32_t;

/// What ranks have, and what they get. V is the tensor, its shards one for each rank.
enum class Collective : std::uint8_t {
  all_reduce,      ///< every rank has a V, and gets the sum of all
  reduce_scatter,  ///< every rank has a V, and gets its own shard of the sum
  all_gather,      ///< every rank has its own shard, and gets V
  all_to_all,      ///< every rank has a V; shard s of rank r becomes shard r of rank s
  broadcast,       ///< rank 0 has a V, and every rank gets it
};

/// Whether ranks add what they bring; an AllGather hands out sums that others have made.
bool adds(Collective collective);

/// The part of a collective that something belongs to.
enum class Phase : std::uint8_t {
  reduce_scatter,
  all_gather,
  // Of a hierarchical collective, whose slices (or nodes) are joined by a network: within them as above, and
  reduce_scatter_between,  ///< between the ranks at one place of all slices
  all_gather_between,
};
/// Values of Phase.
inline constexpr std::size_t kPhases = 4;

/// Whether sums that are there already are told to others.
bool gathers(Phase phase);

/// What a buffer holds, and a message carries.
enum class Content : std::uint8_t {
  payload,  ///< the encoded elements of one microshard
  scales,   ///< the encoded scales of one minishard
  amax,     ///< an amax in FP32 on its way to all ranks, which share a scale
};

/// Encoded bytes that are made once and may be sent on many times, verbatim. Every rank makes its own.
struct Buffer {
  Content content = Content::payload;
  Phase phase = Phase::reduce_scatter;  ///< whose format it is in
  Tile tile{};                          ///< as named by the rank that makes it
  std::uint64_t bytes = 0;              ///< of one rank's
  BufferId scales = 0;  ///< of a payload whose format has scales: the buffer that holds them
};

/// A queue from every rank to the one at an offset. Messages arrive in the order in which they are sent.
struct Channel {
  Offset offset = 0;
  std::string name;  ///< for people: "forward"
};

/// Whose bytes of a buffer: those that the rank at an offset made, or, with axes, those of all ranks
/// that differ from it along these axes only; or those of rank 0.
struct Origin {
  Offset offset = 0;  ///< to the maker, from the rank that sends or reads them
  AxisSet gathered = 0;
  bool root = false;  ///< rank 0 made them, whoever sends or reads them

  bool operator==(const Origin&) const = default;
};

/// One transfer by every rank that sends it. All send it at the same place of their list.
struct Message {
  BufferId buffer = 0;
  ChannelId channel = 0;
  Origin origin{};  ///< as seen by the sender
  bool synchronises =
      false;  ///< neighbours synchronise before it: the first of a quantized ring step
};

/// What an instruction does.
enum class Op : std::uint8_t {
  find_amax,    ///< amax of a tile of the rank's tensor, `cast_from`, into the rank's
  encode_amax,  ///< the rank's amax, of all that it knows, -> `buffer`
  merge_amax,   ///< the rank's amax = the larger one of it and that in `buffer`
  cast,  ///< a tile of the rank's tensor, `cast_from`, -> the same in the tensor's type, with the scale that ranks share
  find_scales,    ///< amax of a tile's values into the scale groups of its minishard
  encode_scales,  ///< amax of a minishard -> its scales, into `buffer`
  quantize,  ///< a tile's values -> `buffer`, with the minishard's scales if the format has them
  lend,      ///< the values already lie in the wire format: they are sent from there, without work
  accumulate,  ///< values = local values + decoded `buffer`, in FP32; if `finds_scales`, amax
               ///< too
  add,         ///< the same, rounded to the wire format, as a ring without scales sums
  reduce,      ///< values = sum of decoded `buffer`s of all ranks of its origin, by rank, in FP32
  reduce_shards,  ///< the same of what each rank of its origin has made of its part of this rank's shard: of `buffer`,
  ///< which is made of the own part, and its siblings() of the other shards; plain terms are added
  ///< in the wire format
  decode,      ///< values = decoded `buffer`, in FP32, of the rank's own chunk, for a further stage
  dequantize,  ///< decoded `buffer` -> the result, in the tensor's type
  deliver,     ///< `buffer` is in the tensor's type and was received in place, without work
  store,       ///< local values -> the result, in the tensor's type
  cast_back,   ///< a tile of the result, in the tensor's type -> the same in `cast_from`
  barrier,     ///< wait until the neighbours have room for a minishard
  send,        ///< start an asynchronous DMA of `message`; the core goes on
  wait,        ///< block the core until `message` has arrived
};

/// Where vector work finds the local values of a tile.
enum class Operand : std::uint8_t {
  input,         ///< the rank's own part of the tensor, in the tensor's type
  sums,          ///< partial sums in FP32
  rounded_sums,  ///< partial sums in the ReduceScatter's format, as `add` leaves them
};

/// The ranks that execute an instruction: first to last.
struct RankRange {
  Rank first = 0;
  Rank last = std::numeric_limits<Rank>::max();

  bool contains(Rank rank) const { return first <= rank && rank <= last; }
  bool operator==(const RankRange&) const = default;
};

/// One step of a rank's list: what it does, on which tile, with which buffer and message.
struct Instruction {
  Op op = Op::send;
  Phase phase = Phase::reduce_scatter;
  Operand operand = Operand::input;
  bool finds_scales = false;  ///< of `accumulate`
  Tile tile{};                ///< of vector work, deliveries and barriers
  BufferId buffer = 0;        ///< of what makes or reads one: not of casts, store, barrier, ...
  Origin origin{};            ///< of a buffer that is read, as seen by the reader
  MessageId message = 0;      ///< of send and wait
  RankRange ranks{};
};

/// A collective over the ranks of a grid.
struct Program {
  Collective collective = Collective::all_reduce;
  Partition partition;
  numerics::ElementFormat tensor_format = numerics::ElementFormat::bf16;
  numerics::BlockFormat formats[kPhases];  ///< on the wire, by phase; of phases that it has
  std::vector<Channel> channels;
  std::vector<Buffer> buffers;
  std::vector<Message> messages;
  std::vector<Instruction> instructions;
  /// The type of the ranks' tensors and of the result, if it is not tensor_format: then they are cast
  /// before and after (casts.hpp), by a scale that all ranks agree on if the format has one (shared_scale.hpp).
  std::optional<numerics::ElementFormat> cast_from = std::nullopt;
  /// Casts also rotate values by blocks of 32 of each tile, and what they cast back, back: of sums in FP32, whose
  /// operands and results are all rotated (models/numerics/codec/hadamard.hpp).
  bool rotated = false;

  const RankGrid& grid() const { return partition.grid(); }
  std::uint32_t ranks() const { return grid().ranks(); }
  const numerics::BlockFormat& format(Phase phase) const {
    return formats[static_cast<std::size_t>(phase)];
  }
  /// The tile of an instruction, or of what it sends or waits for.
  const Tile& tile(const Instruction& instruction) const;
  std::uint64_t message_bytes(MessageId message) const;
  /// A message's origin, as seen by the rank that receives it.
  Origin received(const Message& message) const;
};

/// The buffers of the same microshard of the shards of all ranks along `axes`, by shard_offset, in the order of
/// RankGrid::offsets(). They are made in this order, for `reduce_shards`, from `buffer` on, which is of the own shard.
/// @throws std::logic_error if one is not there
std::vector<BufferId> siblings(const Program& program, BufferId buffer, AxisSet axes);

/// Whether the instruction is work of the vector unit on a tile.
bool is_vector_work(Op op);

/// Whether it is `send` or `wait`.
bool is_transfer(Op op);

/// Whether it is about the scale that all ranks agree on, rather than about a tile of the tensor.
bool finds_shared_scale(const Program& program, const Instruction& instruction);

std::string_view name(Collective collective);
std::string_view name(Op op);
std::string_view name(Phase phase);

/// An instruction in words, for people who look for the place: "wait for the payload of segment 0,
/// minishard 3, microshard 0, sent forward (ReduceScatter, instruction 17)".
std::string describe(const Program& program, InstructionId instruction);

/// What a wait waits for, in words: the same without "wait for".
std::string describe_awaited(const Program& program, InstructionId wait);

/// What a message carries, in words: "the payload of segment 0, minishard 3, microshard 0".
std::string describe_cargo(const Program& program, MessageId message);

}  // namespace equarx::collectives
