// The command line of equarx-sim: subcommands and their options.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Names of option values (`type_name`) known to shell completion; any other is free text.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kPath = "PATH";               ///< a file, for an argument named FILE
inline constexpr const char* kFolder = "FOLDER";           ///< a folder
inline constexpr const char* kNew = "new";                 ///< literal
inline constexpr const char* kTemplate = "TEMPLATE";       ///< one of config_templates()
inline constexpr const char* kKind = "KIND";               ///< import format
inline constexpr const char* kExportKind = "EXPORT";       ///< export format
inline constexpr const char* kLayout = "LAYOUT";           ///< layout of quantized weights
inline constexpr const char* kChip = "CHIP";               ///< a built-in chip or a hardware file
inline constexpr const char* kFormats = "FORMATS";         ///< comma-separated formats
inline constexpr const char* kCases = "CASES";             ///< comma-separated cases of vectors
inline constexpr const char* kOverride = "POINTER=VALUE";  ///< value of --set

/// Builds the command line. Parsing arguments runs the named subcommand, which throws as documented
/// in commands.hpp and sets `exit_code` if it completed with a nonzero exit code.
std::unique_ptr<CLI::App> make_app(int& exit_code);

}  // namespace equarx::cli
