// The program of a collective: the instruction stream of every chip. Plain data, written once for
// all ranks; input of the value executor (models/values), the time executor (sim) and the traffic
// count.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/collectives/arithmetic.hpp"
#include "models/collectives/partition.hpp"
#include "models/collectives/rank_graph.hpp"
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

/// Inputs and outputs of the ranks. V is the tensor, with one shard per rank.
enum class Collective : std::uint8_t {
  all_reduce,      ///< every rank has a V and gets the sum of all
  reduce_scatter,  ///< every rank has a V and gets its own shard of the sum
  all_gather,      ///< every rank has its own shard and gets V
  all_to_all,      ///< every rank has a V; shard s of rank r becomes shard r of rank s
  broadcast,       ///< rank 0 has a V and every rank gets it
  /// Every rank has a V and gets the weighted mean of its own and its neighbours'.
  neighbor_average,
};

/// True if ranks sum their inputs (not for an AllGather, which distributes existing sums).
bool adds(Collective collective);

/// True if every rank has a result of its own, of the size of V.
bool differs_by_rank(Collective collective);

/// The phase of a collective.
enum class Phase : std::uint8_t {
  reduce_scatter,
  all_gather,
  // Hierarchical collectives, whose slices (or nodes) are connected by a network, use the phases
  // above within slices, and:
  reduce_scatter_between,  ///< between corresponding ranks of all slices
  all_gather_between,
};
/// Values of Phase.
inline constexpr std::size_t kPhases = 4;

/// True if the phase distributes existing sums.
bool gathers(Phase phase);

/// Content of a buffer or message.
enum class Content : std::uint8_t {
  payload,  ///< the encoded elements of one microshard
  scales,   ///< the encoded scales of one minishard
  amax,     ///< an amax in FP32, exchanged between ranks with a shared scale
};

/// Encoded bytes, written once and possibly sent many times, verbatim. Every rank has its own.
struct Buffer {
  Content content = Content::payload;
  Phase phase = Phase::reduce_scatter;  ///< determines the format
  Tile tile{};                          ///< relative to the rank that writes it
  std::uint64_t bytes = 0;              ///< size per rank
  BufferId scales = 0;  ///< for a payload in a format with scales: the buffer of its scales
};

/// The ports that a message occupies between chips on a switch.
enum class Ports : std::uint8_t {
  both,       ///< the sender's and the receiver's
  senders,    ///< a term of a sum in the switch, which answers when it has the terms of all ranks
  receivers,  ///< a copy of what the switch multiplies: a sum, or data of one rank
};

/// A FIFO queue from every rank to the rank at an offset.
struct Channel {
  Offset offset = 0;
  std::string name;  ///< for display: "forward"
  /// If not both, every rank has the messages of all ranks when one has arrived, and the offset
  /// only tells pairs of ranks apart.
  Ports ports = Ports::both;
};

/// The rank that wrote a buffer: the rank at an offset, or, with `gathered`, all ranks that differ
/// from it along these axes only, or rank 0.
struct Origin {
  Offset offset = 0;  ///< from the rank that sends or reads the bytes to their writer
  AxisSet gathered = 0;
  bool root = false;  ///< written by rank 0, for all senders and readers

  bool operator==(const Origin&) const = default;
};

/// One transfer by every sending rank, at the same position of their instruction streams.
struct Message {
  BufferId buffer = 0;
  ChannelId channel = 0;
  Origin origin{};  ///< relative to the sender
  bool synchronises =
      false;  ///< neighbours synchronise before it: the first of a quantized ring step
  /// Bytes that occupy the same port in addition to the buffer.
  std::uint64_t extra_bytes = 0;
  /// Sends RowCounts::first_rows of the buffer's tile only, if the program has them.
  bool first_rows = false;
};

/// Operation of an instruction.
enum class Op : std::uint8_t {
  find_amax,    ///< amax of a tile of the rank's tensor, `cast_from`, into the rank's amax
  encode_amax,  ///< the rank's current amax -> `buffer`
  merge_amax,   ///< the rank's amax = max(the rank's amax, `buffer`)
  cast,  ///< a tile of the rank's tensor, `cast_from` -> the tensor's type, with the shared scale
  find_scales,    ///< amax of a tile's values, into the scale groups of its minishard
  encode_scales,  ///< amax of a minishard -> its scales, into `buffer`
  quantize,  ///< a tile's values -> `buffer`, with the minishard's scales if the format has any
  /// The values already are in the wire format and are sent from their location, without work.
  lend,
  scale,  ///< values = values x the rank's own weight in the program's graph, in FP32
  /// Values = local values + decoded `buffer`, in FP32; with `finds_scales`, also amax. With a graph
  /// the decoded values are multiplied by the weight of their rank before.
  accumulate,
  add,  ///< the same, rounded to the wire format, for rings without scales
  /// Values = sum of the decoded `buffer`s of all ranks of its origin, in the order of ranks, in
  /// FP32.
  reduce,
  /// The same, added in the switch (multimem.ld_reduce with .acc::f32; PTX ISA, 9.7.9.14), without
  /// work. Of a rank's own shard, if ranks have shards: `buffer` and its siblings() hold the terms.
  switch_reduce,
  /// `reduce` over the parts of this rank's shard from all ranks of its origin: `buffer`, which
  /// holds the own part, and its siblings() for the other shards; plain terms are added in the wire
  /// format.
  reduce_shards,
  /// Values = decoded `buffer`, in FP32, for the rank's own chunk, as input of a further stage.
  decode,
  dequantize,  ///< decoded `buffer` -> the result, in the tensor's type
  deliver,     ///< `buffer` is in the tensor's type and was received in place, without work
  store,       ///< local values -> the result, in the tensor's type
  /// Values = values + the residual; with `finds_scales`, also amax.
  add_residual,
  add_residual_after,  ///< result = result + the residual, in the tensor's type
  cast_back,           ///< a tile of the result, in the tensor's type -> `cast_from`
  barrier,             ///< wait until the neighbours have room for a minishard
  send,                ///< start an asynchronous DMA of `message`; the core continues
  wait,                ///< block the core until `message` has arrived
};

/// Location and type of a tile's local values.
enum class Operand : std::uint8_t {
  input,         ///< the rank's own part of the tensor, in the tensor's type
  sums,          ///< partial sums in FP32
  rounded_sums,  ///< partial sums in the ReduceScatter's format, as `add` leaves them
};

/// The ranks that execute an instruction, first to last.
struct RankRange {
  Rank first = 0;
  Rank last = std::numeric_limits<Rank>::max();

  bool contains(Rank rank) const { return first <= rank && rank <= last; }
  bool operator==(const RankRange&) const = default;
};

/// Where a rank casts its input and its result, if it does.
enum class Casts : std::uint8_t {
  fused,     ///< inside the operations that write the input and read the result: no time here
  separate,  ///< in operations of their own, whose operands and results are in HBM
};

/// One instruction of a rank's stream.
struct Instruction {
  Op op = Op::send;
  Phase phase = Phase::reduce_scatter;
  Operand operand = Operand::input;
  bool finds_scales = false;  ///< for `accumulate` and `add_residual`
  Tile tile{};                ///< for vector work, deliveries and barriers
  BufferId buffer = 0;        ///< if it writes or reads one: not for casts, store, barrier, ...
  Origin origin{};            ///< of a buffer that is read, relative to the reader
  MessageId message = 0;      ///< for send and wait
  RankRange ranks{};
  /// Streams of a rank run concurrently, like the thread blocks of a kernel, and share its core.
  /// Each executes its instructions in order, and waits for buffers that another has to fill.
  std::uint32_t stream = 0;
};

/// Rows that the ranks of an AllToAll exchange if pairs differ: an AllToAllV, as MPI_Alltoallv and
/// torch.distributed.all_to_all_single with split sizes.
struct RowCounts {
  std::uint64_t row_elements = 0;   ///< elements of a row, > 0
  std::vector<std::uint32_t> rows;  ///< by sender x ranks + receiver
  /// Rows of `rows` that no receiver before in the same node gets too: of a row for several ranks of
  /// a node, one copy crosses the network. Empty if all rows differ.
  std::vector<std::uint32_t> first_rows = {};

  bool operator==(const RowCounts&) const = default;
};

/// The largest number of rows of a pair.
std::uint32_t most_rows(const RowCounts& counts);

/// A tile and the rank that writes it.
struct WrittenTile {
  Tile tile{};  ///< relative to the writer
  Rank writer = 0;
  bool first_rows = false;  ///< of its rows only RowCounts::first_rows
};

/// A collective over the ranks of a grid.
struct Program {
  Collective collective = Collective::all_reduce;
  Partition partition;
  numerics::ElementFormat tensor_format = numerics::ElementFormat::bf16;
  numerics::BlockFormat formats[kPhases];  ///< wire formats by phase, for the phases that it has
  std::vector<Channel> channels;
  std::vector<Buffer> buffers;
  std::vector<Message> messages;
  std::vector<Instruction> instructions;
  /// The type of the ranks' tensors and of the result, if it differs from tensor_format: they are
  /// cast before and after (casts.hpp), by a scale shared by all ranks if the format has one
  /// (shared_scale.hpp).
  std::optional<numerics::ElementFormat> cast_from = std::nullopt;
  /// True if casts also rotate values in blocks of 32 per tile, and rotate results back. Only for
  /// sums in FP32, whose operands and results are all rotated (models/numerics/codec/hadamard.hpp).
  bool rotated = false;
  Casts casts = Casts::separate;  ///< of programs with cast_from
  Arithmetic arithmetic{};        ///< of sums (with_arithmetic.hpp)
  /// Rows by pair of ranks (with_counts.hpp); every shard of the partition has room for the most.
  /// Tiles end with the rows of their pair, and ranks skip the instructions of empty ones.
  std::optional<RowCounts> counts = std::nullopt;
  /// Of a NeighborAverage: the ranks that exchange messages.
  std::optional<RankGraph> graph = std::nullopt;

  const RankGrid& grid() const { return partition.grid(); }
  std::uint32_t ranks() const { return grid().ranks(); }
  const numerics::BlockFormat& format(Phase phase) const {
    return formats[static_cast<std::size_t>(phase)];
  }
  /// The tile of an instruction, or of the message that it sends or waits for.
  const Tile& tile(const Instruction& instruction) const;
  /// Bytes of a message; with counts, the most of any sender.
  std::uint64_t message_bytes(MessageId message) const;
  /// Bytes of the message of one sender.
  std::uint64_t message_bytes(MessageId message, Rank sender) const;
  /// Bytes of the buffer of one writer.
  std::uint64_t buffer_bytes(BufferId buffer, Rank writer) const;
  /// The elements of a tile that exist for its writer, within the chunk: all without counts.
  Range microshard(const WrittenTile& written) const;
  Range minishard(const WrittenTile& written) const;
  /// The tile that an instruction of `rank` writes, reads, sends or awaits, not cut to its rows.
  WrittenTile written(const Instruction& instruction, Rank rank) const;
  /// True if the rank executes the instruction, and its tile is not empty.
  bool runs(const Instruction& instruction, Rank rank) const;
  /// The rank that wrote what `reader` reads or sends.
  Rank writer_of(const Origin& origin, Rank reader) const {
    return origin.root ? 0 : grid().move(reader, origin.offset);
  }
  /// A message's origin, relative to the receiver.
  Origin received(const Message& message) const;
};

/// Returns the buffers of the same microshard of the shards of all ranks along `axes`, by
/// shard_offset, in the order of RankGrid::offsets(). They are created in this order, for
/// `reduce_shards`, starting at `buffer`, which is for the own shard.
/// @throws std::logic_error if one is missing
std::vector<BufferId> siblings(const Program& program, BufferId buffer, AxisSet axes);

/// Number of streams of each rank, at least 1.
std::uint32_t stream_count(const Program& program);

/// True if the instruction is work of the vector unit on a tile.
bool is_vector_work(Op op);

/// True for `send` and `wait`.
bool is_transfer(Op op);

/// True if the instruction belongs to the computation of the shared scale, rather than to a tile of
/// the tensor.
bool finds_shared_scale(const Program& program, const Instruction& instruction);

std::string_view name(Collective collective);
std::string_view name(Op op);
std::string_view name(Phase phase);

/// Describes an instruction: "wait for the payload of segment 0, minishard 3, microshard 0, sent
/// forward (ReduceScatter, instruction 17)".
std::string describe(const Program& program, InstructionId instruction);

/// Describes the message of a wait: the same without "wait for".
std::string describe_awaited(const Program& program, InstructionId wait);

/// Describes the content of a message: "the payload of segment 0, minishard 3, microshard 0".
std::string describe_cargo(const Program& program, MessageId message);

}  // namespace equarx::collectives
