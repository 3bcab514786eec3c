#include "tools/cli/pages/completions.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tools/cli/app.hpp"

namespace equarx::cli::completions_test {
namespace {

Completions completions() {
  int exit_code = 0;
  return completions_of(*make_app(exit_code));
}

const CompletedCommand& command(const Completions& all, const std::string& name) {
  return *std::ranges::find(all.commands, name, &CompletedCommand::name);
}

const Choices& option(const Completions& all, const std::string& of, const std::string& name) {
  for (const CompletedOption& option : command(all, of).options)
    if (std::ranges::find(option.names, name) != option.names.end()) return option.values;
  throw std::logic_error("no option " + name);
}

TEST_CASE("choices follow the value types of the command line") {
  const Completions all = completions();
  CHECK(option(all, "run", "--set").keys);
  CHECK(option(all, "run", "--trace").files);
  CHECK(option(all, "sweep", "-o").folders);
  CHECK(option(all, "topology", "--hardware").files);
  CHECK(std::ranges::count(option(all, "topology", "--hardware").words, "tpu-v5e") == 1);
  CHECK(option(all, "tune", "--formats").list);
  CHECK(std::ranges::count(option(all, "tune", "--formats").words, "mxfp4") == 1);
  const std::vector<std::string> layouts = option(all, "quantize", "--layout").words;
  CHECK(std::vector(layouts.begin(), layouts.begin() + 3) ==
        std::vector<std::string>{"strided", "contiguous", "gptq"});
  CHECK(option(all, "dequantize", "--layout").words ==
        std::vector(layouts.begin() + 2, layouts.end()));
  CHECK(option(all, "quantize", "--tensor").words.empty());
}

TEST_CASE("arguments keep their order and may be repeated") {
  const Completions all = completions();
  CHECK(command(all, "compare").arguments.size() == 2);
  CHECK(command(all, "compare").arguments[0].values.files);
  CHECK(command(all, "report").arguments.at(0).repeated);
  CHECK(all.top.name.empty());
}

TEST_CASE("nested subcommands are rejected") {
  CLI::App app("", "tool");
  app.add_subcommand("a", "A")->add_subcommand("b", "B");
  CHECK_THROWS_AS(completions_of(app), std::logic_error);
}

}  // namespace
}  // namespace equarx::cli::completions_test
