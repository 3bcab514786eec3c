#include "tools/cli/config_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/cli/app.hpp"
#include "tools/cli/installed.hpp"

namespace equarx::cli {

CLI::Validator or_installed() {
  const auto find = [](std::string& path) {
    path = here_or_installed(path);
    return std::string();  // no error
  };
  return CLI::Validator(find, "");
}

void add_overrides(CLI::App& command, std::vector<std::string>& overrides, const char* of) {
  command
      .add_option("--set", overrides,
                  fmt::format("Override {} value at a JSON pointer by JSON or plain text, like "
                              "'/tensor/bytes=8 MiB'; may be repeated",
                              of))
      ->type_name(kOverride)
      ->expected(1)
      ->take_all();
}

void add_config(CLI::App& command, ConfigArguments& arguments) {
  command
      .add_option("CONFIG", arguments.path, "Experiment configuration (JSON); - for standard input")
      ->type_name(kFile)
      ->transform(or_installed())
      ->required();
  add_overrides(command, arguments.overrides);
}

}  // namespace equarx::cli
