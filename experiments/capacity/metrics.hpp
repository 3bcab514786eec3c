// Numbers and names of a plan: the keys of its JSON.
#pragma once

#include "experiments/capacity/capacity.hpp"
#include "experiments/result/metrics.hpp"

namespace equarx::capacity {

/// Chips and formats.
struct Choice {
  const Machine& machine;
  const Formats& formats;
};

/// A candidate with the request that it answers.
struct Answer {
  const Request& request;
  const Candidate& candidate;
};

const result::Metrics<Request>& request_metrics();
const result::Metrics<Choice>& choice_metrics();
/// Metrics of every candidate.
const result::Metrics<Answer>& candidate_metrics();
/// Metrics of ranked candidates in addition.
const result::Metrics<Answer>& ranked_metrics();
const result::Metrics<OperatingPoint>& point_metrics();
const result::Metrics<Sensitivity>& sensitivity_metrics();

}  // namespace equarx::capacity
