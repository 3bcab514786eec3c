// The subcommands import and export with their options.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

void add_import(CLI::App& app);
void add_export(CLI::App& app);

}  // namespace equarx::cli
