// Runs the completion script in zsh, if installed.
#include "tools/cli/pages/zsh_completion.hpp"

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"
#include "tools/cli/app.hpp"

namespace equarx::cli::zsh_completion_test {
namespace {

constexpr const char* kZsh = "/bin/zsh";

/// Completes a line by pressing tab at its end.
constexpr const char* kDriver = R"~(
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell "$1"; }
say "PS1= fpath=(${1:h} \$fpath) HISTFILE="
say "autoload -Uz compinit; compinit -D -u; unsetopt automenu; setopt nolistbeep; cd ${1:h}"
say "show() { print -r -- \"<\$BUFFER>\"; }; zle -N show; bindkey '^X' show"
say "print re''ady"
zpty -r shell out "*ready*"
zpty -w -n shell "$2"$'\t\x18'
zpty -r -m shell out "*<*>*"
print -r -- ${${out##*\<}%%\>*}
zpty -d shell
)~";

std::string completed(const std::string& line) {
  int exit_code = 0;
  const testing::TemporaryDirectory directory;
  const std::string file = directory.write("_equarx-sim", zsh_completion(*make_app(exit_code)));
  directory.write("config.json", "{}");
  const auto result = testing::run_command({kZsh, "-f", "-c", kDriver, "driver", file, line});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  return result.out;
}

TEST_CASE("zsh completes subcommands, options, files, chips, keys and lists of formats") {
  if (!std::filesystem::exists(kZsh)) return;
  CHECK(completed("equarx-sim ru") == "equarx-sim run \n");
  CHECK(completed("equarx-sim run --trace-") == "equarx-sim run --trace-run=\n");
  CHECK(completed("equarx-sim run con") == "equarx-sim run config.json \n");
  CHECK(completed("equarx-sim hardware tpu-v6") == "equarx-sim hardware tpu-v6e \n");
  CHECK(completed("equarx-sim run c.json --set /tensor/by") ==
        "equarx-sim run c.json --set /tensor/bytes=\n");
  CHECK(completed("equarx-sim run c.json --set /hardware=tpu-v4") ==
        "equarx-sim run c.json --set /hardware=tpu-v4 \n");
  CHECK(completed("equarx-sim run c.json --set=/simulation=sy") ==
        "equarx-sim run c.json --set=/simulation=symmetric \n");
  CHECK(completed("equarx-sim quantize t.npy --format mxfp4") ==
        "equarx-sim quantize t.npy --format mxfp4 \n");
  CHECK(completed("equarx-sim tune c.json --formats int8,mxfp4") ==
        "equarx-sim tune c.json --formats int8,mxfp4,\n");
}

}  // namespace
}  // namespace equarx::cli::zsh_completion_test
