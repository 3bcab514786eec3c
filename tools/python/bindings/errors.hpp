#pragma once

namespace equarx::python {

/// Makes exceptions of the program those of the package: what the user got wrong is an equarx.InputError, with its
/// JSON pointer, and a defect of the program an equarx.DefectError.
void bind_errors();

}  // namespace equarx::python
