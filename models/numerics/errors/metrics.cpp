#include "models/numerics/errors/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace equarx::numerics {

namespace {

using kernels::ErrorSums;

template <class Lanes>
void add_lanes(Lanes& to, const Lanes& from) {
  for (std::size_t lane = 0; lane < to.size(); ++lane) to[lane] += from[lane];
}

template <class Lanes>
double total(const Lanes& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

double relative_error(double error, double signal) {
  if (signal == 0.0 && error > 0.0) return std::numeric_limits<double>::infinity();
  return signal == 0.0 && error == 0.0 ? 0.0 : error / signal;
}

double cosine(double product, double squared_value, double squared_exact) {
  if (squared_value == 0.0 && squared_exact == 0.0) return 1.0;
  if (squared_value == 0.0 || squared_exact == 0.0) return product;  // 0
  return product / (std::sqrt(squared_value) * std::sqrt(squared_exact));
}

/// The scalar version of kernels::add_errors().
void add_element(std::size_t lane, double value, double exact, ErrorSums& sums) {
  const double error = value - exact;
  const double size = std::abs(error);
  sums.squared_error[lane] += error * error;
  sums.squared_exact[lane] += exact * exact;
  sums.squared_value[lane] += value * value;
  sums.product[lane] += value * exact;
  sums.signed_error[lane] += error;
  sums.max_abs_error[lane] = sums.max_abs_error[lane] < size ? size : sums.max_abs_error[lane];
}

}  // namespace

double sqnr_db(double nmse) { return -10.0 * std::log10(nmse); }

std::string sqnr_text(double sqnr_db, int decimals) {
  if (sqnr_db == std::numeric_limits<double>::infinity()) return "exact";
  return std::isfinite(sqnr_db) ? fmt::format("{:.{}f} dB", sqnr_db, decimals) : "-";
}

double ErrorMetrics::comparable_nmse() const {
  const bool lost = nonfinite > nonfinite_exact || std::isnan(nmse);
  return lost ? std::numeric_limits<double>::infinity() : nmse;
}

template <class Exact>
void ErrorAccumulator::add_any(std::span<const float> values, std::span<const Exact> exact) {
  if (values.size() != exact.size()) {
    throw std::invalid_argument(std::to_string(values.size()) + " values but " +
                                std::to_string(exact.size()) +
                                " exact ones: the numbers must match");
  }
  ErrorSums sums = sums_;
  const auto add_one = [&](std::size_t i) {
    add_element(lane_, values[i], exact[i], sums);
    lane_ = (lane_ + 1) % kLanes;
  };
  std::size_t i = 0;
  for (; i < values.size() && lane_ != 0; ++i) add_one(i);
  const std::size_t whole = (values.size() - i) / kLanes * kLanes;
  kernels::add_errors(values.data() + i, exact.data() + i, whole, sums);
  i += whole;
  for (; i < values.size(); ++i) add_one(i);
  count_ += values.size();
  // Any NaN or Inf makes the sum of squares NaN or Inf; this rare case is computed again.
  if (std::isfinite(total(sums.squared_error)))
    sums_ = sums;
  else
    add_finite(values, exact);
}

/// Adds the finite elements and counts the others. `lane_` has already moved past all of them.
template <class Exact>
void ErrorAccumulator::add_finite(std::span<const float> values, std::span<const Exact> exact) {
  std::size_t lane = (lane_ + kLanes - values.size() % kLanes) % kLanes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool has_exact = std::isfinite(exact[i]);
    if (has_exact && std::isfinite(values[i])) {
      add_element(lane, values[i], exact[i], sums_);
    } else {
      ++nonfinite_;
      nonfinite_exact_ += has_exact ? 0 : 1;
    }
    lane = (lane + 1) % kLanes;
  }
}

void ErrorAccumulator::add(std::span<const float> values, std::span<const double> exact) {
  add_any(values, exact);
}

void ErrorAccumulator::add(std::span<const float> values, std::span<const float> exact) {
  add_any(values, exact);
}

void ErrorAccumulator::merge(const ErrorAccumulator& other) {
  add_lanes(sums_.squared_error, other.sums_.squared_error);
  add_lanes(sums_.squared_exact, other.sums_.squared_exact);
  add_lanes(sums_.squared_value, other.sums_.squared_value);
  add_lanes(sums_.product, other.sums_.product);
  add_lanes(sums_.signed_error, other.sums_.signed_error);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums_.max_abs_error[lane] =
        std::max(sums_.max_abs_error[lane], other.sums_.max_abs_error[lane]);
  }
  count_ += other.count_;
  nonfinite_ += other.nonfinite_;
  nonfinite_exact_ += other.nonfinite_exact_;
}

ErrorMetrics ErrorAccumulator::metrics() const {
  const double squared_error = total(sums_.squared_error);
  const double squared_exact = total(sums_.squared_exact);
  const kernels::ErrorLanes& largest = sums_.max_abs_error;
  ErrorMetrics metrics;
  metrics.count = count_;
  metrics.nonfinite = nonfinite_;
  metrics.nonfinite_exact = nonfinite_exact_;
  if (nonfinite_ > 0 && nonfinite_ == count_) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    metrics.mse = metrics.nmse = metrics.sqnr_db = kNone;
    metrics.max_abs_error = metrics.mean_signed_error = metrics.cosine_similarity = kNone;
    return metrics;
  }
  const auto count = static_cast<double>(std::max<std::uint64_t>(count_ - nonfinite_, 1));
  metrics.mse = squared_error / count;
  metrics.nmse = relative_error(squared_error, squared_exact);
  metrics.sqnr_db = sqnr_db(metrics.nmse);
  metrics.max_abs_error = *std::max_element(largest.begin(), largest.end());
  metrics.mean_signed_error = total(sums_.signed_error) / count;
  metrics.cosine_similarity =
      cosine(total(sums_.product), total(sums_.squared_value), squared_exact);
  return metrics;
}

}  // namespace equarx::numerics
