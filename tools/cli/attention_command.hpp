// The subcommand `attention`.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds the subcommand, its options and its action.
void add_attention(CLI::App& app);

}  // namespace equarx::cli
