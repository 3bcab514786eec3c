#include "models/values/value_executor.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/os/parallel_for.hpp"
#include "base/os/threads.hpp"
#include "models/values/shared_amax.hpp"
#include "models/values/unit_interpreter.hpp"

namespace equarx::values {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
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

/// True if an element lies in one of the sampled windows: the first one, and those selected by the
/// golden-ratio sequence, which is even over windows at any regular distance, as units are.
bool in_sample(std::uint64_t element, std::uint64_t elements, double sample) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double window = std::floor(double{kSampleWindows} * static_cast<double>(element) /
                                   static_cast<double>(elements));
  const double position = window * kGoldenRatio;
  return position - std::floor(position) < sample;
}

/// Number of chunks that the units of a segment belong to: the length of its first axis.
std::uint32_t first_axis_length(const collectives::Program& program, std::uint32_t segment) {
  const std::vector<std::size_t>& axes = program.partition.segment(segment).axes;
  return axes.empty() ? 1 : program.grid().length(axes.front());
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
    const std::uint64_t chunk =
        partition.chunk_elements(segment, top_uncut(partition.segment(segment)));
    for (std::uint32_t coordinate = 0; coordinate < first_axis_length(program, segment);
         ++coordinate)
      for (std::uint32_t lane = first_lane; lane < end_lane; ++lane)
        visit(Unit{coordinate, lane}, partition.segment_begin(segment) + coordinate * chunk +
                                          lanes.lanes()[lane].range.begin);
    first_lane = end_lane;
  }
}

/// True if any window has elements of a unit that begins at `first`.
bool in_windows(const Windows& windows, std::uint64_t first, std::uint64_t elements) {
  return std::ranges::any_of(windows.ranges, [&](const collectives::Range& range) {
    return range.begin < first + elements && first < range.end;
  });
}

/// Returns all units, or only the units that begin in the sample, or that windows need.
std::vector<Unit> wanted_units(const collectives::Program& program, const LaneTable& lanes,
                               const ValueOptions& options) {
  std::vector<Unit> units;
  for_each_unit(program, lanes, [&](const Unit& unit, std::uint64_t first) {
    if (options.windows != nullptr &&
        !in_windows(*options.windows, first, lanes.lanes()[unit.lane].range.size()))
      return;
    if (options.sample >= 1.0 || in_sample(first, program.partition.elements(), options.sample))
      units.push_back(unit);
  });
  return units;
}

/// Elements of all distinct results, without padding.
std::uint64_t elements_of_results(const collectives::Program& program, std::uint64_t elements) {
  if (!program.counts) return result_rows(program) * elements;
  const std::vector<std::uint32_t>& rows = program.counts->rows;
  return program.counts->row_elements * std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
}

class Run {
 public:
  Run(const collectives::Program& program, const TensorSource& source, const ValueOptions& options)
      : source_(source),
        options_(options),
        rows_(result_rows(program)),
        whole_elements_(elements_of_results(program, source.elements())),
        channels_(program.channels.size()),
        lanes_(program, options.record != nullptr),
        units_(wanted_units(program, lanes_, options)),
        reports_(units_.size()) {
    if (options.feedback != nullptr) check_feedback(program);
    if (options.record != nullptr && (!collectives::adds(program.collective) || options.sample < 1))
      throw std::invalid_argument("a record requires a whole sum: AllReduce or ReduceScatter");
    if (options.windows != nullptr) {
      options.windows->values.clear();
      for (const collectives::Range& range : options.windows->ranges)
        options.windows->values.emplace_back(range.size());
    }
    check_residual(program);
    if (numerics::has_shared_scale(program.format(collectives::Phase::reduce_scatter)))
      compute_shared_scale(program);
  }

  ValueResult execute() {
    const auto threads =
        static_cast<unsigned>(std::min<std::size_t>(thread_count(), units_.size()));
    std::vector<std::unique_ptr<Worker>> workers(std::max(threads, 1U));
    os::parallel_for(units_.size(), threads, [&](std::size_t unit, unsigned thread) {
      if (!workers[thread]) workers[thread] = std::make_unique<Worker>(*this);
      compute(unit, *workers[thread]);
      if (thread == 0 && options_.watch) options_.watch(share(unit, units_.size()));
    });
    if (options_.record != nullptr) options_.record->sort();
    return collect();
  }

 private:
  /// State of one thread.
  struct Worker {
    explicit Worker(const Run& run) : interpreter(run.make_interpreter()) {}

    UnitInterpreter interpreter;
    std::vector<float> baseline;  ///< scratch
  };

  unsigned thread_count() const {
    if (options_.record != nullptr) return 1;
    return options_.threads == 0 ? default_threads() : options_.threads;
  }

  void check_feedback(const collectives::Program& program) const {
    const Feedback& feedback = *options_.feedback;
    const auto fits = [&](std::span<float> lost) { return lost.size() == source_.elements(); };
    if (feedback.size() != program.ranks() || !std::ranges::all_of(feedback, fits))
      throw std::invalid_argument("the feedback does not match the tensors' ranks or elements");
    if (options_.sample < 1.0)
      throw std::invalid_argument("feedback cannot be combined with a sample");
    if (!collectives::adds(program.collective))
      throw std::invalid_argument("feedback requires a sum: an AllReduce or a ReduceScatter");
    if (program.arithmetic != collectives::Arithmetic{})
      throw std::invalid_argument("feedback requires the default arithmetic of sums");
  }

  void check_residual(const collectives::Program& program) const {
    if (program.arithmetic.residual == collectives::Residual::none) return;
    if (options_.residual == nullptr || options_.residual->elements() != source_.elements())
      throw std::invalid_argument("the residual does not match the elements of the tensors");
  }

  /// Computes the scale shared by all ranks. Reads all of their tensors, even with a sample.
  void compute_shared_scale(const collectives::Program& program) {
    shared_amax_ = share_amax(program, source_, thread_count());
    scale_.emplace(program.format(collectives::Phase::reduce_scatter), shared_amax_->amax,
                   program.ranks());
  }

  UnitInterpreter make_interpreter() const {
    return {lanes_,
            source_,
            {.rounding_seed = options_.rounding_seed,
             .counts = options_.counts,
             .ranges = options_.contract,
             .shared = scale_ ? &*scale_ : nullptr,
             .feedback = options_.feedback,
             .residual = options_.residual,
             .record = options_.record,
             .own_codec = options_.own_codec}};
  }

  /// Computes the parts of a lane in order, so that its errors are added in the same order as at once.
  void compute(std::size_t index, Worker& worker) {
    UnitReport& report = reports_[index];
    report.sent.resize(channels_);
    report.received.resize(channels_);
    Unit unit = units_[index];
    for (const collectives::Range& part : lanes_.parts_of(lanes_.lanes()[unit.lane])) {
      unit.part = part;
      worker.interpreter.run(unit);
      add(worker.interpreter, worker.baseline, report);
    }
  }

  void add(const UnitInterpreter& unit, std::vector<float>& baseline, UnitReport& report) const {
    report.ranks_identical = report.ranks_identical && unit.ranks_identical();
    report.differing += unit.differing();
    report.ranges += unit.ranges();
    report.quantized += unit.quantized();
    report.at_largest += unit.at_largest();
    for (std::size_t channel = 0; channel < channels_; ++channel) {
      report.sent[channel] += unit.sent_bytes()[channel];
      report.received[channel] += unit.received_bytes()[channel];
    }
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::span<const float> result = unit.result(row);
      if (result.empty()) continue;  // padding only
      const std::uint64_t first = row * source_.elements() + unit.first_element();
      report.against_exact.add(result, unit.exact(row));
      if (options_.contract) count_ulps(result, unit.exact(row), baseline, report);
      report.elements += result.size();
      if (options_.baseline != nullptr)
        compare(result, first, *options_.baseline, baseline, report);
      if (options_.result != nullptr) write(result, first);
      if (options_.windows != nullptr && row == 0) copy_to_windows(result, first);
    }
  }

  void write(std::span<const float> result, std::uint64_t first) const {
    const std::uint64_t end = options_.result->elements();
    if (first >= end) return;
    options_.result->write(first,
                           result.first(std::min<std::uint64_t>(result.size(), end - first)));
  }

  /// Units have distinct elements, so that threads do not meet.
  void copy_to_windows(std::span<const float> result, std::uint64_t first) const {
    Windows& windows = *options_.windows;
    for (std::size_t i = 0; i < windows.ranges.size(); ++i) {
      const collectives::Range& range = windows.ranges[i];
      const std::uint64_t begin = std::max(range.begin, first);
      const std::uint64_t end = std::min(range.end, first + result.size());
      if (begin < end)
        std::ranges::copy(
            result.subspan(begin - first, end - begin),
            windows.values[i].begin() + static_cast<std::ptrdiff_t>(begin - range.begin));
    }
  }

  /// Compares with the exact results, rounded once to the tensor's type.
  void count_ulps(std::span<const float> result, std::span<const double> exact,
                  std::vector<float>& rounded, UnitReport& report) const {
    rounded.resize(result.size());
    numerics::round_once(source_.format(), exact, rounded);
    report.ulps += numerics::ulp_counts(source_.format(), result, rounded);
  }

  static void compare(std::span<const float> result, std::uint64_t first, const ResultTensor& other,
                      std::vector<float>& values, UnitReport& report) {
    for (const collectives::Range& part : other.written({first, first + result.size()})) {
      values.resize(part.size());
      other.read(part.begin, values);
      report.against_baseline.add(result.subspan(part.begin - first, part.size()),
                                  std::span<const float>(values));
    }
  }

  /// Merges the reports in the order of units, independent of the threads that computed them.
  ValueResult collect() const {
    numerics::ErrorAccumulator exact;
    numerics::ErrorAccumulator baseline;
    ValueResult result;
    result.sent_bytes.resize(channels_);
    result.received_bytes.resize(channels_);
    if (shared_amax_) {
      result.ranks_identical = shared_amax_->ranks_identical;
      result.sent_bytes = shared_amax_->sent_bytes;
      result.received_bytes = shared_amax_->received_bytes;
    }
    for (const UnitReport& report : reports_) {
      exact.merge(report.against_exact);
      baseline.merge(report.against_baseline);
      result.ranks_identical = result.ranks_identical && report.ranks_identical;
      result.differing += report.differing;
      result.ranges += report.ranges;
      result.ulps += report.ulps;
      result.quantized += report.quantized;
      result.at_largest += report.at_largest;
      result.computed_elements += report.elements;
      for (std::size_t channel = 0; channel < channels_; ++channel) {
        result.sent_bytes[channel] += report.sent[channel];
        result.received_bytes[channel] += report.received[channel];
      }
    }
    result.against_exact = exact.metrics();
    result.sampled_fraction = share(result.computed_elements, whole_elements_);
    if (options_.baseline != nullptr) result.against_baseline = baseline.metrics();
    return result;
  }

  const TensorSource& source_;
  const ValueOptions& options_;
  std::uint32_t rows_;
  std::uint64_t whole_elements_;  ///< of all rows
  std::size_t channels_;
  LaneTable lanes_;
  std::vector<Unit> units_;  ///< in the order of the tensor
  std::vector<UnitReport> reports_;
  std::optional<SharedAmax> shared_amax_;  ///< set if the ranks share a scale
  std::optional<numerics::SharedScale> scale_;
};

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
  return Run(program, source, options).execute();
}

std::uint64_t memory_bytes(const collectives::Program& program, unsigned threads) {
  const LaneTable lanes(program);
  std::uint64_t elements = 0;
  std::uint64_t encoded = 0;
  for (const Lane& lane : lanes.lanes()) {
    const std::uint64_t part = lanes.parts_of(lane).front().size();
    elements = std::max(elements, part);
    encoded = std::max(encoded, encoded_bytes_at_once(program, lane, part));
  }
  std::uint64_t amax = 0;
  for (const numerics::BlockFormat& format : program.formats)
    amax = std::max<std::uint64_t>(amax, numerics::scale_count(format, elements));
  const bool root_only = program.collective == collectives::Collective::broadcast;
  const std::uint64_t ranks = (elements + amax) * (root_only ? 1 : program.ranks()) * sizeof(float);
  const std::uint64_t results = elements * result_rows(program) * (sizeof(double) + sizeof(float));
  std::uint64_t units = 0;
  for_each_unit(program, lanes, [&](const Unit&, std::uint64_t) { ++units; });
  return std::min<std::uint64_t>(threads, units) *
             (ranks + results + encoded + scratch_bytes(program, elements)) +
         units * (sizeof(UnitReport) + sizeof(Unit));
}

std::uint64_t result_elements(const collectives::Program& program) {
  return result_rows(program) * program.partition.elements();
}

unsigned default_threads() { return os::default_threads(); }

}  // namespace equarx::values
