// A chunk schedule: what every thread block of every GPU sends, receives, copies and adds, chunk by chunk. Plain data, as
// MSCCL's XML has it (Azure/msccl-tools, msccl/language/ir.py).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::schedules {

/// A schedule, or a text, that is not right. One line that names the place and the remedy.
class ScheduleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a schedule claims to be. N ranks; C chunks, Schedule::chunks.
enum class Collective : std::uint8_t {
  all_reduce,      ///< every rank has C chunks, and gets their sum over all ranks
  all_gather,      ///< rank r has C / N chunks, which every rank gets as those from r C / N on
  reduce_scatter,  ///< every rank has C chunks; rank r gets the sum of those from r C / N on
  all_to_all,  ///< every rank has C chunks; those for rank s, from s C / N on, are of rank r there from r C / N on
  broadcast,  ///< rank 0 has C chunks, which every rank gets
  reduce,     ///< every rank has C chunks, and rank 0 gets their sum
  custom,     ///< something else: nothing says what is right
};

/// How the runtime sends: NCCL's protocols.
enum class Protocol : std::uint8_t { simple, ll, ll128 };

/// A buffer of a rank.
enum class Memory : std::uint8_t { input, output, scratch };
/// Values of Memory.
inline constexpr std::size_t kMemories = 3;

/// What a step does with `count` chunks. Messages to a peer arrive in the order in which they are sent.
enum class Op : std::uint8_t {
  nop,                       ///< waits for what it depends on
  send,                      ///< source -> peer
  receive,                   ///< peer -> destination
  copy,                      ///< source -> destination
  reduce,                    ///< destination += source
  receive_copy_send,         ///< peer -> destination, and on to the other peer
  receive_reduce_send,       ///< peer + source -> the other peer
  receive_reduce_copy,       ///< peer + source -> destination
  receive_reduce_copy_send,  ///< peer + source -> destination, and on to the other peer
};

/// Whether an op takes a message from a peer, sends one, reads its source, writes its destination.
bool receives(Op op);
bool sends(Op op);
bool reads_source(Op op);
bool writes_destination(Op op);

/// The first of a step's chunks in a buffer.
struct Place {
  Memory memory = Memory::input;
  std::uint32_t chunk = 0;

  bool operator==(const Place&) const = default;
};

/// A step of another thread block of the rank.
struct Dependency {
  std::uint32_t block = 0;
  std::uint32_t step = 0;

  bool operator==(const Dependency&) const = default;
};

/// One step of a thread block.
struct Step {
  Op op = Op::nop;
  Place source{};                                  ///< of ops that read one
  Place destination{};                             ///< of ops that write one
  std::uint32_t count = 0;                         ///< chunks; at least 1 but of nop
  std::optional<Dependency> after = std::nullopt;  ///< is done before this step begins
  bool signals = false;                            ///< says when it is done: some step waits for it
  std::uint32_t line = 0;                          ///< of the text, from 1; 0: of none

  bool operator==(const Step& other) const;  ///< wherever they stand in a text
};

/// Steps that are done one after the other, beside the rank's other thread blocks.
struct ThreadBlock {
  std::optional<std::uint32_t> send_to = std::nullopt;       ///< rank
  std::optional<std::uint32_t> receive_from = std::nullopt;  ///< rank
  std::uint32_t channel = 0;  ///< (peer, channel) is a queue of messages
  std::vector<Step> steps = {};
  std::uint32_t line = 0;

  bool operator==(const ThreadBlock& other) const;
};

/// A GPU.
struct Rank {
  std::array<std::uint32_t, kMemories> chunks = {};  ///< by Memory: of which steps may use so many
  std::vector<ThreadBlock> blocks = {};

  bool operator==(const Rank&) const = default;
};

/// A schedule of N ranks.
struct Schedule {
  std::string name = {};
  Collective collective = Collective::custom;
  Protocol protocol = Protocol::simple;
  std::uint32_t chunks = 1;  ///< that the whole buffer is cut into, see Collective: nchunksperloop
  bool in_place = false;     ///< written for the result in the input's place
  bool out_of_place = false;
  std::uint64_t min_bytes = 0;  ///< of the whole buffer, for which the runtime takes it
  std::uint64_t max_bytes = 0;  ///< 0: no limit
  std::vector<Rank> ranks = {};

  bool operator==(const Schedule&) const = default;
};

/// Chunks of a rank's buffer as the collective has it; of scratch, and of custom schedules, as many as the rank says.
std::uint32_t memory_chunks(const Schedule& schedule, std::uint32_t rank, Memory memory);

/// Steps of all ranks together.
std::uint64_t count_steps(const Schedule& schedule);
/// Thread blocks of all ranks together.
std::uint64_t count_blocks(const Schedule& schedule);

/// As MSCCL calls them: "allreduce", "Simple", "i", "rrcs".
std::string_view name(Collective collective);
std::string_view name(Protocol protocol);
std::string_view name(Memory memory);
std::string_view name(Op op);

/// A step for people: "step 3 of thread block 2 of rank 0 (line 17)".
std::string describe(const Schedule& schedule, std::uint32_t rank, std::uint32_t block,
                     std::uint32_t step);

}  // namespace equarx::schedules
