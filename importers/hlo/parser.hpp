// Parser of HLO text as written by --xla_dump_hlo_as_text and compiled.as_text().
#pragma once

#include <string_view>

#include "importers/hlo/module.hpp"
#include "importers/hlo/scanner.hpp"
#include "importers/hlo/shape_text.hpp"

namespace equarx::hlo {

/// Reads a module, which keeps the text. Operands "x#1" become get-tuple-element instructions.
/// Unknown constructs are skipped and counted in Module::skipped: lines that are not instructions,
/// attributes without a value, undefined operands and computations, unknown types.
/// @throws exceptions::UserError if the text is not a module, is truncated, or has no entry or a recursive
/// computation
Module parse_module(std::string text);

}  // namespace equarx::hlo
