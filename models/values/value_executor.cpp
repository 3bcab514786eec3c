#include "models/values/value_executor.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "models/numerics/bfloat16.hpp"
#include "models/values/unit_interpreter.hpp"

namespace equarx::values {
namespace {

/// What is kept of a unit.
struct UnitReport {
  numerics::ErrorAccumulator against_exact;
  numerics::ErrorAccumulator against_baseline;
  bool ranks_identical = true;
  std::array<std::uint64_t, collectives::kDirections> sent{};
  std::array<std::uint64_t, collectives::kDirections> received{};
  numerics::QuantizeCounts quantized;
};

class Run {
 public:
  Run(const collectives::Program& program, const TensorSource& source, const ValueOptions& options)
      : program_(program),
        source_(source),
        options_(options),
        lanes_(program),
        reports_(std::size_t{program.ranks} * program.partition.segments() *
                 program.partition.minishards()) {}

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
      UnitInterpreter interpreter(lanes_, source_);
      std::vector<float> baseline;
      for (std::size_t unit = next_++; unit < reports_.size(); unit = next_++) {
        interpreter.run(unit_at(unit));
        report(interpreter, baseline, reports_[unit]);
      }
    } catch (...) {
      const std::scoped_lock lock(failure_mutex_);
      failure_ = std::current_exception();
      next_ = reports_.size();
    }
  }

  Unit unit_at(std::size_t index) const {
    const auto minishards = program_.partition.minishards();
    const auto segments = program_.partition.segments();
    return {static_cast<std::uint32_t>(index / minishards / segments),
            static_cast<std::uint32_t>(index / minishards % segments),
            static_cast<std::uint32_t>(index % minishards)};
  }

  void report(const UnitInterpreter& unit, std::vector<float>& baseline, UnitReport& report) const {
    report.against_exact.add(unit.result(), unit.exact());
    report.ranks_identical = unit.ranks_identical();
    report.sent = unit.sent_bytes();
    report.received = unit.received_bytes();
    report.quantized = unit.quantized();
    if (unit.result().empty()) return;  // nothing but padding, beyond the end of the tensors
    if (options_.baseline != nullptr) {
      baseline.resize(unit.result().size());
      options_.baseline->read(unit.first_element(), baseline);
      report.against_baseline.add(unit.result(), std::span<const float>(baseline));
    }
    if (options_.result != nullptr) options_.result->write(unit.first_element(), unit.result());
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
      for (std::size_t direction = 0; direction < collectives::kDirections; ++direction) {
        result.sent_bytes[direction] += report.sent[direction];
        result.received_bytes[direction] += report.received[direction];
      }
    }
    result.against_exact = exact.metrics();
    if (options_.baseline != nullptr) result.against_baseline = baseline.metrics();
    return result;
  }

  const collectives::Program& program_;
  const TensorSource& source_;
  const ValueOptions& options_;
  LaneTable lanes_;
  std::vector<UnitReport> reports_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

std::uint64_t largest_minishard(const collectives::Partition& partition) {
  std::uint64_t largest = 0;
  for (std::uint32_t minishard = 0; minishard < partition.minishards(); ++minishard)
    largest = std::max(largest, partition.minishard(minishard).size());
  return largest;
}

/// What one thread keeps of encoded buffers: at each place of a lane, the largest that comes there.
std::uint64_t encoded_bytes(const collectives::Program& program) {
  const LaneTable lanes(program);
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

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ResultTensor::ResultTensor(std::uint64_t elements, numerics::ElementFormat format)
    : elements_(elements), format_(format) {
  if (format == numerics::ElementFormat::bf16)
    bf16_.resize(elements);
  else
    fp32_.resize(elements);
}

void ResultTensor::write(std::uint64_t first, std::span<const float> values) {
  if (format_ == numerics::ElementFormat::bf16)
    numerics::encode_bf16(values, std::span(bf16_).subspan(first, values.size()));
  else
    std::ranges::copy(values, fp32_.begin() + static_cast<std::ptrdiff_t>(first));
}

void ResultTensor::read(std::uint64_t first, std::span<float> values) const {
  if (format_ == numerics::ElementFormat::bf16)
    numerics::decode_bf16(std::span(bf16_).subspan(first, values.size()), values);
  else
    std::ranges::copy_n(fp32_.begin() + static_cast<std::ptrdiff_t>(first),
                        static_cast<std::ptrdiff_t>(values.size()), values.begin());
}

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
  const std::uint64_t minishard = largest_minishard(program.partition);
  std::uint64_t absmax = 0;
  for (const numerics::BlockFormat& format : program.formats)
    absmax = std::max<std::uint64_t>(absmax, numerics::scale_count(format, minishard));
  const std::uint64_t ranks = (minishard + absmax) * program.ranks * sizeof(float);
  const std::uint64_t results = minishard * (sizeof(double) + 4 * sizeof(float));
  const std::uint64_t units =
      std::uint64_t{program.ranks} * program.partition.segments() * program.partition.minishards();
  return std::min<std::uint64_t>(threads, units) * (ranks + results + encoded_bytes(program)) +
         units * sizeof(UnitReport);
}

unsigned default_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace equarx::values
