// RAII owners for objects of the GNU Scientific Library.
#pragma once

#include <memory>
#include <new>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

namespace equarx::calibrate {

/// Deleter that calls a GSL free function.
template <auto Free>
struct GslFree {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

/// Owner of a GSL object.
template <typename T, auto Free>
using GslOwner = std::unique_ptr<T, GslFree<Free>>;
using GslVector = GslOwner<gsl_vector, gsl_vector_free>;
using GslMatrix = GslOwner<gsl_matrix, gsl_matrix_free>;

}  // namespace equarx::calibrate
