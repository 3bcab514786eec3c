// Reads HLO text, as --xla_dump_hlo_as_text and compiled.as_text() write it.
#pragma once

#include <string_view>

#include "models/hlo/module.hpp"
#include "models/hlo/scanner.hpp"

namespace equarx::hlo {

/// Reads a shape: "f32[2,3]{1,0:T(8,128)S(1)}", "(s32[], bf16[8])". Bounds of dynamic lengths ("<=8") count as lengths;
/// of a length that nobody knows ("?") 1 is taken. @throws TextError
Shape read_shape(Scanner& scanner);

/// Reads a module. What HLO does not have is read over and counted in Module::skipped: lines that are no instruction,
/// attributes without a value, operands and computations that are named but not there, types that are not known.
/// @throws TextError for text that is no module, ends too early, has no entry, or a computation that calls itself
Module parse_module(std::string_view text);

}  // namespace equarx::hlo
