#include "models/numerics/kernels/error_sums.hpp"

#include <cmath>

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/error_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

#if HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kErrorLanes>;
using DoubleVector = hn::Vec<Doubles>;

HWY_INLINE DoubleVector load_doubles(const double* from) { return hn::LoadU(Doubles(), from); }
HWY_INLINE DoubleVector load_doubles(const float* from) {
  const hn::Rebind<float, Doubles> floats;
  return hn::PromoteTo(Doubles(), hn::LoadU(floats, from));
}

// Sums of as many lanes as a vector has, from lane `first`.
class VectorSums {
 public:
  HWY_INLINE VectorSums(const ErrorSums& sums, std::size_t first)
      : squared_error_(load_doubles(sums.squared_error.data() + first)),
        squared_exact_(load_doubles(sums.squared_exact.data() + first)),
        squared_value_(load_doubles(sums.squared_value.data() + first)),
        product_(load_doubles(sums.product.data() + first)),
        signed_error_(load_doubles(sums.signed_error.data() + first)),
        max_abs_error_(load_doubles(sums.max_abs_error.data() + first)) {}

  HWY_INLINE void add(DoubleVector value, DoubleVector exact) {
    const DoubleVector error = hn::Sub(value, exact);
    const DoubleVector size = hn::Abs(error);
    squared_error_ = hn::Add(squared_error_, hn::Mul(error, error));
    squared_exact_ = hn::Add(squared_exact_, hn::Mul(exact, exact));
    squared_value_ = hn::Add(squared_value_, hn::Mul(value, value));
    product_ = hn::Add(product_, hn::Mul(value, exact));
    signed_error_ = hn::Add(signed_error_, error);
    max_abs_error_ = hn::IfThenElse(hn::Lt(max_abs_error_, size), size, max_abs_error_);
  }

  HWY_INLINE void store_to(ErrorSums& sums, std::size_t first) const {
    hn::StoreU(squared_error_, Doubles(), sums.squared_error.data() + first);
    hn::StoreU(squared_exact_, Doubles(), sums.squared_exact.data() + first);
    hn::StoreU(squared_value_, Doubles(), sums.squared_value.data() + first);
    hn::StoreU(product_, Doubles(), sums.product.data() + first);
    hn::StoreU(signed_error_, Doubles(), sums.signed_error.data() + first);
    hn::StoreU(max_abs_error_, Doubles(), sums.max_abs_error.data() + first);
  }

 private:
  DoubleVector squared_error_;
  DoubleVector squared_exact_;
  DoubleVector squared_value_;
  DoubleVector product_;
  DoubleVector signed_error_;
  DoubleVector max_abs_error_;
};

template <class Exact>
HWY_INLINE void add_all(const float* values, const Exact* exact, std::size_t count,
                        ErrorSums& sums) {
  for (std::size_t first = 0; first < kErrorLanes; first += hn::Lanes(Doubles())) {
    VectorSums lanes(sums, first);
    for (std::size_t i = first; i < count; i += kErrorLanes)
      lanes.add(load_doubles(values + i), load_doubles(exact + i));
    lanes.store_to(sums, first);
  }
}

#else

template <class Exact>
void add_all(const float* values, const Exact* exact, std::size_t count, ErrorSums& sums) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t lane = i % kErrorLanes;
    const double value = values[i];
    const double truth = exact[i];
    const double error = value - truth;
    sums.squared_error[lane] += error * error;
    sums.squared_exact[lane] += truth * truth;
    sums.squared_value[lane] += value * value;
    sums.product[lane] += value * truth;
    sums.signed_error[lane] += error;
    if (sums.max_abs_error[lane] < std::abs(error)) sums.max_abs_error[lane] = std::abs(error);
  }
}

#endif

void AddErrors(const float* values, const double* exact, std::size_t count, ErrorSums& sums) {
  add_all(values, exact, count, sums);
}
void AddFloatErrors(const float* values, const float* exact, std::size_t count, ErrorSums& sums) {
  add_all(values, exact, count, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(AddErrors);
HWY_EXPORT(AddFloatErrors);
}  // namespace

void add_errors(const float* values, const double* exact, std::size_t count, ErrorSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddErrors)(values, exact, count, sums);
}

void add_errors(const float* values, const float* exact, std::size_t count, ErrorSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddFloatErrors)(values, exact, count, sums);
}

}  // namespace equarx::numerics::kernels
#endif
