// Reader of shapes in HLO text.
#pragma once

#include "importers/hlo/scanner.hpp"
#include "importers/hlo/shape.hpp"

namespace equarx::hlo {

/// Reads a shape: "f32[2,3]{1,0:T(8,128)S(1)}", "(s32[], bf16[8])". Bounds of dynamic lengths
/// ("<=8") count as lengths; unknown lengths ("?") as 1. @throws exceptions::UserError
Shape read_shape(Scanner& scanner);

}  // namespace equarx::hlo
