#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::report_test {
namespace {

TEST_CASE("report writes a page from results of run --json") {
  const TemporaryDirectory folder;
  const std::string json = output_of(equarx_sim(on_small_example("run", {"--json"})));
  const std::string result = folder.write("result.json", json);
  const std::string page = (folder.path() / "page.html").string();
  CHECK(output_of(equarx_sim({"report", result, "-o", page, "--title", "Mine & <yours>"})).empty());
  const std::string html = content_of(page);
  CHECK_THAT(html, ContainsSubstring("<title>Mine &amp; &lt;yours&gt;</title>"));
  CHECK_THAT(html, ContainsSubstring("full-loop"));
  CHECK(file_count(folder.path()) == 2);
}

TEST_CASE("report notes truncated lines and uses the rest") {
  const TemporaryDirectory folder;
  const std::string sweep = folder.write(
      "sweep.jsonl", R"({"key": "a", "version": "0.1.0", "axes": {"/a": 1}, "error": "too small"})"
                     "\n{\"key\": \"b\", \"vers");
  const CommandResult result =
      equarx_sim({"report", sweep, "-o", (folder.path() / "page.html").string()});
  CHECK(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(result.err ==
        "equarx-sim: note: " + sweep + ": its last line, 2, was cut off and is left out\n");
  CHECK_THAT(content_of(folder.path() / "page.html"),
             ContainsSubstring("<title>sweep.jsonl</title>"));
}

TEST_CASE("report does not overwrite its inputs") {
  const TemporaryDirectory folder;
  const std::string text = R"({"key": "a", "version": "0.1.0", "axes": {}, "error": "small"})";
  const std::string results = folder.write("r.jsonl", text);
  const auto link = folder.path() / "link.jsonl";
  std::filesystem::create_symlink(results, link);
  check_refusal(equarx_sim({"report", results, "-o", results}),
                "cannot write " + results + ": it is an input");
  check_refusal(equarx_sim({"report", kExample, results, "-o", link}), "it is an input");
  CHECK(content_of(results) == text);
}

TEST_CASE("the page of a sweep is titled after its folder") {
  const TemporaryDirectory folder;
  const std::string point = R"({"key": "a", "version": "0.1.0", "axes": {}, "error": "too small"})";
  const auto title_of = [&](const std::string& place) {
    std::filesystem::create_directories(folder.path() / place);
    const std::string results = folder.write(place + "/results.jsonl", point);
    const std::string page = (folder.path() / "page.html").string();
    CHECK(equarx_sim({"report", results, "-o", page}).exit_code == 0);
    const std::string html = content_of(page);
    const std::size_t begin = html.find("<title>") + std::string("<title>").size();
    return html.substr(begin, html.find("</title>") - begin);
  };
  CHECK(title_of("sizes") == "sizes");
  CHECK(title_of("sizes/../sizes/.") == "sizes");
  CHECK(title_of("sizes/shard-1-of-2") == "sizes, shard-1-of-2");
}

TEST_CASE("report rejects files without results and leaves no partial file") {
  const TemporaryDirectory folder;
  const std::string page = (folder.path() / "page.html").string();
  check_refusal(equarx_sim({"report", kExample, "-o", page}), "not a result");
  check_refusal(equarx_sim({"report", "/no/such/file", "-o", page}), "cannot read /no/such/file");
  check_refusal(equarx_sim({"report", "-o", page}), "see 'equarx-sim report --help'");
  const std::string failed = folder.write(
      "f.jsonl", R"({"key": "a", "version": "0.1.0", "axes": {}, "error": "too small"})");
  check_refusal(equarx_sim({"report", failed, "-o", "/no/such/folder/page.html"}),
                "cannot write /no/such/folder/page.html");
  CHECK(file_count(folder.path()) == 1);
}

}  // namespace
}  // namespace equarx::testing::report_test
