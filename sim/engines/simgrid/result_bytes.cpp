#include "sim/engines/simgrid/result_bytes.hpp"

#include <sstream>
#include <string>
#include <utility>

#include <cereal/archives/binary.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/vector.hpp>

#include "base/exceptions/exceptions.hpp"

namespace equarx::sim {

// Found by cereal as overloads in the namespace of their types.

template <class Archive>
void serialize(Archive& archive, TransferFailure& failure) {
  archive(failure.time_s, failure.sender, failure.receiver, failure.message, failure.link);
}

template <class Archive>
void serialize(Archive& archive, CoreEvent& event) {
  archive(event.rank, event.instruction, event.work, event.start_s, event.end_s);
}

template <class Archive>
void serialize(Archive& archive, TransferEvent& event) {
  archive(event.sender, event.receiver, event.message, event.sent_s, event.arrived_s);
}

template <class Archive>
void serialize(Archive& archive, Trace& trace) {
  archive(trace.core, trace.transfers);
}

template <class Archive>
void serialize(Archive& archive, Waits& waits) {
  archive(waits.links_s, waits.senders_s, waits.queue_s);
}

template <class Archive>
void serialize(Archive& archive, TimeResult& result) {
  archive(result.time_s, result.messages, result.link_bytes, result.link_busy_s, result.core_busy_s,
          result.waits, result.marks_s, result.failure, result.trace);
}

std::vector<std::byte> to_bytes(const TimeResult& result) {
  std::ostringstream stream;
  cereal::BinaryOutputArchive archive(stream);
  archive(result);
  const auto bytes = std::as_bytes(std::span(stream.view()));
  return {bytes.begin(), bytes.end()};
}

TimeResult from_bytes(std::span<const std::byte> bytes) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  TimeResult result;
  try {
    cereal::BinaryInputArchive archive(stream);
    archive(result);
  } catch (const cereal::Exception&) {
    throw exceptions::InvariantError("the simulation result is truncated");
  }
  return result;
}

}  // namespace equarx::sim
