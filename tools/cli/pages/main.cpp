// Build step that writes shell completions and the man page for installation.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/output/provenance.hpp"
#include "experiments/result/json.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/pages/bash_completion.hpp"
#include "tools/cli/pages/fish_completion.hpp"
#include "tools/cli/pages/man_page.hpp"
#include "tools/cli/pages/zsh_completion.hpp"

namespace {

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace

/// Usage: equarx-sim-pages BASH_COMPLETION ZSH_COMPLETION FISH_COMPLETION MAN_PAGE
int main(int argc, char** argv) {
  using namespace equarx;
  try {
    constexpr int kArguments = 5;
    if (argc != kArguments) throw std::runtime_error("give the four files to write");
    int exit_code = 0;
    const auto app = cli::make_app(exit_code);
    write(argv[1], cli::bash_completion(*app));
    write(argv[2], cli::zsh_completion(*app));
    write(argv[3], cli::fish_completion(*app));
    write(argv[4], cli::man_page(*app, std::string(output::version())));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "equarx-sim-pages: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
