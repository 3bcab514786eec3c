#include "models/collectives/linear_program.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>

namespace equarx::collectives {
namespace {

/// Treated as zero; coefficients are of the order of 1.
constexpr double kZero = 1e-9;

/// Every row as an equation of the variables and one slack each; the last row is the negated
/// objective. Entering and leaving variables are chosen by Bland's rule (lowest index), so that the
/// many ties of schedules, whose limits are nearly all 0, cannot cause cycling.
class Tableau {
 public:
  explicit Tableau(const LinearProgram& program)
      : variables_(program.objective.size()), rows_(program.rows) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].resize(variables_ + program.rows.size());
      rows_[row][variables_ + row] = 1.0;
      rows_[row].push_back(program.limits[row]);
      basis_.push_back(variables_ + row);
    }
    std::vector<double> last(variables_ + program.rows.size() + 1);
    for (std::size_t i = 0; i < variables_; ++i) last[i] = -program.objective[i];
    rows_.push_back(std::move(last));
  }

  std::optional<std::vector<double>> solve() {
    while (const std::optional<std::size_t> column = entering()) {
      const std::optional<std::size_t> row = leaving(*column);
      if (!row) return std::nullopt;
      pivot(*row, *column);
    }
    std::vector<double> values(variables_);
    for (std::size_t row = 0; row < basis_.size(); ++row)
      if (basis_[row] < variables_) values[basis_[row]] = rows_[row].back();
    return values;
  }

 private:
  std::optional<std::size_t> entering() const {
    for (std::size_t column = 0; column + 1 < rows_.back().size(); ++column)
      if (rows_.back()[column] < -kZero) return column;
    return std::nullopt;
  }

  std::optional<std::size_t> leaving(std::size_t column) const {
    std::optional<std::size_t> best;
    for (std::size_t row = 0; row < basis_.size(); ++row) {
      if (rows_[row][column] <= kZero) continue;
      if (!best) {
        best = row;
        continue;
      }
      const double gap =
          rows_[row].back() / rows_[row][column] - rows_[*best].back() / rows_[*best][column];
      if (gap < -kZero || (gap <= kZero && basis_[row] < basis_[*best])) best = row;
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    const double by = rows_[row][column];
    for (double& value : rows_[row]) value /= by;
    for (std::size_t other = 0; other < rows_.size(); ++other) {
      const double factor = rows_[other][column];
      if (other == row || factor == 0.0) continue;
      for (std::size_t i = 0; i < rows_[other].size(); ++i)
        rows_[other][i] -= factor * rows_[row][i];
    }
    basis_[row] = column;
  }

  std::size_t variables_;
  std::vector<std::vector<double>> rows_;  ///< coefficients, then the limit
  std::vector<std::size_t> basis_;         ///< basic variable, by row
};

}  // namespace

std::optional<std::vector<double>> maximize(const LinearProgram& program) {
  if (program.rows.size() != program.limits.size())
    throw std::invalid_argument("a linear program needs one limit per row");
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    if (program.rows[row].size() != program.objective.size())
      throw std::invalid_argument("a row of a linear program has the wrong number of variables");
    if (!(program.limits[row] >= 0.0))
      throw std::invalid_argument("a limit of a linear program is negative");
  }
  return Tableau(program).solve();
}

}  // namespace equarx::collectives
