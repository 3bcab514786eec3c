// The subcommands that exchange programs with others: import and export, and their options.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Makes `import`.
void add_import(CLI::App& app);
/// Makes `export`.
void add_export(CLI::App& app);

}  // namespace equarx::cli
