// Subcommand plan.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds `plan`.
void add_plan(CLI::App& app);

}  // namespace equarx::cli
