// The manual page.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// The manual page of the command line that `app` describes, in troff with the man macros.
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace equarx::cli
