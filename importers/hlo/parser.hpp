// Parser of HLO text as written by --xla_dump_hlo_as_text and compiled.as_text().
#pragma once

#include <string_view>

#include "importers/hlo/module.hpp"
#include "importers/hlo/scanner.hpp"

namespace equarx::hlo {

/// Reads a shape: "f32[2,3]{1,0:T(8,128)S(1)}", "(s32[], bf16[8])". Bounds of dynamic lengths
/// ("<=8") count as lengths; unknown lengths ("?") as 1. @throws exceptions::UserError
Shape read_shape(Scanner& scanner);

/// Reads a module. Unknown constructs are skipped and counted in Module::skipped: lines that are
/// not instructions, attributes without a value, undefined operands and computations, unknown
/// types.
/// @throws exceptions::UserError if the text is not a module, is truncated, or has no entry or a recursive
/// computation
Module parse_module(std::string_view text);

}  // namespace equarx::hlo
