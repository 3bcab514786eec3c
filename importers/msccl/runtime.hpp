// Splitting of a schedule by MSCCL's runtime for a given size: loops, messages and slices.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/msccl/queues.hpp"
#include "importers/msccl/schedule.hpp"
#include "importers/msccl/walk.hpp"

namespace equarx::schedules {

/// Default NCCL_BUFFSIZE: queue capacity of the Simple protocol, in bytes. The capacities of LL and
/// LL128 follow from their 256 threads.
inline constexpr std::uint64_t kSimpleBuffer = std::uint64_t{1} << 22U;

/// Execution parameters of a schedule for a given buffer size (ROCm/rccl: mscclSetupCount() and
/// mscclRunInterpreter()). A message holds at most one piece, the part of a queue filled at once: a
/// larger chunk takes several loops, smaller chunks share a message.
class Runtime {
 public:
  /// @param bytes   size of the whole buffer: a multiple of 4 Schedule::chunks
  /// @param buffer  queue capacity of the Simple protocol: at least 4 KiB
  /// @throws exceptions::UserError if `bytes` does not divide evenly or needs too many loops
  Runtime(const Schedule& schedule, std::uint64_t bytes, std::uint64_t buffer = kSimpleBuffer);

  const Cut& cut() const { return cut_; }
  std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  /// Bytes of a chunk processed in a loop.
  std::uint64_t loop_bytes(std::uint64_t loop) const;
  /// Chunks in the given message of a step of `count` chunks.
  std::uint32_t message_chunks(std::uint32_t count, std::uint32_t message) const;
  /// Bytes of each slice of a message. Receivers of the Simple protocol wait for whole slices.
  std::vector<std::uint64_t> slices(std::uint64_t message_bytes) const;
  /// True for LL and LL128, whose receivers consume flagged lines as they arrive, not slice by
  /// slice.
  bool has_flags() const { return protocol_ != Protocol::simple; }
  /// Bytes on the wire for a payload. Flags take 4 of every 8 bytes in LL and 8 of every 128 in
  /// LL128.
  std::uint64_t wire_bytes(std::uint64_t payload) const;

 private:
  Protocol protocol_;
  Cut cut_;
  std::uint64_t chunk_bytes_;
  std::uint64_t piece_bytes_;      ///< part of a queue filled at once
  std::uint64_t least_slice_ = 0;  ///< bytes; Simple protocol only
};

}  // namespace equarx::schedules
