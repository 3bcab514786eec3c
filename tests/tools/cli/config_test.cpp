#include <filesystem>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::testing::config_test {
namespace {

std::string written(const std::string& name, const std::filesystem::path& path) {
  return output_of(equarx_sim({"config", "new", name, "-o", path.string()}));
}

TEST_CASE("config new writes configurations that run") {
  const TemporaryDirectory folder;
  for (const std::string name : {"collective", "prefill", "decode", "chip"}) {
    CAPTURE(name);
    const std::filesystem::path path = folder.path() / (name + ".json");
    CHECK(written(name, path) == "wrote " + path.string() + "\n");
    CHECK(output_of(equarx_sim({"validate", path.string()})) == path.string() + ": valid\n");
    const CommandResult run = equarx_sim({"run", path.string(), "--set", "/numerics=off"});
    CHECK_THAT(output_of(run), ContainsSubstring("speedup"));
    // Commands in comments name the file.
    CHECK_THAT(content_of(path), ContainsSubstring("equarx-sim run " + path.string()));
  }
}

TEST_CASE("config new writes steps that run") {
  const TemporaryDirectory folder;
  for (const std::string name : {"training", "serving", "step", "hlo"}) {
    CAPTURE(name);
    const std::filesystem::path path = folder.path() / (name + ".json");
    written(name, path);
    CHECK(output_of(equarx_sim({"validate", path.string()})) == path.string() + ": valid\n");
    CHECK_THAT(output_of(equarx_sim({"run", path.string()})), ContainsSubstring("speedup"));
  }
  CHECK_THAT(content_of(folder.path() / "hlo.json"),
             ContainsSubstring("import hlo program.hlo.txt --topology 4x4 -o " +
                               (folder.path() / "hlo.json").string()));
}

TEST_CASE("config new writes a served load") {
  const TemporaryDirectory folder;
  const std::filesystem::path path = folder.path() / "served-load.json";
  written("served-load", path);
  CHECK(output_of(equarx_sim({"validate", path.string()})) == path.string() + ": valid\n");
  CHECK_THAT(output_of(equarx_sim({"serve", path.string()})), ContainsSubstring("Throughput"));
}

TEST_CASE("config new writes a graph that a configuration accepts") {
  const TemporaryDirectory folder;
  const std::filesystem::path path = folder.path() / "my_graph.json";
  written("graph-file", path);
  CHECK_THAT(output_of(equarx_sim({"topology", "--file", path.string()})),
             ContainsSubstring("ladder"));
  written("graph", folder.path() / "mine.json");
  CHECK_THAT(content_of(folder.path() / "mine.json"), ContainsSubstring("\"my_graph.json\""));
  CHECK_THAT(output_of(equarx_sim(
                 {"run", folder.path() / "mine.json", "--set", "/topology/file=" + path.string()})),
             ContainsSubstring("graph ladder"));
}

TEST_CASE("config new without a file prints every template of its help, with comments") {
  const std::string help = output_of(equarx_sim({"config", "--help"}));
  for (const std::string& name : cli::config_templates()) {
    CAPTURE(name);
    CHECK_THAT(help, ContainsSubstring("  " + name + " "));
    const std::string text = output_of(equarx_sim({"config", "new", name}));
    CHECK(text.starts_with("//"));
    CHECK_THAT(text, !ContainsSubstring("THIS_FILE"));
  }
  const std::string text = output_of(equarx_sim({"config", "new", "chip"}));
  CHECK(output_of(equarx_sim({"validate", "-"}, {.input = text})) == "standard input: valid\n");
}

TEST_CASE("config new does not overwrite files and rejects unknown templates") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("mine.json", "mine");
  check_refusal(equarx_sim({"config", "new", "chip", "-o", path}), "already exists");
  CHECK(content_of(path) == "mine");
  check_refusal(equarx_sim({"config", "new", "chips"}), "did you mean 'chip'?");
  check_refusal(equarx_sim({"config", "new", "xyz"}),
                "use one of collective, prefill, decode, training");
  check_refusal(equarx_sim({"config", "new", "train"}), "did you mean 'training'?");
  check_refusal(equarx_sim({"config", "old", "chip"}), "use one of new");
  check_refusal(equarx_sim({"config", "new"}), "TEMPLATE is required");
  check_refusal(equarx_sim({"config", "new", "chip", "-o", folder.path() / "none" / "x.json"}),
                "cannot");
}

TEST_CASE("comments do not affect error positions") {
  const auto refused = [](const std::string& text, const std::string& words) {
    check_refusal(equarx_sim({"validate", "-"}, {.input = text}), words);
  };
  refused("{ // a comment\n  \"hardware\": }", "line 2, column 15");
  refused("{ /* never ends ", "not valid JSON at line 1");
  refused("{} // a comment\n /", "not valid JSON at line 2");
}

}  // namespace
}  // namespace equarx::testing::config_test
