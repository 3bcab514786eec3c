#include "models/numerics/kernels/multiples.hpp"

// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/multiples.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

void AddMultiple(double factor, const double* values, std::size_t count, double* sums) {
  std::size_t i = 0;
#if HWY_HAVE_FLOAT64
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> doubles;
  const auto factors = hn::Set(doubles, factor);
  for (; i + hn::Lanes(doubles) <= count; i += hn::Lanes(doubles)) {
    const auto products = hn::Mul(factors, hn::LoadU(doubles, values + i));
    hn::StoreU(hn::Add(hn::LoadU(doubles, sums + i), products), doubles, sums + i);
  }
#endif
  for (; i < count; ++i) sums[i] += factor * values[i];
}

void AddValues(const float* values, std::size_t count, double* sums) {
  std::size_t i = 0;
#if HWY_HAVE_FLOAT64
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<double> doubles;
  const hn::Rebind<float, decltype(doubles)> floats;
  for (; i + hn::Lanes(doubles) <= count; i += hn::Lanes(doubles)) {
    const auto terms = hn::PromoteTo(doubles, hn::LoadU(floats, values + i));
    hn::StoreU(hn::Add(hn::LoadU(doubles, sums + i), terms), doubles, sums + i);
  }
#endif
  for (; i < count; ++i) sums[i] += double{values[i]};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(AddMultiple);
HWY_EXPORT(AddValues);
}  // namespace

void add_multiple(double factor, const double* values, std::size_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddMultiple)(factor, values, count, sums);
}

void add_values(const float* values, std::size_t count, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddValues)(values, count, sums);
}

}  // namespace equarx::numerics::kernels
#endif
