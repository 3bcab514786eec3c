// Formats of stored tensors on the command line.
#pragma once

#include <string>

#include "models/tensors/tensor_file.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Opens `tensor`, or the only one, of a file. @throws InputError for several, naming the `option`
/// that selects one; FileError
tensors::TensorFile open_tensor(const std::string& file, const std::string& tensor,
                                const std::string& option = "--tensor");

/// quantize() with the file of a stored format.
void quantize_stored(const QuantizeArguments& arguments);

}  // namespace equarx::cli
