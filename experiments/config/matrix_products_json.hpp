// "matrix_products" of a hardware file: matmul efficiency as JSON.
#pragma once

#include "base/input/object_reader.hpp"
#include "models/hardware/matrix_products.hpp"

namespace equarx::config {

/// Reads "matrix_products" of a hardware file. @throws InputError
hardware::MatrixProducts read_matrix_products(input::ObjectReader reader);

/// Inverse of read_matrix_products().
input::Json matrix_products_json(const hardware::MatrixProducts& products);

/// Schema of "matrix_products", with annotations.
input::Json matrix_products_schema();

}  // namespace equarx::config
