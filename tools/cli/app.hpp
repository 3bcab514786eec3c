// The command line of equarx-sim: every subcommand and option, and what each of them does.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Names of option values (`type_name`) that completion has an answer for; any other is free text.
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kPath = "PATH";  ///< the same, of an argument named FILE
/// An argument that is a folder.
inline constexpr const char* kFolder = "FOLDER";
inline constexpr const char* kNew = "new";                 ///< the word itself
inline constexpr const char* kQuestion = "QUESTION";       ///< of questions()
inline constexpr const char* kKind = "KIND";               ///< of a program that is imported
inline constexpr const char* kExportKind = "WHAT";         ///< what is exported
inline constexpr const char* kChip = "CHIP";               ///< a built-in chip or a hardware file
inline constexpr const char* kFormats = "FORMATS";         ///< formats with commas between them
inline constexpr const char* kOverride = "POINTER=VALUE";  ///< what --set takes

/// Makes the command line. Parsing arguments with it runs the subcommand that they name, which throws what
/// commands.hpp says, and sets `exit_code` where it did its work and yet must not return 0.
std::unique_ptr<CLI::App> make_app(int& exit_code);

}  // namespace equarx::cli
