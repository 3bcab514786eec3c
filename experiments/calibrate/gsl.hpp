// What belongs to the GNU Scientific Library, freed with its owner.
#pragma once

#include <memory>
#include <new>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

namespace equarx::calibrate {

/// Frees by a function of the library.
template <auto Free>
struct GslFree {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

/// Owns what the library allocated.
template <typename T, auto Free>
using GslOwner = std::unique_ptr<T, GslFree<Free>>;
/// A vector of the library.
using GslVector = GslOwner<gsl_vector, gsl_vector_free>;
/// A matrix of the library.
using GslMatrix = GslOwner<gsl_matrix, gsl_matrix_free>;

}  // namespace equarx::calibrate
