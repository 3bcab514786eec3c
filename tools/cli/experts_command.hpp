// The subcommand `experts`.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds the subcommand, its options and its action.
void add_experts(CLI::App& app);

}  // namespace equarx::cli
