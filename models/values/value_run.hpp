// One program on tensors: its units, computed in any order and on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/lanes.hpp"
#include "models/values/shared_amax.hpp"
#include "models/values/unit_interpreter.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::values {

/// Part of a whole; 0 of nothing.
inline double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Calls `visit` with every unit and its first element, in the order of the tensor.
template <typename Visit>
void for_each_unit(const collectives::Program& program, const LaneTable& lanes, Visit visit) {
  const collectives::Partition& partition = program.partition;
  std::uint32_t first_lane = 0;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    std::uint32_t end_lane = first_lane;
    while (end_lane < lanes.lanes().size() && lanes.lanes()[end_lane].segment == segment)
      ++end_lane;
    const std::vector<std::size_t>& axes = partition.segment(segment).axes;
    const std::uint32_t chunks = axes.empty() ? 1 : program.grid().length(axes.front());
    const std::uint64_t chunk =
        partition.chunk_elements(segment, top_uncut(partition.segment(segment)));
    for (std::uint32_t coordinate = 0; coordinate < chunks; ++coordinate)
      for (std::uint32_t lane = first_lane; lane < end_lane; ++lane)
        visit(Unit{coordinate, lane, {}}, partition.segment_begin(segment) + coordinate * chunk +
                                              lanes.lanes()[lane].range.begin);
    first_lane = end_lane;
  }
}

/// Results of a unit.
struct UnitReport {
  numerics::ErrorAccumulator against_exact;
  numerics::ErrorAccumulator against_baseline;
  bool ranks_identical = true;
  std::uint64_t differing = 0;
  RangeCounts ranges;
  numerics::UlpCounts ulps;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
  numerics::QuantizeCounts quantized;
  std::uint64_t at_largest = 0;
  std::uint64_t elements = 0;
};

/// A unit and its first element in the tensor.
struct PlacedUnit {
  Unit unit;
  std::uint64_t begin = 0;
};

/// Execution of a program: each unit once, then result().
class ValueRun {
 public:
  /// State of one thread.
  struct Worker {
    UnitInterpreter interpreter;
    std::vector<float> scratch;
    numerics::AlignedVector<float> result;  ///< of a lane whose columns are computed in parts
    numerics::AlignedVector<double> exact;
  };

  /// Keeps references to all. Computes the scale that ranks share, if any.
  ValueRun(const collectives::Program& program, const TensorSource& source,
           const ValueOptions& options);

  /// Number of units to compute.
  std::size_t units() const { return units_.size(); }
  /// Elements of the tensor in a unit, including padding. Ascending.
  collectives::Range elements_of(std::size_t unit) const;
  /// Threads for this run alone.
  unsigned threads() const;

  /// `source`: the inputs as this thread reads them; kept as a reference.
  std::unique_ptr<Worker> make_worker(const TensorSource& source) const;
  /// The parts of a unit, within it, in the order in which they must be computed; of a unit that is
  /// larger than the sample, the first ones only.
  std::vector<LanePart> parts_of(std::size_t unit) const;
  /// Computes a part of a unit, the first ones first, so that errors are added in the same order as
  /// at once. Threads that compute units concurrently have different workers.
  /// `results`: guards the tables of results that other runs use at the same time; may be null.
  void compute(std::size_t unit, const LanePart& part, Worker& worker,
               std::mutex* results = nullptr);
  /// Computes all parts of a unit.
  void compute(std::size_t unit, Worker& worker) {
    for (const LanePart& part : parts_of(unit)) compute(unit, part, worker);
  }
  /// True if a part and the others of its unit can be computed by different workers: their results need
  /// no common buffer.
  bool is_separate(const LanePart& part) const;
  /// The two halves of compute(): begin() computes a part, in any order and concurrently; end() adds its
  /// results, the first ones first.
  void begin(std::size_t unit, const LanePart& part, Worker& worker) const;
  void end(std::size_t unit, const LanePart& part, Worker& worker, std::mutex* results = nullptr);
  /// Merges the units in the order of the tensor, independent of the threads that computed them.
  ValueResult result() const;

 private:
  void check_feedback() const;
  void check_residual() const;
  void compute_shared_scale();
  /// True if columns may be left out, because their places do not matter.
  bool may_leave_columns() const;
  void add_counts(const UnitInterpreter& unit, UnitReport& report) const;
  void add_rows(Worker& worker, std::mutex* results, UnitReport& report);
  void add_columns(const LanePart& part, Worker& worker, std::mutex* results, UnitReport& report);
  void add_elements(std::span<const float> result, std::span<const double> exact,
                    std::uint64_t first, Worker& worker, std::mutex* results, UnitReport& report);
  void compare(std::span<const float> result, std::uint64_t first, std::vector<float>& values,
               std::mutex* results, UnitReport& report) const;
  void write(std::span<const float> result, std::uint64_t first, std::mutex* results) const;
  void copy_to_windows(std::span<const float> result, std::uint64_t first) const;
  void count_ulps(std::span<const float> result, std::span<const double> exact,
                  std::vector<float>& rounded, UnitReport& report) const;

  const collectives::Program& program_;
  const TensorSource& source_;
  const ValueOptions& options_;
  std::uint32_t rows_;
  std::uint64_t whole_elements_;  ///< of all rows
  std::size_t channels_;
  std::uint64_t most_of_unit_;  ///< elements of a unit to compute, unless it has a single part
  LaneTable lanes_;
  std::vector<PlacedUnit> units_;  ///< in the order of the tensor
  std::vector<UnitReport> reports_;
  std::optional<SharedAmax> shared_amax_;  ///< set if the ranks share a scale
  std::optional<numerics::SharedScale> scale_;
};

}  // namespace equarx::values
