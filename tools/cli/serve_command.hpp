// Subcommand serve.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace equarx::cli {

/// Adds `serve`.
void add_serve(CLI::App& app);

}  // namespace equarx::cli
