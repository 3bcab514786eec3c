// Runs the completion script in bash.
#include "tools/cli/pages/bash_completion.hpp"

#include <algorithm>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/pages/described_options.hpp"

namespace equarx::cli::bash_completion_test {
namespace {

using Words = std::vector<std::string>;

std::string script() {
  int exit_code = 0;
  return bash_completion(*make_app(exit_code));
}

/// Completions of the last of these words.
Words completed(const Words& words) {
  const testing::TemporaryDirectory directory;
  directory.write("config.json", "{}");
  std::filesystem::create_directory(directory.path() / "configs");
  const std::string file = directory.write(".script", script());
  constexpr const char* kDriver =
      R"~(set -u; source "$1"; cd "$(dirname "$1")"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));
         _equarx_sim; printf '%s\n' "${COMPREPLY[@]}")~";
  Words command = {"/bin/bash", "--norc", "-c", kDriver, "driver", file};
  command.insert(command.end(), words.begin(), words.end());
  const auto result = testing::run_command(command);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  Words offered;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) offered.push_back(line);
  std::ranges::sort(offered);
  return offered;
}

TEST_CASE("subcommands are completed") {
  CHECK(completed({"equarx-sim", "ru"}) == Words{"run"});
  CHECK(completed({"equarx-sim", "re"}) == Words{"report", "reproduce"});
  CHECK(completed({"equarx-sim", "--ver"}) == Words{"--version"});
}

TEST_CASE("every subcommand and option is completed") {
  int exit_code = 0;
  const auto app = make_app(exit_code);
  for (const CLI::App* command : described_subcommands(*app)) {
    CAPTURE(command->get_name());
    CHECK(completed({"equarx-sim", command->get_name()}) == Words{command->get_name()});
    Words expected;
    for (const CLI::Option* option : described_options(*command))
      for (const std::string& name : option_names(*option)) expected.push_back(name);
    std::ranges::sort(expected);
    CHECK(completed({"equarx-sim", command->get_name(), "-"}) == expected);
  }
}

TEST_CASE("files are completed where files are expected, folders where folders are") {
  CHECK(completed({"equarx-sim", "run", "con"}) == Words{"config.json", "configs"});
  CHECK(completed({"equarx-sim", "run", "config.json", "--trace", "config."}) ==
        Words{"config.json"});
  CHECK(completed({"equarx-sim", "reproduce", "con"}) == Words{"configs"});
  CHECK(completed({"equarx-sim", "reproduce", "configs", "-o", "con"}) == Words{"configs"});
  CHECK(completed({"equarx-sim", "run", "config.json", "--trace-run", "con"}).empty());
}

TEST_CASE("built-in chips are completed in addition to files") {
  CHECK(completed({"equarx-sim", "hardware", "tpu-v5"}) == Words{"tpu-v5e", "tpu-v5p"});
  CHECK(completed({"equarx-sim", "hardware", "conf"}) == Words{"config.json", "configs"});
  CHECK(completed({"equarx-sim", "topology", "--hardware", "tpu-v6"}) == Words{"tpu-v6e"});
}

TEST_CASE("enumerated values of the schema are completed, with and without an equals sign") {
  CHECK(completed({"equarx-sim", "quantize", "--format", "nv"}) == Words{"nvfp4", "nvfp4-block"});
  CHECK(completed({"equarx-sim", "quantize", "--format", "=", "mxfp8"}) ==
        Words{"mxfp8-e4m3", "mxfp8-e5m2"});
  CHECK(completed({"equarx-sim", "quantize", "--layout", "gp"}) == Words{"gptq", "gptq-v2"});
}

TEST_CASE("option --set completes configuration keys and their values") {
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/tensor/by"}) ==
        Words{"/tensor/bytes="});
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/hardware", "=", "tpu-v4"}) ==
        Words{"tpu-v4"});
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/hardware/link_b"}) ==
        Words{"/hardware/link_bandwidth="});
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/workload/model", "=", "gemma3-1"}) ==
        Words{"gemma3-12b"});
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/simulation", "="}) ==
        Words{"auto", "full", "symmetric"});
  CHECK(completed({"equarx-sim", "run", "c.json", "--set", "/collectives/1/ring", "=", "semi"}) ==
        Words{"semi-loop"});
}

TEST_CASE("a list of formats is completed after each comma") {
  CHECK(completed({"equarx-sim", "tune", "c.json", "--formats", "nv"}) ==
        Words{"nvfp4", "nvfp4-block"});
  CHECK(completed({"equarx-sim", "tune", "c.json", "--formats", "int8,bf16,nv"}) ==
        Words{"int8,bf16,nvfp4", "int8,bf16,nvfp4-block"});
}

}  // namespace
}  // namespace equarx::cli::bash_completion_test
