#include "tools/cli/pages/man_page.hpp"

#include <regex>

#include "tests/catch.hpp"
#include "tests/support/run_command.hpp"
#include "tools/cli/app.hpp"
#include "tools/cli/pages/described_options.hpp"

namespace equarx::cli::man_page_test {
namespace {

std::string page() {
  int exit_code = 0;
  return man_page(*make_app(exit_code), "1.2.3");
}

/// The rendered page without line breaks; empty without groff.
std::string rendered(const std::string& text) {
  const testing::TemporaryDirectory directory;
  const std::string file = directory.write("page.1", text);
  if (!std::filesystem::exists("/usr/bin/groff")) return {};
  // By default grotty writes escape sequences for bold.
  const auto result = testing::run_command(
      {"/usr/bin/groff", "-man", "-Tascii", "-ww", "-rLL=2000n", "-P-c", "-P-b", "-P-u", file});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());  // warnings
  return result.out;
}

TEST_CASE("the man page contains every subcommand and option with its description") {
  int exit_code = 0;
  const auto app = make_app(exit_code);
  const std::string text = rendered(man_page(*app, "1.2.3"));
  if (text.empty()) {
    WARN("groff is not installed: the page was not rendered");
    return;
  }
  CHECK_THAT(text, ContainsSubstring("equarx-sim 1.2.3"));
  auto apps = described_subcommands(*app);
  CHECK(apps.size() >= 7);
  for (const CLI::App* command : apps) {
    CAPTURE(command->get_name());
    CHECK_THAT(text, ContainsSubstring("equarx-sim " + command->get_name() + " [OPTIONS]"));
    CHECK_THAT(text, ContainsSubstring(command->get_description()));
  }
  apps.push_back(app.get());
  for (const CLI::App* command : apps)
    for (const CLI::Option* option : described_options(*command)) {
      for (const std::string& name : option_names(*option))
        CHECK_THAT(text, ContainsSubstring(name));
      CHECK_THAT(text, ContainsSubstring(option->get_description()));
    }
}

TEST_CASE("descriptions are escaped for troff") {
  CLI::App app("First line\nand .dots and 'quotes' and \\slashes", "tool");
  bool odd = false;
  app.add_flag("--odd", odd, ".TH is not a request here, nor is \\fB bold");
  app.add_subcommand("go", "'quoted' at the start");
  app.footer("Examples:\n  tool go --odd\n  .hidden\n\nAfter them.");
  const std::string text = rendered(man_page(app, "1"));
  if (text.empty()) {
    WARN("groff is not installed: the page was not rendered");
    return;
  }
  for (const char* part :
       {"and .dots and 'quotes' and \\slashes", "  .hidden", "'quoted' at the start",
        ".TH is not a request here, nor is \\fB bold", "  tool go --odd", "After them."})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("the synopsis of a subcommand has its arguments, optional ones in brackets") {
  const std::string text = page();
  CHECK_THAT(text, ContainsSubstring("equarx\\-sim run [OPTIONS] CONFIG"));
  CHECK_THAT(text, ContainsSubstring("equarx\\-sim hardware [OPTIONS] [CHIP]"));
}

}  // namespace
}  // namespace equarx::cli::man_page_test
