#include "sim/simgrid/engine.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/progress.hpp"
#include "sim/simgrid/child_process.hpp"
#include "sim/simgrid/module.hpp"

namespace equarx::sim {
namespace {

class Writer {
 public:
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    append(values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { append(&value, sizeof value); }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }

  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  void get(std::vector<T>& values) {
    std::uint64_t size = 0;
    get(size);
    values.resize(size);
    extract(values.data(), size * sizeof(T));
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { extract(&value, sizeof value); }

 private:
  void extract(void* data, std::size_t size) {
    if (size > bytes_.size()) throw SimulationError("the simulation result is truncated");
    if (size == 0) return;  // empty vectors have no storage
    std::memcpy(data, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }

  std::span<const std::byte> bytes_;
};

/// Calls visit(member) for all members of a result but its failure, in their order on the wire.
template <typename Result, typename Visit>
void for_each_member(Result& result, Visit visit) {
  visit(result.time_s);
  visit(result.messages);
  visit(result.link_bytes);
  visit(result.link_busy_s);
  visit(result.core_busy_s);
  visit(result.waits);
  visit(result.marks_s);
  visit(result.trace.core);
  visit(result.trace.transfers);
}

/// Serializes a result for the parent process.
std::vector<std::byte> to_bytes(const TimeResult& result) {
  Writer writer;
  for_each_member(result, [&](const auto& member) { writer.put(member); });
  writer.put(result.failure.has_value());
  writer.put(result.failure.value_or(TransferFailure{}));
  return std::move(writer).take();
}

/// @throws SimulationError if bytes are missing.
TimeResult from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  TimeResult result;
  for_each_member(result, [&](auto& member) { reader.get(member); });
  bool failed = false;
  reader.get(failed);
  TransferFailure failure;
  reader.get(failure);
  if (failed) result.failure = failure;
  return result;
}

}  // namespace

TimeResult simulate_on_simgrid(const Timelines& timelines, const Machine& machine,
                               const Describe& describe, const SimulationOptions& options) {
  const SimgridModule& module = load_simgrid();
  const std::size_t count = timelines.list_of.size();
  const SharedMemory memory(sizeof(Progress) + count * sizeof(Progress::List));
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* lists = reinterpret_cast<Progress::List*>(progress + 1);
  std::uninitialized_value_construct_n(lists, count);
  progress->streams = timelines.streams;
  progress->lists = std::span(lists, count);

  const auto simulate = [&] {
    TimeResult result;
    module.simulate({timelines, machine, options, *progress, result});
    return to_bytes(result);
  };
  std::function<void()> on_poll;
  if (options.watch)
    on_poll = [&] {
      options.watch(std::atomic_ref(progress->received).load(std::memory_order_relaxed));
    };
  const ChildOutcome outcome = run_in_child(simulate, on_poll);
  if (!outcome.succeeded)
    throw SimulationError(explain(describe, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
