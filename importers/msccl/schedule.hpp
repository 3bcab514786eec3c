// Chunk schedules: the sends, receives, copies and reductions of every thread block of every GPU,
// chunk by chunk. Plain data in the structure of MSCCL's XML (Azure/msccl-tools,
// msccl/language/ir.py).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::schedules {

/// Collective that a schedule implements, for N ranks and C = Schedule::chunks chunks.
enum class Collective : std::uint8_t {
  all_reduce,      ///< every rank has C chunks and gets their sum over all ranks
  all_gather,      ///< rank r has C / N chunks; every rank gets them as chunks r C / N onwards
  reduce_scatter,  ///< every rank has C chunks; rank r gets the sum of chunks r C / N onwards
  all_to_all,      ///< chunks s C / N onwards of rank r become chunks r C / N onwards of rank s
  broadcast,       ///< rank 0 has C chunks, and every rank gets them
  reduce,          ///< every rank has C chunks; rank 0 gets their sum
  custom,          ///< anything else: the result cannot be checked
};

/// NCCL's transfer protocols.
enum class Protocol : std::uint8_t { simple, ll, ll128 };

/// A buffer of a rank.
enum class Memory : std::uint8_t { input, output, scratch };
/// Number of values of Memory.
inline constexpr std::size_t kMemories = 3;

/// Operation of a step on `count` chunks. Messages to a peer arrive in the order sent.
enum class Op : std::uint8_t {
  nop,                       ///< only waits for its dependency
  send,                      ///< source -> peer
  receive,                   ///< peer -> destination
  copy,                      ///< source -> destination
  reduce,                    ///< destination += source
  receive_copy_send,         ///< peer -> destination, and on to the other peer
  receive_reduce_send,       ///< peer + source -> the other peer
  receive_reduce_copy,       ///< peer + source -> destination
  receive_reduce_copy_send,  ///< peer + source -> destination, and on to the other peer
};

bool receives(Op op);            ///< takes a message from a peer
bool sends(Op op);               ///< sends a message to a peer
bool reads_source(Op op);        ///< reads Step::source
bool writes_destination(Op op);  ///< writes Step::destination

/// First chunk of a step in a buffer.
struct Location {
  Memory memory = Memory::input;
  std::uint32_t chunk = 0;

  bool operator==(const Location&) const = default;
};

/// A step of a thread block of the same rank.
struct Dependency {
  std::uint32_t block = 0;
  std::uint32_t step = 0;

  bool operator==(const Dependency&) const = default;
};

/// One step of a thread block.
struct Step {
  Op op = Op::nop;
  Location source{};                               ///< used if reads_source(op)
  Location destination{};                          ///< used if writes_destination(op)
  std::uint32_t count = 0;                         ///< chunks; at least 1 except for nop
  std::optional<Dependency> after = std::nullopt;  ///< completes before this step begins
  bool signals = false;                            ///< signals its completion to dependent steps
  std::uint32_t line = 0;                          ///< line of the source text, from 1; 0 if none

  bool operator==(const Step& other) const;  ///< ignores `line`
};

/// Steps executed in order, concurrently with the rank's other thread blocks.
struct ThreadBlock {
  std::optional<std::uint32_t> send_to = std::nullopt;       ///< rank
  std::optional<std::uint32_t> receive_from = std::nullopt;  ///< rank
  std::uint32_t channel = 0;  ///< (peer, channel) identifies a message queue
  std::vector<Step> steps = {};
  std::uint32_t line = 0;

  bool operator==(const ThreadBlock& other) const;
};

/// A GPU.
struct Rank {
  std::array<std::uint32_t, kMemories> chunks = {};  ///< declared chunks per buffer, by Memory
  std::vector<ThreadBlock> blocks = {};

  bool operator==(const Rank&) const = default;
};

/// A schedule of N ranks.
struct Schedule {
  std::string name = {};
  Collective collective = Collective::custom;
  Protocol protocol = Protocol::simple;
  std::uint32_t chunks = 1;  ///< nchunksperloop: chunks of the whole buffer, see Collective
  bool in_place = false;     ///< supports input and output in the same buffer
  bool out_of_place = false;
  std::uint64_t min_bytes = 0;  ///< smallest whole buffer for which the runtime selects it
  std::uint64_t max_bytes = 0;  ///< largest such buffer; 0: no limit
  std::vector<Rank> ranks = {};

  bool operator==(const Schedule&) const = default;
};

/// Returns the chunks of a rank's buffer: as the collective defines them, or as declared by the
/// rank for scratch and for custom schedules.
std::uint32_t memory_chunks(const Schedule& schedule, std::uint32_t rank, Memory memory);

/// Number of steps over all ranks.
std::uint64_t count_steps(const Schedule& schedule);
/// Number of thread blocks over all ranks.
std::uint64_t count_blocks(const Schedule& schedule);

/// MSCCL's names, such as "allreduce", "Simple", "i", "rrcs".
std::string_view name(Collective collective);
std::string_view name(Protocol protocol);
std::string_view name(Memory memory);
std::string_view name(Op op);

/// Describes a step for messages: "step 3 of thread block 2 of rank 0 (line 17)".
std::string describe(const Schedule& schedule, std::uint32_t rank, std::uint32_t block,
                     std::uint32_t step);

}  // namespace equarx::schedules
