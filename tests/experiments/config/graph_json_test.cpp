#include "experiments/config/graph_json.hpp"

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/set_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::graph_json_test {
namespace {

using testing::check_refused;

input::Json good_graph() {
  return input::parse_json(
      R"({"name": "triangle", "description": "three chips", "chips": ["a", "b", "c"],
    "links": [{"between": ["a", "b"], "bandwidth": "10 GB/s", "latency": "2 us"},
              {"between": ["b", "c"], "bandwidth": "20 GB/s"}, {"between": ["c", "a"]}]})");
}

input::Json changed_graph(const std::string& pointer, const std::string& text) {
  input::Json json = good_graph();
  override_value(json, pointer, text);
  return json;
}

struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
};

void check_all(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    check_refused([&] { read_graph(changed_graph(mistake.pointer, mistake.value)); }, mistake.place,
                  mistake.remedy);
  }
}

const std::vector<Mistake>& structural_mistakes() {
  static const std::vector<Mistake> mistakes = {
      {"/name", "7", "/name", "is not a name; use 1 to 32 letters"},
      {"/name", "", "/name", "is not a name"},
      {"/name", "a b", "/name", "is not a name"},
      {"/descriptio", "x", "/descriptio", "did you mean 'description'?"},
      {"/description", "1", "/description", "expected a string"},
      {"/chips", "0", "/chips", "0 is not an integer from 1 to 16384"},
      {"/chips", "-3", "/chips", "is not an integer from 1"},
      {"/chips", "16385", "/chips", "from 1 to 16384"},
      {"/chips", "9223372036854775808", "/chips", "from 1 to 16384"},
      {"/chips", "\"3\"", "/chips", "expected an integer, found a string"},
      {"/chips", "[]", "/chips", "name at least one chip"},
      {"/chips", R"(["a", "b", "a"])", "/chips/2", "'a' is also the chip at /chips/0; give each"},
      {"/chips", R"(["a", "b", 3])", "/chips/2", "3 is not a name"},
      {"/chips", R"(["a", "b", "c->d"])", "/chips/2", "is not a name"},
      {"/chips", R"(["a", "b", "\u001b[31m"])", "/chips/2", "is not a name"},
      {"/chips", R"(["a", "b", "012345678901234567890123456789012"])", "/chips/2", "1 to 32"},
      {"/links", "{}", "/links", "expected an array, found an object"},
      {"/links/0", "[]", "/links/0", "expected an object"},
      {"/links/0/betwen", "1", "/links/0/betwen", "did you mean"},
      {"/links/0/between", "a", "/links/0/between", R"(two chips, like ["a", "c"])"},
      {"/links/0/between", R"(["a"])", "/links/0/between", "two chips"},
      {"/links/0/between", R"(["a", true])", "/links/0/between/1", "the name of a chip"},
      {"/links/0/bandwidth", "10", "/links/0/bandwidth", "a bandwidth with its unit"},
      {"/links/0/latency", "10", "/links/0/latency", "a time with its unit"}};
  return mistakes;
}

TEST_CASE("a graph file is read with its names, speeds and defaults") {
  const GraphConfig graph = read_graph(good_graph());
  CHECK(graph.name == "triangle");
  CHECK(graph.description == "three chips");
  CHECK(graph.chips == std::vector<std::string>{"a", "b", "c"});
  REQUIRE(graph.links.size() == 3);
  CHECK(graph.links[0].rate == 10e9);
  CHECK(graph.links[0].latency_s == 2e-6);
  CHECK(graph.links[1].rate == 20e9);
  CHECK_FALSE(graph.links[1].latency_s);
  CHECK_FALSE(graph.links[2].rate);
  CHECK((graph.links[2].cable.first == 2 && graph.links[2].cable.second == 0));
}

TEST_CASE("chips may be numbered, latencies be zero, and a graph have one chip") {
  const GraphConfig numbered = read_graph(input::parse_json(
      R"({"name": "n", "chips": 2, "links": [{"between": [1, "0"], "latency": "0 s"}]})"));
  CHECK(numbered.chips == std::vector<std::string>{"0", "1"});
  CHECK(numbered.links.front().latency_s == 0.0);
  CHECK(read_graph(input::parse_json(R"({"name": "n", "chips": 1, "links": []})")).links.empty());
}

TEST_CASE("structural errors are refused by the graph reader") { check_all(structural_mistakes()); }

TEST_CASE("structural errors are also refused by the graph schema") {
  CHECK_NOTHROW(input::check_schema(good_graph(), "topology"));
  for (const Mistake& mistake : structural_mistakes()) {
    CAPTURE(mistake.pointer, mistake.value);
    CHECK_THROWS_AS(input::check_schema(changed_graph(mistake.pointer, mistake.value), "topology"),
                    input::InputError);
  }
  for (const std::string key : {"name", "chips", "links"}) {
    input::Json json = good_graph();
    json.erase(key);
    check_refused([&] { read_graph(json); }, "/" + key, "is missing; expected");
    CHECK_THROWS_AS(input::check_schema(json, "topology"), input::InputError);
  }
}

TEST_CASE("invalid links are refused") {
  check_all({{"/links/0/between", R"(["a", "d"])", "/links/0/between/1", "there is no chip 'd'"},
             {"/links/0/between", R"(["a", "a"])", "/links/0/between", "joins a chip to itself"},
             {"/links/2/between", R"(["b", "a"])", "/links/2",
              "joins 'b' and 'a' like /links/0; give one link"},
             {"/links/0/bandwidth", "0 B/s", "/links/0/bandwidth", "must be above 0"},
             {"/links/0/bandwidth", "-1 GB/s", "/links/0/bandwidth", "must be above 0"},
             {"/links/0/bandwidth", "1 us", "/links/0/bandwidth", "is not a unit of a bandwidth"},
             {"/links/0/latency", "-1 us", "/links/0/latency", "must not be negative"},
             {"/links/0/latency", "1e999 s", "/links/0/latency", ""}});
}

TEST_CASE("unreachable chips are refused by name") {
  check_all({{"/chips", R"(["a", "b", "c", "d"])", "/links",
              "no links lead from chip 'a' to chip 'd'; join the parts by a link"},
             {"/links", "[]", "/links", "no links lead from chip 'a' to chip 'b'"}});
}

TEST_CASE("an error in a graph file names the file and the pointer") {
  check_refused([] { load_graph("none.json", "/topology/file"); }, "/topology/file",
                "/topology/file: cannot read none.json: No such file");
  const testing::TemporaryFile bad(changed_graph("/chips", "0").dump());
  check_refused([&] { load_graph(bad.path(), "/topology/file"); }, "/topology/file",
                "in " + bad.path() + ": /chips: 0 is not an integer");
  const testing::TemporaryFile text("no json");
  check_refused([&] { load_graph(text.path(), "/topology/file"); }, "/topology/file",
                "not valid JSON at line 1");
}

}  // namespace
}  // namespace equarx::config::graph_json_test
