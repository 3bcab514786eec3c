#include "models/lazy/workers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace equarx::lazy {
namespace {

double squared_distance(std::span<const double> one, std::span<const double> other) {
  return std::transform_reduce(one.begin(), one.end(), other.begin(), 0.0, std::plus<>(),
                               [](double a, double b) { return (a - b) * (a - b); });
}

void check_finite(std::span<const double> values, const char* what) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw std::invalid_argument(
          fmt::format("{}: element {} is {}, not finite", what, i, values[i]));
}

void check_size(std::span<const double> values, std::size_t expected, const char* what) {
  if (values.size() != expected)
    throw std::invalid_argument(
        fmt::format("{} have {} elements instead of {}", what, values.size(), expected));
}

void check(const Rule& rule) {
  const auto is_weight = [](double weight) { return std::isfinite(weight) && weight >= 0.0; };
  if (!(rule.rate > 0.0) || !std::isfinite(rule.rate))
    throw std::invalid_argument(
        fmt::format("rate is {}; give that of gradient descent", rule.rate));
  if (!is_weight(rule.weight) || !is_weight(rule.error_weight))
    throw std::invalid_argument("weights are numbers from 0 on");
  if (rule.at_most == 0) throw std::invalid_argument("at_most is 0; give at least 1 round");
  if (rule.bits && (*rule.bits < 1 || *rule.bits > kMostBits))
    throw std::invalid_argument(
        fmt::format("bits are {}; use 1 to {}, or none for FP32", *rule.bits, kMostBits));
}

}  // namespace

Workers::Workers(const Rule& rule, std::uint32_t workers, std::size_t elements)
    : rule_(rule),
      elements_(elements),
      sent_(workers * elements),
      sent_error_(workers),
      silent_(workers) {
  check(rule);
  if (workers == 0 || elements == 0)
    throw std::invalid_argument("there is nothing to send; give at least one worker and element");
}

std::vector<bool> Workers::round(std::span<const double> gradients,
                                 std::span<const double> parameters) {
  check_size(gradients, sent_.size(), "gradients");
  check_size(parameters, elements_, "parameters");
  check_finite(gradients, "gradients");
  check_finite(parameters, "parameters");
  const bool is_first = parameters_.empty();
  if (!is_first) moved_.push_front(squared_distance(parameters, parameters_));
  if (moved_.size() > rule_.memory) moved_.pop_back();
  parameters_.assign(parameters.begin(), parameters.end());
  const double of_all = rule_.rate * workers();
  const double moved =
      rule_.weight * std::accumulate(moved_.begin(), moved_.end(), 0.0) / (of_all * of_all);
  std::vector<bool> sends(workers());
  std::vector<double> next(elements_);
  for (std::uint32_t worker = 0; worker < workers(); ++worker) {
    const auto own = gradients.subspan(worker * elements_, elements_);
    const auto sent = std::span(sent_).subspan(worker * elements_, elements_);
    std::ranges::copy(own, next.begin());
    const double error = rule_.bits ? quantize(own, sent, *rule_.bits, next) : 0.0;
    const double least = moved + rule_.error_weight * (error + sent_error_[worker]);
    sends[worker] =
        is_first || silent_[worker] >= rule_.at_most || squared_distance(next, sent) >= least;
    if (!sends[worker]) {
      ++silent_[worker];
      continue;
    }
    std::ranges::copy(next, sent.begin());
    sent_error_[worker] = error;
    silent_[worker] = 0;
    bits_ += message_bits(elements_, rule_.bits);
  }
  return sends;
}

std::vector<double> Workers::sum() const {
  std::vector<double> sum(elements_);
  for (std::uint32_t worker = 0; worker < workers(); ++worker)
    for (std::size_t i = 0; i < elements_; ++i) sum[i] += sent_[worker * elements_ + i];
  return sum;
}

}  // namespace equarx::lazy
