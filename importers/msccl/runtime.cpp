#include "importers/msccl/runtime.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"

namespace equarx::schedules {
namespace {

using exceptions::UserError;

// ROCm/rccl: src/include/device.h, src/include/msccl/msccl_struct.h, src/device/prims_simple.h.
constexpr std::uint64_t kSteps = 8;       // NCCL_STEPS: parts of a queue's buffer
constexpr std::uint64_t kChunkSteps = 4;  // MSCCL_CHUNKSTEPS: parts per message
constexpr std::uint64_t kSlices = 2;      // MSCCL_CHUNKSTEPS / MSCCL_SLICESTEPS: slices per message
constexpr std::uint64_t kThreads = 256;   // NCCL_MAX_NTHREADS
constexpr std::uint64_t kMostChunksAtOnce = 71;      // MSCCL_MAX_COUNT - 1
constexpr std::uint64_t kSliceElements = 16;         // granularity of slices
constexpr std::uint64_t kElement = 4;                // bytes: FP32
constexpr std::uint64_t kSlicesInLeast = 32;         // largest slice / smallest slice
constexpr std::uint64_t kLlStep = 8 * kThreads * 8;  // per thread 8 lines with 8 bytes of data each
constexpr std::uint64_t kLl128Step =
    28 * kThreads * 8 / 16 * 15;                 // per thread 28 words of 8 bytes, 15 of 16 data
constexpr std::uint64_t kMostLoops = 1U << 16U;  // MSCCL_MAX_ITER

std::uint64_t divide_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

std::uint64_t piece_of(Protocol protocol, std::uint64_t buffer) {
  switch (protocol) {
    case Protocol::ll: return kLlStep;
    case Protocol::ll128: return kLl128Step;
    case Protocol::simple: break;
  }
  return buffer / kSteps * kChunkSteps;
}

}  // namespace

Runtime::Runtime(const Schedule& schedule, std::uint64_t bytes, std::uint64_t buffer)
    : protocol_(schedule.protocol),
      chunk_bytes_(bytes / schedule.chunks),
      piece_bytes_(piece_of(schedule.protocol, buffer)) {
  if (bytes == 0 || bytes % (kElement * schedule.chunks) != 0)
    throw UserError(
        "", fmt::format("{} bytes do not divide into {} chunks of FP32; use a multiple of {}",
                        bytes, schedule.chunks, kElement * schedule.chunks));
  cut_.loops = divide_up(chunk_bytes_, piece_bytes_);
  if (cut_.loops > kMostLoops)
    throw UserError("",
                    fmt::format("chunks of {} bytes need {} loops, but MSCCL runs at most {}; use "
                                "fewer bytes, or more chunks",
                                chunk_bytes_, cut_.loops, kMostLoops));
  cut_.chunks_at_once = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(piece_bytes_ / chunk_bytes_, 1, kMostChunksAtOnce));
  cut_.room = static_cast<std::uint32_t>(has_flags() ? kSteps : kSteps / kChunkSteps);
  least_slice_ = std::max(piece_bytes_ / kSlices / kSlicesInLeast, kElement);
}

std::uint64_t Runtime::loop_bytes(std::uint64_t loop) const {
  return std::min(piece_bytes_, chunk_bytes_ - loop * piece_bytes_);
}

std::uint32_t Runtime::message_chunks(std::uint32_t count, std::uint32_t message) const {
  return std::min(cut_.chunks_at_once, count - message * cut_.chunks_at_once);
}

std::vector<std::uint64_t> Runtime::slices(std::uint64_t message_bytes) const {
  if (has_flags()) return {message_bytes};
  constexpr std::uint64_t kGrain = kSliceElements * kElement;
  const std::uint64_t slice =
      std::max(divide_up(message_bytes, kGrain * kSlices) * kGrain, least_slice_);
  std::vector<std::uint64_t> slices;
  for (std::uint64_t at = 0; at < message_bytes; at += slice)
    slices.push_back(std::min(slice, message_bytes - at));
  return slices;
}

std::uint64_t Runtime::wire_bytes(std::uint64_t payload) const {
  switch (protocol_) {
    case Protocol::ll: return 2 * payload;
    case Protocol::ll128: return divide_up(payload * 16, 15);
    case Protocol::simple: break;
  }
  return payload;
}

}  // namespace equarx::schedules
