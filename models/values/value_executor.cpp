#include "models/values/value_executor.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

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
  std::array<std::uint64_t, collectives::kDirections> sent{};
  std::array<std::uint64_t, collectives::kDirections> received{};
  numerics::QuantizeCounts quantized;
  std::uint64_t elements = 0;
};

/// Whether an element lies in one of the windows that make up the sample: the first, and those that the
/// golden-ratio sequence picks, which is even for windows at any regular distance, as units are.
bool in_sample(std::uint64_t element, std::uint64_t elements, double sample) {
  constexpr double kWindows = 64.0;
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double window =
      std::floor(kWindows * static_cast<double>(element) / static_cast<double>(elements));
  const double place = window * kGoldenRatio;
  return place - std::floor(place) < sample;
}

/// Units shard by shard; all of them, or those that begin in the sample.
std::vector<Unit> sampled_units(const collectives::Program& program, const LaneTable& lanes,
                                double sample) {
  std::vector<Unit> units;
  for (std::uint32_t shard = 0; shard < program.ranks; ++shard)
    for (std::uint32_t lane = 0; lane < lanes.lanes().size(); ++lane) {
      const Lane& what = lanes.lanes()[lane];
      const std::uint64_t first =
          program.partition.segment_begin(shard, what.segment) + what.range.begin;
      if (sample >= 1.0 || in_sample(first, program.partition.elements(), sample))
        units.push_back({shard, lane});
    }
  return units;
}

class Run {
 public:
  Run(const collectives::Program& program, const TensorSource& source, const ValueOptions& options)
      : source_(source),
        options_(options),
        lanes_(program),
        units_(sampled_units(program, lanes_, options.sample)),
        reports_(units_.size()) {}

  ValueResult execute() {
    const unsigned wanted = options_.threads == 0 ? default_threads() : options_.threads;
    const auto threads = static_cast<unsigned>(std::min<std::size_t>(wanted, reports_.size()));
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return collect();
  }

 private:
  void work() {
    try {
      UnitInterpreter interpreter(lanes_, source_, options_.rounding_seed);
      std::vector<float> baseline;
      for (std::size_t unit = next_++; unit < reports_.size(); unit = next_++) {
        interpreter.run(units_[unit]);
        report(interpreter, baseline, reports_[unit]);
      }
    } catch (...) {
      const std::scoped_lock lock(failure_mutex_);
      failure_ = std::current_exception();
      next_ = reports_.size();
    }
  }

  void report(const UnitInterpreter& unit, std::vector<float>& baseline, UnitReport& report) const {
    report.against_exact.add(unit.result(), unit.exact());
    report.ranks_identical = unit.ranks_identical();
    report.sent = unit.sent_bytes();
    report.received = unit.received_bytes();
    report.quantized = unit.quantized();
    if (unit.result().empty()) return;  // nothing but padding, beyond the end of the tensors
    report.elements = unit.result().size();
    if (options_.baseline != nullptr) compare(unit, *options_.baseline, baseline, report);
    if (options_.result != nullptr) options_.result->write(unit.first_element(), unit.result());
  }

  static void compare(const UnitInterpreter& unit, const ResultTensor& with,
                      std::vector<float>& values, UnitReport& report) {
    const std::uint64_t first = unit.first_element();
    for (const collectives::Range& part : with.known({first, first + unit.result().size()})) {
      values.resize(part.size());
      with.read(part.begin, values);
      report.against_baseline.add(unit.result().subspan(part.begin - first, part.size()),
                                  std::span<const float>(values));
    }
  }

  /// Adds the reports up in the order of units, which does not depend on who computed them.
  ValueResult collect() const {
    numerics::ErrorAccumulator exact;
    numerics::ErrorAccumulator baseline;
    ValueResult result;
    for (const UnitReport& report : reports_) {
      exact.merge(report.against_exact);
      baseline.merge(report.against_baseline);
      result.ranks_identical = result.ranks_identical && report.ranks_identical;
      result.quantized += report.quantized;
      result.computed_elements += report.elements;
      for (std::size_t direction = 0; direction < collectives::kDirections; ++direction) {
        result.sent_bytes[direction] += report.sent[direction];
        result.received_bytes[direction] += report.received[direction];
      }
    }
    result.against_exact = exact.metrics();
    result.sampled_fraction = share(result.computed_elements, source_.elements());
    if (options_.baseline != nullptr) result.against_baseline = baseline.metrics();
    return result;
  }

  const TensorSource& source_;
  const ValueOptions& options_;
  LaneTable lanes_;
  std::vector<Unit> units_;  ///< in the order of the tensor
  std::vector<UnitReport> reports_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

/// What one thread keeps of encoded buffers: at each place of a lane, the largest that comes there.
std::uint64_t encoded_bytes(const collectives::Program& program, const LaneTable& lanes) {
  std::vector<std::uint64_t> largest(program.buffers.size());
  for (collectives::BufferId id = 0; id < program.buffers.size(); ++id) {
    const collectives::Buffer& buffer = program.buffers[id];
    std::uint64_t bytes = buffer.bytes;
    if (buffer.content == collectives::Content::scales)  // and the values that they decode to
      bytes += bytes / numerics::scale_bytes(program.format(buffer.phase).scale) * sizeof(float);
    largest[lanes.place(id)] = std::max(largest[lanes.place(id)], bytes);
  }
  return std::accumulate(largest.begin(), largest.end(), std::uint64_t{0});
}

}  // namespace

double ValueResult::clipped_fraction() const {
  return share(quantized.clipped, quantized.elements);
}

double ValueResult::flushed_fraction() const {
  return share(quantized.flushed, quantized.elements);
}

ValueResult execute(const collectives::Program& program, const TensorSource& source,
                    const ValueOptions& options) {
  return Run(program, source, options).execute();
}

std::uint64_t memory_bytes(const collectives::Program& program, unsigned threads) {
  const LaneTable lanes(program);
  std::uint64_t elements = 0;
  for (const Lane& lane : lanes.lanes()) elements = std::max(elements, lane.range.size());
  std::uint64_t absmax = 0;
  for (const numerics::BlockFormat& format : program.formats)
    absmax = std::max<std::uint64_t>(absmax, numerics::scale_count(format, elements));
  const std::uint64_t ranks = (elements + absmax) * program.ranks * sizeof(float);
  const std::uint64_t results = elements * (sizeof(double) + 4 * sizeof(float));
  const std::uint64_t units = std::uint64_t{program.ranks} * lanes.lanes().size();
  return std::min<std::uint64_t>(threads, units) *
             (ranks + results + encoded_bytes(program, lanes)) +
         units * (sizeof(UnitReport) + sizeof(Unit));
}

unsigned default_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace equarx::values
