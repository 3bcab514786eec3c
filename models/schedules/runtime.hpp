// How MSCCL's runtime cuts a schedule for a size: into loops, messages, and slices of these.
#pragma once

#include <cstdint>
#include <vector>

#include "models/schedules/queues.hpp"
#include "models/schedules/schedule.hpp"
#include "models/schedules/walk.hpp"

namespace equarx::schedules {

/// Default of NCCL_BUFFSIZE: what a queue of the Simple protocol has room for, in bytes. Those of LL and LL128 follow from
/// their 256 threads.
inline constexpr std::uint64_t kSimpleBuffer = std::uint64_t{1} << 22U;

/// What the runtime makes of a schedule for a whole buffer of some bytes (ROCm/rccl: mscclSetupCount(), and
/// mscclRunInterpreter()). Each chunk goes in as many loops as it has pieces that a queue takes at once, and as many
/// chunks go in one message as fit into such a piece.
class Runtime {
 public:
  /// @param bytes   of the whole buffer (Schedule::chunks): a multiple of these and of 4
  /// @param buffer  of a queue of the Simple protocol: at least 4 KiB
  /// @throws ScheduleError for bytes that do not divide, and for more loops than are simulated
  Runtime(const Schedule& schedule, std::uint64_t bytes, std::uint64_t buffer = kSimpleBuffer);

  const Cut& cut() const { return cut_; }
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  /// Of a chunk in a loop.
  std::uint64_t loop_bytes(std::uint64_t loop) const;
  /// Chunks of a message of a step of `count`.
  std::uint32_t message_chunks(std::uint32_t count, std::uint32_t message) const;
  /// Bytes of each slice of a message: receivers of the Simple protocol wait for a whole one.
  std::vector<std::uint64_t> slices(std::uint64_t message_bytes) const;
  /// Whether receivers take data as it comes, each line with a flag, rather than slice by slice.
  bool has_flags() const { return protocol_ != Protocol::simple; }
  /// Bytes that cross links for so many of payload: with the flags of LL, 4 of 8 bytes, and LL128, 8 of 128.
  std::uint64_t wire_bytes(std::uint64_t payload) const;

 private:
  Protocol protocol_;
  Cut cut_;
  std::uint64_t chunk_bytes_;
  std::uint64_t piece_bytes_;      ///< of a chunk that go in a loop
  std::uint64_t least_slice_ = 0;  ///< of the Simple protocol
};

}  // namespace equarx::schedules
