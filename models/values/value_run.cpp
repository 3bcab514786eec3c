#include "models/values/value_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "models/values/make_room.hpp"

namespace equarx::values {
namespace {

/// Elements from the first one that a sample may have: in a small one, few of a large window.
std::uint64_t most_in_sample(std::uint64_t elements, double sample) {
  if (sample * kSampleWindows >= 1.0 || elements <= kSampleWindows * kLargeSample) return elements;
  return std::max(kLargeSample, static_cast<std::uint64_t>(sample * static_cast<double>(elements)));
}

/// True if an element lies in one of the sampled windows: the first one, and those selected by the
/// golden-ratio sequence, which is even over windows at any regular distance, as units are.
bool in_sample(std::uint64_t element, std::uint64_t elements, double sample) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  if (element >= most_in_sample(elements, sample)) return false;
  const double window = std::floor(double{kSampleWindows} * static_cast<double>(element) /
                                   static_cast<double>(elements));
  const double position = window * kGoldenRatio;
  return position - std::floor(position) < sample;
}

/// True if any window has elements of a unit that begins at `first`.
bool in_windows(const Windows& windows, std::uint64_t first, std::uint64_t elements) {
  return std::ranges::any_of(windows.ranges, [&](const collectives::Range& range) {
    return range.begin < first + elements && first < range.end;
  });
}

/// Returns all units, or only the units that begin in the sample, or that windows need.
std::vector<PlacedUnit> wanted_units(const collectives::Program& program, const LaneTable& lanes,
                                     const ValueOptions& options) {
  std::vector<PlacedUnit> units;
  for_each_unit(program, lanes, [&](const Unit& unit, std::uint64_t first) {
    if (options.windows != nullptr &&
        !in_windows(*options.windows, first, lanes.lanes()[unit.lane].range.size()))
      return;
    if (options.sample >= 1.0 || in_sample(first, program.partition.elements(), options.sample))
      units.push_back({unit, first});
  });
  return units;
}

/// Elements of all distinct results, without padding.
std::uint64_t elements_of_results(const collectives::Program& program, std::uint64_t elements) {
  if (!program.counts) return result_rows(program) * elements;
  const std::vector<std::uint32_t>& rows = program.counts->rows;
  return program.counts->row_elements * std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
}

/// Locks a mutex that may be null.
std::unique_lock<std::mutex> lock_of(std::mutex* mutex) {
  return mutex == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*mutex);
}

/// Records are of whole lanes; traces and feedback are of consecutive elements.
Parts parts_for(const ValueOptions& options) {
  if (options.record != nullptr) return Parts::whole;
  return options.contract || options.feedback != nullptr ? Parts::ranges : Parts::any;
}

}  // namespace

ValueRun::ValueRun(const collectives::Program& program, const TensorSource& source,
                   const ValueOptions& options)
    : program_(program),
      source_(source),
      options_(options),
      rows_(result_rows(program)),
      whole_elements_(elements_of_results(program, source.elements())),
      channels_(program.channels.size()),
      most_of_unit_(most_in_sample(program.partition.elements(), options.sample)),
      lanes_(program, parts_for(options)),
      units_(wanted_units(program, lanes_, options)),
      reports_(units_.size()) {
  if (options.feedback != nullptr) check_feedback();
  if (options.record != nullptr && (!collectives::adds(program.collective) || options.sample < 1))
    throw std::invalid_argument("a record requires a whole sum: AllReduce or ReduceScatter");
  if (options.windows != nullptr) {
    options.windows->values.clear();
    for (const collectives::Range& range : options.windows->ranges)
      options.windows->values.emplace_back(range.size());
  }
  check_residual();
  if (numerics::has_shared_scale(program.format(collectives::Phase::reduce_scatter)))
    compute_shared_scale();
}

collectives::Range ValueRun::elements_of(std::size_t unit) const {
  const std::uint64_t begin = units_[unit].begin;
  return {begin, begin + lanes_.lanes()[units_[unit].unit.lane].range.size()};
}

std::vector<LanePart> ValueRun::parts_of(std::size_t unit) const {
  std::vector<LanePart> parts = values::parts_of(lanes_.lanes()[units_[unit].unit.lane]);
  if (!is_separate(parts.front())) return parts;
  std::uint64_t elements = 0;
  const auto is_beyond = [&](const LanePart& part) {
    const bool beyond = elements >= most_of_unit_;
    elements += part.size();
    return beyond;
  };
  parts.erase(std::ranges::find_if(parts, is_beyond), parts.end());
  return parts;
}

bool ValueRun::may_leave_columns() const {
  return most_of_unit_ < program_.partition.elements() && options_.baseline == nullptr &&
         options_.result == nullptr && options_.windows == nullptr;
}

unsigned ValueRun::threads() const {
  if (options_.record != nullptr) return 1;
  return options_.threads == 0 ? default_threads() : options_.threads;
}

void ValueRun::check_feedback() const {
  const Feedback& feedback = *options_.feedback;
  const auto fits = [&](std::span<float> lost) { return lost.size() == source_.elements(); };
  if (feedback.size() != program_.ranks() || !std::ranges::all_of(feedback, fits))
    throw std::invalid_argument("the feedback does not match the tensors' ranks or elements");
  if (options_.sample < 1.0)
    throw std::invalid_argument("feedback cannot be combined with a sample");
  if (!collectives::adds(program_.collective))
    throw std::invalid_argument("feedback requires a sum: an AllReduce or a ReduceScatter");
  if (program_.arithmetic != collectives::Arithmetic{})
    throw std::invalid_argument("feedback requires the default arithmetic of sums");
}

void ValueRun::check_residual() const {
  if (program_.arithmetic.residual == collectives::Residual::none) return;
  if (options_.residual == nullptr || options_.residual->elements() != source_.elements())
    throw std::invalid_argument("the residual does not match the elements of the tensors");
}

/// Reads all ranks' tensors, even with a sample.
void ValueRun::compute_shared_scale() {
  shared_amax_ = share_amax(program_, source_, threads());
  scale_.emplace(program_.format(collectives::Phase::reduce_scatter), shared_amax_->amax,
                 program_.ranks());
}

std::unique_ptr<ValueRun::Worker> ValueRun::make_worker(const TensorSource& source) const {
  const UnitOptions options{.rounding_seed = options_.rounding_seed,
                            .counts = options_.counts,
                            .traffic = options_.traffic,
                            .ranges = options_.contract,
                            .shared = scale_ ? &*scale_ : nullptr,
                            .feedback = options_.feedback,
                            .residual = options_.residual,
                            .record = options_.record,
                            .own_codec = options_.own_codec};
  return std::unique_ptr<Worker>(new Worker{{lanes_, source, options}, {}, {}, {}});
}

void ValueRun::compute(std::size_t index, const LanePart& part, Worker& worker,
                       std::mutex* results) {
  begin(index, part, worker);
  end(index, part, worker, results);
}

bool ValueRun::is_separate(const LanePart& part) const {
  return part.has_all_columns() || may_leave_columns();
}

void ValueRun::begin(std::size_t index, const LanePart& part, Worker& worker) const {
  Unit unit = units_[index].unit;
  unit.part = part;
  worker.interpreter.run(unit);
}

void ValueRun::end(std::size_t index, const LanePart& part, Worker& worker, std::mutex* results) {
  UnitReport& report = reports_[index];
  report.sent.resize(channels_);
  report.received.resize(channels_);
  add_counts(worker.interpreter, report);
  if (is_separate(part))
    add_rows(worker, results, report);
  else
    add_columns(part, worker, results, report);
}

void ValueRun::add_counts(const UnitInterpreter& unit, UnitReport& report) const {
  report.ranks_identical = report.ranks_identical && unit.ranks_identical();
  report.differing += unit.differing();
  report.ranges += unit.ranges();
  report.quantized += unit.quantized();
  report.at_largest += unit.at_largest();
  for (std::size_t channel = 0; channel < channels_; ++channel) {
    report.sent[channel] += unit.sent_bytes()[channel];
    report.received[channel] += unit.received_bytes()[channel];
  }
}

void ValueRun::add_rows(Worker& worker, std::mutex* results, UnitReport& report) {
  const UnitInterpreter& unit = worker.interpreter;
  for (std::uint32_t row = 0; row < rows_; ++row)
    add_elements(unit.result(row), unit.exact(row), row * source_.elements() + unit.first_element(),
                 worker, results, report);
}

/// Copies columns to their place in the lane; with the last ones, its elements are added in their
/// order.
void ValueRun::add_columns(const LanePart& part, Worker& worker, std::mutex* results,
                           UnitReport& report) {
  const UnitInterpreter& unit = worker.interpreter;
  make_room(worker.result, part.range.size());
  make_room(worker.exact, part.range.size());
  const std::span<const float> result = unit.result();
  const std::span<const double> exact = unit.exact();
  const std::size_t columns = part.columns.size();
  std::size_t to = part.columns.begin;
  for (std::size_t from = 0; from < result.size(); from += columns) {
    const std::size_t count = std::min(columns, result.size() - from);
    std::copy_n(&result[from], count, &worker.result[to]);
    std::copy_n(&exact[from], count, &worker.exact[to]);
    to += numerics::kRegisterElements;
  }
  if (part.columns.end < numerics::kRegisterElements) return;
  const std::uint64_t first = unit.first_element();
  const std::uint64_t left =
      program_.partition.elements() - std::min(program_.partition.elements(), first);
  const std::size_t real = std::min<std::uint64_t>(part.range.size(), left);
  add_elements(std::span<const float>(worker.result).first(real),
               std::span<const double>(worker.exact).first(real), first, worker, results, report);
}

/// Adds elements of the result from `first` on, with all rows one after another.
void ValueRun::add_elements(std::span<const float> result, std::span<const double> exact,
                            std::uint64_t first, Worker& worker, std::mutex* results,
                            UnitReport& report) {
  if (result.empty()) return;  // padding only
  report.against_exact.add(result, exact);
  if (options_.contract) count_ulps(result, exact, worker.scratch, report);
  report.elements += result.size();
  if (options_.baseline != nullptr) compare(result, first, worker.scratch, results, report);
  if (options_.result != nullptr) write(result, first, results);
  if (options_.windows != nullptr && first < source_.elements()) copy_to_windows(result, first);
}

void ValueRun::write(std::span<const float> result, std::uint64_t first,
                     std::mutex* results) const {
  const std::uint64_t end = options_.result->elements();
  if (first >= end) return;
  const auto lock = lock_of(results);
  options_.result->write(first, result.first(std::min<std::uint64_t>(result.size(), end - first)));
}

/// Units have distinct elements, so that threads do not meet.
void ValueRun::copy_to_windows(std::span<const float> result, std::uint64_t first) const {
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
void ValueRun::count_ulps(std::span<const float> result, std::span<const double> exact,
                          std::vector<float>& rounded, UnitReport& report) const {
  rounded.resize(result.size());
  numerics::round_once(source_.format(), exact, rounded);
  report.ulps += numerics::ulp_counts(source_.format(), result, rounded);
}

void ValueRun::compare(std::span<const float> result, std::uint64_t first,
                       std::vector<float>& values, std::mutex* results, UnitReport& report) const {
  const auto written = [&] {
    const auto lock = lock_of(results);
    return options_.baseline->written({first, first + result.size()});
  };
  for (const collectives::Range& part : written()) {
    values.resize(part.size());
    options_.baseline->read(part.begin, values);
    report.against_baseline.add(result.subspan(part.begin - first, part.size()),
                                std::span<const float>(values));
  }
}

ValueResult ValueRun::result() const {
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

}  // namespace equarx::values
