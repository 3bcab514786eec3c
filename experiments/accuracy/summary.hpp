// Accuracy by class of question, and the discrepancy that it implies for other figures.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "experiments/accuracy/rows.hpp"

namespace equarx::accuracy {

/// Predictions of one class of question.
struct Summary {
  Question question = Question::tpu_collective;
  std::size_t predicted = 0;
  std::size_t fitted = 0;   ///< rows to which parameters were fitted; in no other member
  std::size_t origins = 0;  ///< distinct origins of the predicted rows
  // Of the predicted rows; 0 without any.
  double bias = 0.0;               ///< mean of ln(simulated / measured)
  double spread = 0.0;             ///< root mean square of it
  double median_error = 0.0;       ///< of |simulated / measured - 1|
  double ninth_decile = 0.0;       ///< 90 % of errors are at most this
  double null_median_error = 0.0;  ///< of the null model, where a row has one
  /// Rows whose |error| is at most the spread of the rows of other origins, and those for which
  /// there are other origins.
  std::size_t covered = 0;
  std::size_t coverable = 0;
};

/// Quantile of values in rising order, interpolated linearly (definition 7 of Hyndman and Fan, 1996).
/// `sorted` must not be empty.
double quantile(const std::vector<double>& sorted, double share);

/// Summaries of the questions that have rows, in the order of kQuestions.
std::vector<Summary> summarize(const std::vector<MeasuredRow>& rows);

/// Fewest predicted rows, and origins, from which a discrepancy is learnt.
/// @{
inline constexpr std::size_t kFewestRows = 5;
inline constexpr std::size_t kFewestOrigins = 2;
/// @}

/// Standard deviation of ln(simulated / measured) beyond the uncertainty of parameters.
struct Discrepancy {
  double spread = 0.0;
  std::size_t rows = 0;
  std::size_t origins = 0;
};

/// Returns the discrepancy of the predicted rows of a question, bias included; std::nullopt with
/// fewer than kFewestRows or kFewestOrigins: then it is unknown.
std::optional<Discrepancy> discrepancy(const std::vector<MeasuredRow>& rows, Question question);

}  // namespace equarx::accuracy
