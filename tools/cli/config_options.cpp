#include "tools/cli/config_options.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/os/program_folder.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

namespace fs = std::filesystem;

/// Returns `path` if it is absolute or exists; else the installed file of that name, such as
/// configs/experiments/allreduce_v5e_4x2.json, with a note on standard error; else `path`.
std::string here_or_installed(const std::string& path) {
  std::error_code ignored;  // reported when the file is opened
  if (path.empty() || fs::path(path).is_absolute() || fs::exists(path, ignored)) return path;
  const fs::path folder = os::program_folder();
  const fs::path installed = (folder / EQUARX_DATA_FROM_BIN / path).lexically_normal();
  if (folder.empty() || !fs::exists(installed, ignored)) return path;
  print_message(
      fmt::format("equarx-sim: note: {} not found here; reading {}\n", path, installed.string()));
  return installed.string();
}

/// Returns `name` if that folder exists; else the study of that name in experiments/studies, here or
/// installed. Accepts the paths of version 0.2, like experiments/equarx_paper.
std::string study_folder(const std::string& name) {
  std::error_code ignored;  // reported when the study is opened
  if (name.empty() || fs::exists(name, ignored)) return name;
  const fs::path path = fs::path(name).lexically_normal();
  const fs::path former = "experiments";
  const bool is_former = *path.begin() == former;
  const fs::path by_name =
      former / "studies" / (is_former ? path.lexically_relative(former) : path);
  const std::string found = here_or_installed(by_name.string());
  return fs::exists(found, ignored) ? found : name;
}

}  // namespace

CLI::Validator or_named_study() {
  const auto find = [](std::string& name) {
    name = study_folder(name);
    return std::string();  // no error
  };
  return CLI::Validator(find, "");
}

CLI::Validator or_installed() {
  const auto find = [](std::string& path) {
    path = here_or_installed(path);
    return std::string();  // no error
  };
  return CLI::Validator(find, "");
}

void add_overrides(CLI::App& command, Overrides& overrides, const char* of) {
  command
      .add_option("--set", overrides.set,
                  fmt::format("Override {} value at a JSON pointer with JSON or plain text, like "
                              "'/tensor/bytes=8 MiB'; may be repeated",
                              of))
      ->type_name(kOverride)
      ->expected(1)
      ->take_all();
  command
      .add_option("--unset", overrides.unset,
                  fmt::format("Remove {} key at a JSON pointer, like /baseline, before any --set; "
                              "may be repeated",
                              of))
      ->type_name("POINTER")
      ->expected(1)
      ->take_all();
}

void add_price(CLI::App& command, Overrides& overrides) {
  command
      .add_option_function<std::string>(
          "--price",
          [&](const std::string& price) { overrides.set.push_back("/hardware/price=" + price); },
          "Price of a chip, like '$0.6/h'; as --set /hardware/price")
      ->type_name("PRICE");
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
