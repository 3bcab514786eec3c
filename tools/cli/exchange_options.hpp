// The subcommands import and export with their options.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds the subcommand `import` and its options.
void add_import(CLI::App& app);
/// Adds the subcommand `export` and its options.
void add_export(CLI::App& app);

}  // namespace equarx::cli
