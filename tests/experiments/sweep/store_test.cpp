#include "experiments/sweep/store.hpp"

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "experiments/result/json.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::store_test {
namespace {

using namespace testing;

/// Lines of a point with `runs` runs.
std::string lines(const std::string& key, int runs = 2,
                  const std::string& made_by = std::string(output::version())) {
  std::string text;
  for (int run = 0; run < runs; ++run)
    text +=
        input::Json(
            {{"point", 0},
             {"key", key},
             {"version", made_by},
             {"axes", input::Json::object()},
             {"run", {{"label", std::to_string(run)}}},
             {"config",
              {{"collectives", input::Json(std::vector<int>(static_cast<std::size_t>(runs)))}}}})
            .dump() +
        '\n';
  return text;
}

std::string error(const std::string& key) {
  return input::Json({{"point", 0},
                      {"key", key},
                      {"version", output::version()},
                      {"axes", input::Json::object()},
                      {"error", "e"}})
             .dump() +
         '\n';
}

/// A folder with a results.jsonl of this content.
struct Results : TemporaryFolder {
  explicit Results(const std::string& text = "") {
    if (!text.empty()) write(file(), text);
  }
  std::filesystem::path file() const { return path() / "results.jsonl"; }
};

TEST_CASE("results of version 0.2 get the current names of their keys") {
  std::string old = lines("a", 1);
  const std::string label = R"("label":"0")";
  old.replace(old.find(label), label.size(), label + R"(,"breakdown":{"overhead_s":1.0})");
  const Results results(old);
  SweepStore store(results.path());
  CHECK(store.has_old_keys());
  store.open();
  CHECK(store.lines(*store.find("a")) == old);
  CHECK(store.results(*store.find("a")).front()->at("run").at("breakdown") ==
        input::Json{{"sync_s", 1.0}});
}

TEST_CASE("appended points are found, also after reopening") {
  const Results results;
  {
    SweepStore store(results.path());
    store.open();
    store.append("a", lines("a"), PointState::computed);
    store.append("b", error("b"), PointState::failed);
    CHECK(store.lines(*store.find("a")) == lines("a"));
    CHECK(store.find("c") == nullptr);
  }
  SweepStore store(results.path());
  store.open();
  CHECK(store.broken_lines() == 0);
  CHECK(store.lines(*store.find("a")) == lines("a"));
  CHECK_FALSE(store.find("a")->failed());
  CHECK(store.find("b")->failed());
  CHECK(content(results.file()) == lines("a") + error("b"));
}

TEST_CASE("truncation at any position keeps complete points") {
  const std::string whole = lines("a") + error("b");
  const std::string last = lines("c", 3);
  for (std::size_t length = 0; length < last.size(); length += 7) {
    CAPTURE(length);
    const Results results(whole + last.substr(0, length));
    SweepStore store(results.path());
    CHECK((store.broken_lines() > 0) == (length > 0));
    CHECK(store.find("c") == nullptr);
    store.open();
    CHECK(content(results.file()) == whole);
    CHECK(store.lines(*store.find("a")) == lines("a"));
    store.append("c", last, PointState::computed);
    CHECK(store.lines(*store.find("c")) == last);
    CHECK(content(results.file()) == whole + last);
  }
}

TEST_CASE("a truncated line in the middle, as in merged shards, drops that point only") {
  const std::string a = lines("a");
  const Results results(a.substr(0, a.size() - 9) + lines("b") + lines("c"));
  SweepStore store(results.path());
  store.open();
  CHECK(store.find("a") == nullptr);
  CHECK(store.find("b") == nullptr);
  CHECK(store.lines(*store.find("c")) == lines("c"));
}

TEST_CASE("a duplicate point counts once, and success supersedes failure") {
  const Results results(error("a") + lines("b") + lines("b") + lines("a"));
  SweepStore store(results.path());
  store.open();
  CHECK(store.broken_lines() == 0);
  CHECK(store.lines(*store.find("a")) == lines("a"));
  CHECK(store.lines(*store.find("b")) == lines("b"));
}

TEST_CASE("a point that does not fit is a result of its own") {
  const std::string line = input::Json({{"point", 0},
                                        {"key", "a"},
                                        {"version", output::version()},
                                        {"axes", input::Json::object()},
                                        {"status", kDoesNotFit},
                                        {"needs_bytes", 2e10},
                                        {"reason", "r"}})
                               .dump() +
                           '\n';
  const Results results(line + lines("b") + error("a"));
  const SweepStore store(results.path());
  CHECK(store.broken_lines() == 0);
  CHECK(store.find("a")->state == PointState::does_not_fit);
  CHECK_FALSE(store.find("a")->failed());
  CHECK(store.find("b")->state == PointState::computed);
}

TEST_CASE("results of another version are refused") {
  const Results results(lines("a") + lines("b", 2, "0.0.1"));
  CHECK_THROWS_WITH(
      SweepStore(results.path()),
      ContainsSubstring("line 3 was computed by version 0.0.1") && ContainsSubstring("--fresh"));
}

TEST_CASE("results of another version are detected by their first line") {
  CHECK(is_of_another_version(Results(lines("a", 2, "0.0.1") + lines("b")).path()));
  for (const std::string& text : {lines("a"), std::string("notes"), std::string("{}\n"),
                                  lines("a", 2, "0.0.1").substr(0, 9), std::string()})
    CHECK_FALSE(is_of_another_version(Results(text).path()));
}

TEST_CASE("files not written by a sweep are refused, and not modified") {
  for (const char* text : {"point,key\n1,2\n", "{\"a\": 1}\n", "[]\n", "notes",
                           "{\"key\": 1, \"version\": \"0\"}\n"}) {
    CAPTURE(text);
    const Results results(text);
    CHECK_THROWS_WITH(SweepStore(results.path()), ContainsSubstring("line 1 is not from a sweep"));
    CHECK(content(results.file()) == text);
  }
}

TEST_CASE("a full disk is an error, and leaves no partial point") {
  const TemporaryFolder full;
  SweepStore store(full.path());
  std::filesystem::create_symlink("/dev/full", full.path() / "results.jsonl");
  store.open();
  CHECK_THROWS_WITH(
      store.append("b", lines("b"), PointState::computed),
      ContainsSubstring("No space left on device") && ContainsSubstring("free some space"));
  CHECK(store.find("b") == nullptr);
}

TEST_CASE("replaced contents are found, and appended to") {
  const Results results(lines("a") + lines("b"));
  SweepStore store(results.path());
  store.open();
  store.replace(lines("c") + lines("a"));
  CHECK(content(results.file()) == lines("c") + lines("a"));
  CHECK(store.find("b") == nullptr);
  CHECK(store.lines(*store.find("a")) == lines("a"));
  store.append("d", lines("d"), PointState::computed);
  CHECK(store.lines(*store.find("d")) == lines("d"));
  CHECK(content(results.file()) == lines("c") + lines("a") + lines("d"));
}

TEST_CASE("old results are moved aside under a free name") {
  const Results results(lines("a"));
  CHECK(move_results_aside(results.path()) == results.path() / "results.1.jsonl");
  CHECK(move_results_aside(results.path()).empty());
  write(results.file(), lines("b"));
  CHECK(move_results_aside(results.path()) == results.path() / "results.2.jsonl");
  CHECK(content(results.path() / "results.1.jsonl") == lines("a"));
}

}  // namespace
}  // namespace equarx::sweep::store_test
