// Types of tensors, as files and arrays store them and as formats describe them.
#pragma once

#include "models/formats/block_format.hpp"
#include "models/tensors/element_type.hpp"

namespace equarx::values {

/// The format of elements that are stored so. std::logic_error for FP64, in which no tensor of a run is.
numerics::ElementFormat element_format(tensors::FileType type);

/// How elements of a tensor are stored. std::logic_error if the format is none of kTensorFormats.
tensors::FileType file_type(numerics::ElementFormat format);

}  // namespace equarx::values
