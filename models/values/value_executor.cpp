#include "models/values/value_executor.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "models/os/threads.hpp"
#include "models/values/shared_amax.hpp"
#include "models/values/unit_interpreter.hpp"

namespace equarx::values {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What is kept of a unit.
struct UnitReport {
  numerics::ErrorAccumulator against_exact;
  numerics::ErrorAccumulator against_baseline;
  bool ranks_identical = true;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
  numerics::QuantizeCounts quantized;
  std::uint64_t at_largest = 0;
  std::uint64_t elements = 0;
};

/// Whether an element lies in one of the windows that make up the sample: the first, and those that the
/// golden-ratio sequence picks, which is even for windows at any regular distance, as units are.
bool in_sample(std::uint64_t element, std::uint64_t elements, double sample) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double window = std::floor(double{kSampleWindows} * static_cast<double>(element) /
                                   static_cast<double>(elements));
  const double place = window * kGoldenRatio;
  return place - std::floor(place) < sample;
}

/// Chunks that the units of a segment lie in: one for each place along its first axis.
std::uint32_t places(const collectives::Program& program, std::uint32_t segment) {
  const std::vector<std::size_t>& axes = program.partition.segment(segment).axes;
  return axes.empty() ? 1 : program.grid().length(axes.front());
}

/// Calls `visit` with every unit, in the order of the tensor, and the first of its elements.
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
    for (std::uint32_t place = 0; place < places(program, segment); ++place)
      for (std::uint32_t lane = first_lane; lane < end_lane; ++lane)
        visit(Unit{place, lane},
              partition.segment_begin(segment) + place * chunk + lanes.lanes()[lane].range.begin);
    first_lane = end_lane;
  }
}

/// All units, or those that begin in the sample.
std::vector<Unit> sampled_units(const collectives::Program& program, const LaneTable& lanes,
                                double sample) {
  std::vector<Unit> units;
  for_each_unit(program, lanes, [&](const Unit& unit, std::uint64_t first) {
    if (sample >= 1.0 || in_sample(first, program.partition.elements(), sample))
      units.push_back(unit);
  });
  return units;
}

class Run {
 public:
  Run(const collectives::Program& program, const TensorSource& source, const ValueOptions& options)
      : source_(source),
        options_(options),
        rows_(result_rows(program)),
        channels_(program.channels.size()),
        lanes_(program),
        units_(sampled_units(program, lanes_, options.sample)),
        reports_(units_.size()) {
    if (options.feedback != nullptr) check_feedback(program);
    if (numerics::has_shared_scale(program.format(collectives::Phase::reduce_scatter)))
      agree(program);
  }

  ValueResult execute() {
    const auto threads = static_cast<unsigned>(std::min<std::size_t>(wanted(), reports_.size()));
    {
      std::vector<std::jthread> others;
      os::add_threads(others, std::max(threads, 1U) - 1, [this] { work({}); });
      work(options_.watch);
    }
    if (failure_) std::rethrow_exception(failure_);
    return collect();
  }

 private:
  unsigned wanted() const { return options_.threads == 0 ? default_threads() : options_.threads; }

  void check_feedback(const collectives::Program& program) const {
    const Feedback& feedback = *options_.feedback;
    const auto fits = [&](std::span<float> lost) { return lost.size() == source_.elements(); };
    if (feedback.size() != program.ranks() || !std::ranges::all_of(feedback, fits))
      throw std::invalid_argument("feedback of other ranks or elements than the tensors have");
    if (options_.sample < 1.0) throw std::invalid_argument("feedback of a sample");
    if (!collectives::adds(program.collective))
      throw std::invalid_argument("feedback is for sums: an AllReduce or a ReduceScatter");
  }

  /// On the scale of all ranks, which takes all of their tensors, however much is computed.
  void agree(const collectives::Program& program) {
    agreed_ = share_amax(program, source_, wanted());
    scale_.emplace(program.format(collectives::Phase::reduce_scatter), agreed_->amax,
                   program.ranks());
  }

  void work(const std::function<void(double)>& watch) {
    try {
      UnitInterpreter interpreter(lanes_, source_, options_.rounding_seed, options_.counts,
                                  scale_ ? &*scale_ : nullptr, options_.feedback);
      std::vector<float> baseline;
      for (std::size_t unit = next_++; unit < reports_.size(); unit = next_++) {
        interpreter.run(units_[unit]);
        report(interpreter, baseline, reports_[unit]);
        if (watch) watch(share(unit, reports_.size()));  // others are about as far
      }
    } catch (...) {
      const std::scoped_lock lock(failure_mutex_);
      failure_ = std::current_exception();
      next_ = reports_.size();
    }
  }

  void report(const UnitInterpreter& unit, std::vector<float>& baseline, UnitReport& report) const {
    report.ranks_identical = unit.ranks_identical();
    report.sent = unit.sent_bytes();
    report.received = unit.received_bytes();
    report.quantized = unit.quantized();
    report.at_largest = unit.at_largest();
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::span<const float> result = unit.result(row);
      if (result.empty()) return;  // nothing but padding, beyond the end of the tensors
      const std::uint64_t first = row * source_.elements() + unit.first_element();
      report.against_exact.add(result, unit.exact(row));
      report.elements += result.size();
      if (options_.baseline != nullptr)
        compare(result, first, *options_.baseline, baseline, report);
      if (options_.result != nullptr) options_.result->write(first, result);
    }
  }

  static void compare(std::span<const float> result, std::uint64_t first, const ResultTensor& with,
                      std::vector<float>& values, UnitReport& report) {
    for (const collectives::Range& part : with.known({first, first + result.size()})) {
      values.resize(part.size());
      with.read(part.begin, values);
      report.against_baseline.add(result.subspan(part.begin - first, part.size()),
                                  std::span<const float>(values));
    }
  }

  /// Adds the reports up in the order of units, which does not depend on who computed them.
  ValueResult collect() const {
    numerics::ErrorAccumulator exact;
    numerics::ErrorAccumulator baseline;
    ValueResult result;
    result.sent_bytes.resize(channels_);
    result.received_bytes.resize(channels_);
    if (agreed_) {
      result.ranks_identical = agreed_->ranks_identical;
      result.sent_bytes = agreed_->sent_bytes;
      result.received_bytes = agreed_->received_bytes;
    }
    for (const UnitReport& report : reports_) {
      exact.merge(report.against_exact);
      baseline.merge(report.against_baseline);
      result.ranks_identical = result.ranks_identical && report.ranks_identical;
      result.quantized += report.quantized;
      result.at_largest += report.at_largest;
      result.computed_elements += report.elements;
      for (std::size_t channel = 0; channel < channels_; ++channel) {
        result.sent_bytes[channel] += report.sent[channel];
        result.received_bytes[channel] += report.received[channel];
      }
    }
    result.against_exact = exact.metrics();
    result.sampled_fraction = share(result.computed_elements, rows_ * source_.elements());
    if (options_.baseline != nullptr) result.against_baseline = baseline.metrics();
    return result;
  }

  const TensorSource& source_;
  const ValueOptions& options_;
  std::uint32_t rows_;
  std::size_t channels_;
  LaneTable lanes_;
  std::vector<Unit> units_;  ///< in the order of the tensor
  std::vector<UnitReport> reports_;
  std::optional<SharedAmax> agreed_;  ///< with a scale that the ranks share
  std::optional<numerics::SharedScale> scale_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

/// Places where a tile of chunks `chunk` long, which begins `begin` into each, lies before `end`.
std::uint64_t tiles_before(std::uint64_t end, std::uint64_t chunk, std::uint64_t begin) {
  return end > begin ? (end - begin - 1) / chunk + 1 : 0;
}

/// What one thread keeps of encoded buffers: those of a lane, of every rank that makes them there.
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
    const std::uint64_t makers =
        root_only ? 1 : program.ranks() / (partition.segment_elements(lane.segment) / chunk);
    std::uint64_t bytes = buffer.bytes;
    if (scales)  // and the values that they decode to
      bytes += numerics::scale_count(program.format(buffer.phase),
                                     partition.minishard(buffer.tile).size()) *
               sizeof(float);
    total += tiles * makers * bytes;
  }
  return total;
}

/// Room for one piece while it is decoded, summed by rank, or rounded to the wire's format.
std::uint64_t scratch_bytes(const collectives::Program& program) {
  std::uint64_t decoded = 0;
  std::uint64_t summed = 0;
  std::uint64_t rounded = 0;
  for (const collectives::Instruction& instruction : program.instructions) {
    if (is_transfer(instruction.op)) continue;
    const std::uint64_t elements = program.partition.microshard(instruction.tile).size();
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
    elements = std::max(elements, lane.range.size());
    encoded = std::max(encoded, encoded_bytes(program, lane));
  }
  std::uint64_t amax = 0;
  for (const numerics::BlockFormat& format : program.formats)
    amax = std::max<std::uint64_t>(amax, numerics::scale_count(format, elements));
  const bool root_only = program.collective == collectives::Collective::broadcast;
  const std::uint64_t ranks =
      (elements + amax) * (root_only ? 1 : program.ranks()) * sizeof(float);
  const std::uint64_t results = elements * result_rows(program) * (sizeof(double) + sizeof(float));
  std::uint64_t units = 0;
  for_each_unit(program, lanes, [&](const Unit&, std::uint64_t) { ++units; });
  return std::min<std::uint64_t>(threads, units) *
             (ranks + results + encoded + scratch_bytes(program)) +
         units * (sizeof(UnitReport) + sizeof(Unit));
}

std::uint64_t result_elements(const collectives::Program& program) {
  return result_rows(program) * program.partition.elements();
}

unsigned default_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace equarx::values
