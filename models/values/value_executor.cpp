#include "models/values/value_executor.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "base/os/threads.hpp"
#include "models/values/value_run.hpp"

namespace equarx::values {
namespace {

/// Number of tiles that start before `end`, for a tile `begin` elements into each chunk of `chunk`
/// elements.
std::uint64_t tiles_before(std::uint64_t end, std::uint64_t chunk, std::uint64_t begin) {
  return end > begin ? (end - begin - 1) / chunk + 1 : 0;
}

/// Encoded bytes of the buffers of a lane, for every rank that produces them.
std::uint64_t encoded_bytes(const collectives::Program& program, const Lane& lane) {
  const collectives::Partition& partition = program.partition;
  std::uint64_t total = 0;
  for (const collectives::BufferId id : lane.buffers) {
    const collectives::Buffer& buffer = program.buffers[id];
    const bool scales = buffer.content == collectives::Content::scales;
    const std::uint64_t chunk = partition.chunk_elements(lane.segment, buffer.tile.uncut);
    const std::uint64_t begin =
        (scales ? partition.minishard(buffer.tile) : partition.microshard(buffer.tile)).begin;
    const std::uint64_t tiles =
        tiles_before(lane.range.end, chunk, begin) - tiles_before(lane.range.begin, chunk, begin);
    const bool root_only = program.collective == collectives::Collective::broadcast;
    const std::uint64_t producers =
        root_only ? 1 : program.ranks() / (partition.segment_elements(lane.segment) / chunk);
    const numerics::BlockFormat& format = program.format(buffer.phase);
    std::uint64_t bytes =
        format.rule == numerics::ScaleRule::own
            ? numerics::held_bytes(format, partition.microshard(buffer.tile).size())
            : buffer.bytes;
    if (scales)  // plus the decoded values
      bytes +=
          numerics::scale_count(format, partition.minishard(buffer.tile).size()) * sizeof(float);
    total += tiles * producers * bytes;
  }
  return total;
}

/// Encoded bytes that one thread holds: of the largest part of a lane.
std::uint64_t encoded_bytes_at_once(const collectives::Program& program, const Lane& lane,
                                    std::uint64_t part) {
  const std::uint64_t all = encoded_bytes(program, lane);
  const std::uint64_t elements = lane.range.size();
  return part == elements ? all : (all * part + elements - 1) / elements;
}

/// Elements of ranks, and encoded bytes, that one thread holds.
struct Held {
  std::uint64_t elements = 0;
  std::uint64_t encoded = 0;
};

/// Largest for the units of a lane.
Held held(const collectives::Program& program, const LaneTable& lanes, std::uint32_t lane) {
  const std::uint64_t part = first_part(lanes.lanes()[lane]).size();
  if (!reads_on_demand(program, part)) {
    const bool root_only = program.collective == collectives::Collective::broadcast;
    return {part * (root_only ? 1 : program.ranks()),
            encoded_bytes_at_once(program, lanes.lanes()[lane], part)};
  }
  UnitGeometry geometry(lanes);
  geometry.start({0, lane, first_part(lanes.lanes()[lane])});
  const LaneUses uses = uses_of(geometry);
  return {part * uses.most_ranks, uses.most_bytes};
}

/// Scratch bytes for one piece while it is decoded, summed by rank, or rounded to the wire format.
/// `most`: elements of the largest unit.
std::uint64_t scratch_bytes(const collectives::Program& program, std::uint64_t most) {
  std::uint64_t decoded = 0;
  std::uint64_t summed = 0;
  std::uint64_t rounded = 0;
  for (const collectives::Instruction& instruction : program.instructions) {
    if (is_transfer(instruction.op)) continue;
    const std::uint64_t elements =
        std::min(most, program.partition.microshard(instruction.tile).size());
    switch (instruction.op) {
      case collectives::Op::dequantize:
      case collectives::Op::deliver:
      case collectives::Op::store: decoded = std::max(decoded, elements * sizeof(float)); break;
      case collectives::Op::reduce:
      case collectives::Op::reduce_shards:
        summed = std::max(summed, elements * sizeof(float));
        break;
      case collectives::Op::add:
        rounded = std::max<std::uint64_t>(
            rounded, numerics::payload_bytes(program.format(instruction.phase), elements));
        break;
      default: break;
    }
  }
  return decoded + summed + rounded;
}

/// The units of a run; if these are few, as in a sample of large ones, their parts, which threads
/// compute side by side.
class UnitTasks {
 public:
  /// `in_parts`: if it may compute parts
  UnitTasks(ValueRun& run, bool in_parts) : run_(run), ended_(run.units()) {
    const unsigned threads = run.threads();
    const bool few = in_parts && threads > 1 && run.units() < std::size_t{kFew} * threads;
    for (std::size_t unit = 0; unit < run.units(); ++unit)
      if (!few || !add_parts(unit)) tasks_.push_back({unit, {}});
  }

  std::size_t size() const { return tasks_.size(); }

  /// Waits for the parts of the unit before this one, which other threads compute, to add results in
  /// the same order.
  void compute(std::size_t number, const std::function<ValueRun::Worker&()>& worker_of) {
    const Task& task = tasks_[number];
    if (!task.part) return run_.compute(task.unit, worker_of());
    try {
      ValueRun::Worker& worker = worker_of();
      run_.begin(task.unit, *task.part, worker);
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return failed_ || ended_[task.unit] == task.number; });
      if (failed_) return;
      run_.end(task.unit, *task.part, worker);
      ++ended_[task.unit];
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failed_ = true;
      changed_.notify_all();
      throw;
    }
    changed_.notify_all();
  }

 private:
  /// Units per thread below which they are computed in parts.
  static constexpr unsigned kFew = 4;

  struct Task {
    std::size_t unit = 0;
    std::optional<LanePart> part;
    std::size_t number = 0;  ///< of the part within the unit
  };

  /// Adds the parts of a unit. Returns false if one worker has to compute them all.
  bool add_parts(std::size_t unit) {
    const std::vector<LanePart> parts = run_.parts_of(unit);
    if (!run_.is_separate(parts.front())) return false;
    for (std::size_t number = 0; number < parts.size(); ++number)
      tasks_.push_back({unit, parts[number], number});
    return true;
  }

  ValueRun& run_;
  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> ended_;  ///< parts by unit
  bool failed_ = false;
};

}  // namespace

Windows Windows::spread(std::uint64_t elements, std::uint64_t count, std::uint64_t size) {
  if (elements <= count * size) return {{{0, elements}}, {}};
  Windows windows;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = (2 * i + 1) * elements / (2 * count) - size / 2;
    windows.ranges.push_back({begin, begin + size});
  }
  return windows;
}

double ValueResult::clipped_fraction() const {
  return share(quantized.clipped, quantized.elements);
}

double ValueResult::flushed_fraction() const {
  return share(quantized.flushed, quantized.elements);
}

double ValueResult::at_largest_fraction() const { return share(at_largest, computed_elements); }

ValueResult execute(const collectives::Program& program, const TensorSource& source,
                    const ValueOptions& options) {
  ValueRun run(program, source, options);
  UnitTasks tasks(run, options.sample < 1.0);
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(run.threads(), tasks.size()));
  std::vector<std::unique_ptr<ValueRun::Worker>> workers(std::max(threads, 1U));
  os::parallel_for(tasks.size(), threads, [&](std::size_t task, unsigned thread) {
    tasks.compute(task, [&]() -> ValueRun::Worker& {
      if (!workers[thread]) workers[thread] = run.make_worker(source);
      return *workers[thread];
    });
    if (thread == 0 && options.watch) options.watch(share(task, tasks.size()));
  });
  if (options.record != nullptr) options.record->sort();
  return run.result();
}

MemoryNeed memory_need(const collectives::Program& program) {
  const LaneTable lanes(program);
  std::uint64_t elements = 0;
  std::uint64_t gathered = 0;  // elements of lanes computed by columns
  Held most;
  std::vector<std::uint64_t> known(program.partition.segments());  // largest part, by segment
  for (std::uint32_t lane = 0; lane < lanes.lanes().size(); ++lane) {
    const std::uint64_t part = first_part(lanes.lanes()[lane]).size();
    if (lanes.lanes()[lane].columns < numerics::kRegisterElements)
      gathered = std::max(gathered, lanes.lanes()[lane].range.size());
    std::uint64_t& in_segment = known[lanes.lanes()[lane].segment];
    // Smaller lanes of a segment take less.
    if (reads_on_demand(program, part) && part <= in_segment) continue;
    in_segment = std::max(in_segment, part);
    elements = std::max(elements, part);
    const Held here = held(program, lanes, lane);
    most.elements = std::max(most.elements, here.elements);
    most.encoded = std::max(most.encoded, here.encoded);
  }
  std::uint64_t amax = 0;
  for (const numerics::BlockFormat& format : program.formats)
    amax = std::max<std::uint64_t>(amax, numerics::scale_count(format, elements));
  const bool root_only = program.collective == collectives::Collective::broadcast;
  const std::uint64_t ranks =
      (most.elements + amax * (root_only ? 1 : program.ranks())) * sizeof(float);
  const std::uint64_t results =
      (elements * result_rows(program) + gathered) * (sizeof(double) + sizeof(float));
  std::uint64_t units = 0;
  for_each_unit(program, lanes, [&](const Unit&, std::uint64_t) { ++units; });
  return {.of_thread = ranks + results + most.encoded + scratch_bytes(program, elements),
          .shared = units * (sizeof(UnitReport) + sizeof(PlacedUnit)),
          .units = units};
}

std::uint64_t result_elements(const collectives::Program& program) {
  return result_rows(program) * program.partition.elements();
}

unsigned default_threads() { return os::default_threads(); }

}  // namespace equarx::values
