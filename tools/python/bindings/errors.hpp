#pragma once

namespace equarx::python {

/// Translates exceptions of the program to exceptions of the package: user errors become
/// equarx.InputError, with a JSON pointer, and defects of the program equarx.DefectError.
void bind_errors();

}  // namespace equarx::python
