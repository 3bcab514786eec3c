// Runs the completion script in fish, if installed.
#include "tools/cli/pages/fish_completion.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"
#include "tools/cli/app.hpp"

namespace equarx::cli::fish_completion_test {
namespace {

using Words = std::vector<std::string>;
constexpr const char* kFish = "/usr/bin/fish";

/// Completions at the end of a line, without descriptions.
Words completed(const std::string& line) {
  int exit_code = 0;
  const testing::TemporaryDirectory directory;
  const std::string file = directory.write("script.fish", fish_completion(*make_app(exit_code)));
  directory.write("config.json", "{}");
  const auto result = testing::run_command(
      {kFish, "--no-config", "-c", "source $argv[1]; cd (dirname $argv[1]); complete -C $argv[2]",
       file, line});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  Words offered;
  std::istringstream lines(result.out);
  for (std::string offer; std::getline(lines, offer);)
    offered.push_back(offer.substr(0, offer.find('\t')));
  std::ranges::sort(offered);
  return offered;
}

TEST_CASE("fish completes subcommands, options, files, chips, keys and lists of formats") {
  if (!std::filesystem::exists(kFish)) return;
  CHECK(completed("equarx-sim ru") == Words{"run"});
  CHECK(completed("equarx-sim comp") == Words{"compare"});
  CHECK(completed("equarx-sim run --trace-") == Words{"--trace-run"});
  CHECK(completed("equarx-sim run con") == Words{"config.json"});
  CHECK(completed("equarx-sim hardware tpu-v5") == Words{"tpu-v5e", "tpu-v5p"});
  CHECK(completed("equarx-sim run c.json --set /hardware=tpu-v4") == Words{"/hardware=tpu-v4"});
  CHECK(completed("equarx-sim quantize t.npy --format nv") == Words{"nvfp4", "nvfp4-block"});
  CHECK(completed("equarx-sim tune c.json --formats int8,nv") ==
        Words{"int8,nvfp4", "int8,nvfp4-block"});
}

}  // namespace
}  // namespace equarx::cli::fish_completion_test
