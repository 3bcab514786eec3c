#include "models/gemm/scheme.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace equarx::gemm {
namespace {

using stored::Along;
using stored::ElementKind;
using stored::StoredFormat;

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

/// True if groups never join elements of different rows, or are the whole tensor.
bool is_along_rows(const stored::Groups& groups) {
  return groups.along == Along::row || groups.along == Along::block ||
         (groups.along == Along::tensor && groups.length == 0);
}

bool has_one_scale_per_row(const stored::Groups& groups) {
  return (groups.along == Along::row || groups.along == Along::tensor) && groups.length == 0;
}

/// Magnitudes of all elements in units of the scale. Integers may have any zero point.
std::vector<float> element_values(const StoredFormat& format) {
  const stored::Elements& elements = format.elements;
  if (elements.kind == ElementKind::table) return elements.table;
  if (elements.kind == ElementKind::minifloat) return stored::magnitudes(elements);
  const bool shifted = format.scale.zero_point != stored::ZeroPoint::none;
  std::vector<float> values(shifted ? elements.levels : elements.levels / 2 + 1);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

/// True if a float with these bits of mantissa and exponents represents the value.
bool represents(float value, int mantissa_bits, int least_exponent, float largest) {
  const float magnitude = std::abs(value);
  if (magnitude == 0.0F) return true;
  const int exponent = std::max(std::ilogb(magnitude), least_exponent);
  const float steps = std::ldexp(magnitude, mantissa_bits - exponent);
  return magnitude <= largest && steps == std::floor(steps);
}

bool all_represented(const StoredFormat& format, Unit unit) {
  const std::vector<float> values = element_values(format);
  const auto all = [&](int mantissa_bits, int least_exponent, float largest) {
    return std::ranges::all_of(values, [&](float value) {
      return represents(value, mantissa_bits, least_exponent, largest);
    });
  };
  if (unit == Unit::fp4) return all(1, 0, 6.0F);
  constexpr float kMostE4m3 = 448.0F;
  constexpr float kMostE5m2 = 57344.0F;
  return all(3, -6, kMostE4m3) || all(2, -14, kMostE5m2);
}

void check_scaled_products(const StoredFormat& format, const std::string& operand) {
  const std::string remedy = "; apply scales before the product";
  require(stored::has_scales(format), operand + " with fitted tables have no scales" + remedy);
  require(is_along_rows(format.groups), operand + " have groups across rows" + remedy);
  require(format.scale.zero_point != stored::ZeroPoint::real,
          operand + " have the zero point float" + remedy);
  require(format.apart.largest == 0.0 && format.apart.important == 0.0,
          operand + " have values apart" + remedy);
}

/// Transforms of both operands that cancel in the product.
void check_transforms(const StoredFormat& weights, const StoredFormat& activations) {
  constexpr double kRounding = 1e-6;
  const auto& w = weights.before.column_factors;
  const auto& x = activations.before.column_factors;
  const bool cancel = w.size() == x.size() && std::ranges::equal(w, x, [](double a, double b) {
                        return std::abs(a * b - 1.0) <= kRounding;
                      });
  require(weights.before.hadamard == activations.before.hadamard,
          "the Hadamard rotations of weights and activations differ; use the same block");
  require(cancel, "the column factors of weights and activations do not cancel; give reciprocals");
}

}  // namespace

bool multiplies_codes(Unit unit) {
  return unit == Unit::int8 || unit == Unit::int1 || unit == Unit::table;
}

void check_accumulator(const Scheme& scheme) {
  const bool is_integer = scheme.accumulate == Accumulator::int32;
  require(is_integer == multiplies_codes(scheme.unit),
          is_integer ? "int32 sums need the unit int8, int1 or table"
                     : "sums of the unit are int32; write \"int32\"");
}

void check_scaling(const Scheme& scheme) {
  if (scheme.scales == ScalePlacement::before) {
    const bool is_float =
        scheme.unit == Unit::fp32 || scheme.unit == Unit::bf16 || scheme.unit == Unit::fp16;
    require(is_float, "the unit multiplies codes; apply scales \"by-group\" or at the \"end\"");
    return;
  }
  const StoredFormat plain;
  const auto& weights = scheme.weights;
  const auto& activations = scheme.activations;
  if (weights) check_scaled_products(*weights, "weights");
  if (activations) check_scaled_products(*activations, "activations");
  check_transforms(weights.value_or(plain), activations.value_or(plain));
  if (scheme.scales != ScalePlacement::end) return;
  const bool whole = (!weights || has_one_scale_per_row(weights->groups)) &&
                     (!activations || has_one_scale_per_row(activations->groups));
  require(whole, "scales at the end need one group per row; apply them \"by-group\"");
}

void check_operand(const Scheme& scheme, const std::optional<StoredFormat>& format,
                   const std::string& operand) {
  constexpr int kMostTableBits = 4;
  if (multiplies_codes(scheme.unit)) {
    require(format.has_value(), operand + " need a format of integers for this unit");
    require(format->elements.kind == ElementKind::integer,
            operand + " are no integers; use a unit of floats");
    require(scheme.unit != Unit::table || format->elements.bits <= kMostTableBits,
            operand + " have more than 4 bits, too many for a table of products");
  }
  if (scheme.unit == Unit::fp8 || scheme.unit == Unit::fp4) {
    const std::string unit = scheme.unit == Unit::fp8 ? "fp8" : "fp4";
    require(format.has_value(), operand + " need a format for the unit " + unit);
    require(all_represented(*format, scheme.unit),
            operand + " have elements that are no numbers of the unit " + unit);
  }
}

void check(const Scheme& scheme) {
  check_accumulator(scheme);
  check_scaling(scheme);
  check_operand(scheme, scheme.weights, "weights");
  check_operand(scheme, scheme.activations, "activations");
}

}  // namespace equarx::gemm
