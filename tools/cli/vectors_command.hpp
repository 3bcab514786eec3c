// The subcommand `vectors`.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds the subcommand, its options and its action.
void add_vectors(CLI::App& app);

}  // namespace equarx::cli
