#include "importers/hlo/vector_costs.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace equarx::hlo {
namespace {

constexpr double kSpecial = 8.0;                 // one special function
constexpr double kDivide = kSpecial + 2.0;       // reciprocal, multiplication, scaling
constexpr double kExponential = kSpecial + 1.0;  // exp2 of a product
constexpr double kLogarithm = kSpecial + 1.0;
/// Clamped rational polynomial with 7 and 4 coefficients (EmitFastTanh): absolute value, comparison,
/// two clamps, square, 6 + 3 multiply-adds, multiplication, division, selection.
constexpr double kTanh = 15.0 + kDivide;
/// Rational polynomials of similar degree (EmitErfF32), after a clamp and a square.
constexpr double kErf = 14.0 + kDivide;
/// Range reduction of five operations and a polynomial of four multiply-adds.
constexpr double kSine = 9.0 + kSpecial;

constexpr std::array<std::pair<std::string_view, double>, 21> kOps = {{
    {"tanh", kTanh},
    {"erf", kErf},
    {"exponential", kExponential},
    {"exponential-minus-one",
     kExponential + kTanh},  // 2 tanh(x/2) / (1 - tanh(x/2))-like for small x
    {"log", kLogarithm},
    {"log-plus-one", kLogarithm + kDivide},
    {"logistic", kExponential + 1.0 + kDivide},
    {"power", kLogarithm + 1.0 + kExponential},
    {"divide", kDivide},
    {"rsqrt", kSpecial},
    {"sqrt", kSpecial + 1.0},
    {"cbrt", kLogarithm + 1.0 + kExponential},
    {"sine", kSine},
    {"cosine", kSine},
    {"tan", kSine + kSine + kDivide},
    {"atan2", kErf},
    {"remainder", kDivide + 3.0},
    {"acos", kErf},
    {"asin", kErf},
    {"sinh", kExponential + kDivide + 2.0},
    {"cosh", kExponential + kDivide + 2.0},
}};

}  // namespace

double ops_per_element(std::string_view opcode, bool is_gpu) {
  if (!is_gpu) return 1.0;
  const auto* const found =
      std::ranges::find(kOps, opcode, &std::pair<std::string_view, double>::first);
  return found == kOps.end() ? 1.0 : found->second;
}

}  // namespace equarx::hlo
