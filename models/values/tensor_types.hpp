// Conversions between tensor types in storage (files, arrays) and element formats.
#pragma once

#include "models/formats/block_format.hpp"
#include "models/tensors/element_type.hpp"

namespace equarx::values {

/// Returns the element format of a storage type. Throws std::logic_error for FP64, which no run
/// supports.
numerics::ElementFormat element_format(tensors::FileType type);

/// Returns the storage type of a format. Throws std::logic_error if it is not one of
/// kTensorFormats.
tensors::FileType file_type(numerics::ElementFormat format);

}  // namespace equarx::values
