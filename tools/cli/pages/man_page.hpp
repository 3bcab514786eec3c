// Man page.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace equarx::cli {

/// Generates the man page of `app` in troff with man macros.
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace equarx::cli
