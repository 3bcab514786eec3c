#include "experiments/config_json.hpp"

#include <filesystem>
#include <limits>

#include "tests/catch.hpp"
#include "tests/experiments/configs.hpp"
#include "tests/experiments/errors.hpp"

namespace equarx::experiments {
namespace {

using numerics::ElementFormat;
using testing::changed;
using testing::check_refused;
using testing::good_config;
using testing::message_of;

Json smallest_config() {
  return parse_json(R"({"hardware": "tpu-v5e", "topology": {"slice": "2x2"},
                        "tensor": {"bytes": "1 MiB"}, "collectives": [{"algorithm": "ring"}]})");
}

// --- Reading

TEST_CASE("every key of a configuration is read") {
  Json json = good_config();
  json["collectives"][1] = parse_json(R"({
    "label": "x", "algorithm": "equarx", "ring": "semi-loop", "quantize": "all-gather",
    "format": "fp8-e5m2", "scale": "bf16", "layout": "contiguous", "block": 32,
    "minishards": 3, "microshards": 5})");
  json["tensor"] = parse_json(R"({"shape": [3, 5, 7], "dtype": "fp32",
    "values": {"distribution": "heavy-tailed", "seed": 12345678901, "ranks": "identical"}})");
  json["baseline"] = "x";
  json["numerics"] = "off";
  json["simulation"] = "symmetric";
  const ExperimentConfig config = read_config(json);
  CHECK(config.hardware == "tpu-v5e");
  CHECK(config.chip.name == "tpu-v5e");
  CHECK(config.topology.kind == TopologyKind::slice);
  CHECK(config.topology.shape.lengths == std::vector<std::uint32_t>{4, 2});
  CHECK(config.topology.shape.wraparound == std::vector<bool>{false, false});
  CHECK(config.tensor.shape == std::vector<std::uint64_t>{3, 5, 7});
  CHECK(config.tensor.elements == 105);
  CHECK(config.tensor.dtype == ElementFormat::fp32);
  CHECK(config.tensor.bytes() == 420);
  CHECK(config.tensor.values.distribution == numerics::Distribution::heavy_tailed);
  CHECK(config.tensor.values.seed == 12345678901U);
  CHECK(config.tensor.values.identical_ranks);
  REQUIRE(config.collectives.size() == 2);
  const CollectiveConfig& collective = config.collectives[1];
  CHECK(collective.label == "x");
  CHECK(collective.algorithm == Algorithm::equarx);
  CHECK(collective.ring == collectives::RingStyle::semi_loop);
  CHECK(collective.quantize == QuantizedPhases::all_gather);
  CHECK(collective.format.element == ElementFormat::fp8_e5m2);
  CHECK(collective.format.scaled);
  CHECK(collective.format.scale == numerics::ScaleFormat::bf16);
  CHECK(collective.format.layout == numerics::ScaleLayout::contiguous);
  CHECK(collective.format.block == 32);
  CHECK(collective.minishards == 3U);
  CHECK(collective.microshards == 5U);
  CHECK(config.baseline == 1);
  CHECK_FALSE(config.numerics);
  CHECK(config.simulation == SimulationMode::symmetric);
}

TEST_CASE("what is left out gets its default") {
  const ExperimentConfig config = read_config(smallest_config());
  CHECK(config.tensor.shape.empty());
  CHECK(config.tensor.elements == 524288);
  CHECK(config.tensor.dtype == ElementFormat::bf16);
  CHECK(config.tensor.values.distribution == numerics::Distribution::normal);
  CHECK(config.tensor.values.seed == 1);
  CHECK_FALSE(config.tensor.values.identical_ranks);
  CHECK(config.collectives[0].label == "ring bf16");
  CHECK(config.collectives[0].ring == collectives::RingStyle::full_loop);
  CHECK(config.baseline == 0);
  CHECK(config.numerics);
  CHECK(config.simulation == SimulationMode::automatic);

  Json json = smallest_config();
  json["collectives"][0]["algorithm"] = "equarx";
  const CollectiveConfig collective = read_config(json).collectives[0];
  CHECK(collective.label == "equarx int8");
  CHECK(collective.quantize == QuantizedPhases::both);
  CHECK(collective.format.element == ElementFormat::int8);
  CHECK(collective.format.scale == numerics::ScaleFormat::fp32);
  CHECK(collective.format.layout == numerics::ScaleLayout::strided);
  CHECK_FALSE(collective.minishards);
  CHECK_FALSE(collective.microshards);
}

TEST_CASE("a plain ring has the tensor's format by default") {
  Json json = smallest_config();
  json["tensor"]["dtype"] = "fp32";
  CHECK(read_config(json).collectives[0].format.element == ElementFormat::fp32);
}

TEST_CASE("each kind of topology has its own wraparound") {
  const auto shape = [](const std::string& topology) {
    Json json = smallest_config();
    json["topology"] = parse_json(topology);
    return read_config(json).topology;
  };
  CHECK(shape(R"({"slice": "8x16"})").shape.wraparound == std::vector<bool>{false, true});
  CHECK(shape(R"({"slice": "16x16"})").shape.wraparound == std::vector<bool>{true, true});
  CHECK(shape(R"({"mesh": "16x16"})").shape.wraparound == std::vector<bool>{false, false});
  CHECK(shape(R"({"torus": "3x3x3"})").shape.wraparound == std::vector<bool>{true, true, true});
  CHECK(shape(R"({"torus": "4x4", "wraparound": [false, true]})").shape.wraparound ==
        std::vector<bool>{false, true});
  const TopologyConfig ring = shape(R"({"ring": 5})");
  CHECK(ring.kind == TopologyKind::ring);
  CHECK(ring.shape.lengths == std::vector<std::uint32_t>{5});
  CHECK(ring.shape.wraparound == std::vector<bool>{true});
}

TEST_CASE("bytes give whole elements in any unit of size") {
  const auto elements = [](const std::string& bytes) {
    return read_config(changed("/tensor/bytes", bytes)).tensor.elements;
  };
  CHECK(elements("8 MiB") == 4194304);
  CHECK(elements("1 kB") == 500);
  CHECK(elements("16 b") == 1);
  CHECK(elements("2 B") == 1);
}

// --- Writing

TEST_CASE("a configuration that was written is read as the same") {
  std::vector<Json> configs = {good_config(), smallest_config()};
  configs.push_back(changed("/topology/torus", "4x4"));
  configs.back()["topology"]["wraparound"] = {true, false};
  configs.push_back(changed("/topology/ring", "6"));
  configs.push_back(changed("/topology/mesh", "4x2"));
  configs.push_back(changed("/tensor/bytes", "12345678 B"));
  configs.push_back(changed("/tensor/bytes", "123456.5 kB"));
  configs.push_back(changed("/tensor/values/seed", "9223372036854775807"));
  configs.push_back(changed("/collectives/1", R"({"algorithm": "equarx", "layout": "contiguous",
      "block": 128, "scale": "bf16", "format": "fp8-e4m3", "quantize": "reduce-scatter"})"));
  configs.push_back(changed("/baseline", "int8"));
  configs.push_back(changed("/collectives/1/label", R"("\"quoted\" \\ \u00e9\n")"));
  for (const Json& json : configs) {
    CAPTURE(json.dump());
    const Json once = to_json(read_config(json));
    CHECK(to_json(read_config(once)) == once);
    CHECK(read_config(once).tensor.elements == read_config(json).tensor.elements);
    const Json planned = to_json(make_plan(read_config(json)).config);
    CHECK(to_json(make_plan(read_config(planned)).config) == planned);
  }
}

TEST_CASE("what is shown has every key, and no alternative twice") {
  const Json json = to_json(read_config(smallest_config()));
  for (const std::string key :
       {"hardware", "topology", "tensor", "collectives", "baseline", "numerics", "simulation"})
    CHECK(json.contains(key));
  CHECK(json["tensor"]["bytes"] == "1 MiB");
  CHECK_FALSE(json["tensor"].contains("shape"));
  CHECK(json["baseline"] == "ring bf16");
}

// --- JSON text

TEST_CASE("malformed JSON is placed by line and column") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"", "line 1, column 1: "},
      {"\n", "line 2, column 1: "},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3, column 7: "},
      {"{\n  \"a\": 1,\n}\n", "line 3, column 1: "},
      {"{\"a\": tru}", "line 1, column 10: "},
      {"{} {}", "line 1, column 4: "},
      {"{'a': 1}", "line 1, column 2: "},
      {"[1, 2", "line 1, column 6: "},
      {"// no\n{}", "line 1, column 1: "}};
  for (const auto& one : texts) {
    const auto& text = one.first;
    const auto& place = one.second;
    CAPTURE(text);
    const std::string message = message_of([&] { parse_json(text); });
    CHECK_THAT(message, Catch::Matchers::StartsWith("not valid JSON at " + place));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("bytes that are not UTF-8 are refused where they stand") {
  for (const std::string bytes : {"\xff", "\xc3(", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf"}) {
    CHECK_THAT(message_of([&] { parse_json("{\n\"a\": \"" + bytes + "\"}"); }),
               ContainsSubstring("line 2, column ") && ContainsSubstring("UTF-8"));
  }
  CHECK_THROWS_AS(parse_json(std::string_view("\0\1\2", 3)), InputError);
}

TEST_CASE("a number that no double holds is refused") {
  const std::string message = message_of([] { parse_json("{\"a\": 1e999}"); });
  CHECK_THAT(message, ContainsSubstring("1e999") && !ContainsSubstring("json.exception"));
}

TEST_CASE("a key that stands twice is found by its place") {
  check_refused([] { parse_json(R"({"a": 1, "a": 1})"); }, "/a", "'a' stands twice");
  check_refused([] { parse_json(R"({"x": [0, {}, {"b": {"c": 1, "c/d": 1, "c/d": 2}}]})"); },
                "/x/2/b/c~1d", "remove one");
  check_refused([] { parse_json(R"([[1, [2]], {"k": [], "k": []}])"); }, "/1/k", "remove one");
  CHECK_NOTHROW(parse_json(R"({"a": {"b": 1}, "b": {"a": 1}, "c": [{"a": 1}, {"a": 2}]})"));
}

TEST_CASE("deep nesting is neither a crash nor a hang") {
  constexpr std::size_t kDepth = 100000;
  CHECK_THROWS_AS(parse_json(std::string(kDepth, '[')), InputError);
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  CHECK_THROWS_AS(read_config(parse_json(deep)), InputError);
  Json json = good_config();
  override_value(json, "/tensor/values", deep);
  check_refused([&] { read_config(json); }, "/tensor/values", "expected an object");
}

// --- Files

TEST_CASE("files that cannot be read are refused with the reason") {
  CHECK_THAT(message_of([] { read_file("no/such/file.json"); }),
             ContainsSubstring("no/such/file.json") && ContainsSubstring("No such file"));
  CHECK_THAT(message_of([] { read_file(std::filesystem::temp_directory_path().string()); }),
             ContainsSubstring("is a directory"));
  CHECK_THAT(message_of([] { read_file(std::string(5000, 'a')); }), ContainsSubstring("too long"));
  CHECK_THAT(message_of([] { read_file(""); }), ContainsSubstring("No such file"));
}

TEST_CASE("an empty file is read, and is not JSON") {
  const testing::TemporaryFile file("");
  CHECK(read_file(file.path()).empty());
  CHECK_THROWS_AS(parse_json(read_file(file.path())), InputError);
}

TEST_CASE("a file is read to its last byte") {
  const std::string content("a\0\r\n\xff", 5);
  CHECK(read_file(testing::TemporaryFile(content).path()) == content);
}

// --- Overriding

TEST_CASE("an override replaces a value by JSON, or by plain text that is none") {
  CHECK(changed("/tensor/dtype", "fp32")["tensor"]["dtype"] == "fp32");
  CHECK(changed("/tensor/dtype", "\"fp32\"")["tensor"]["dtype"] == "fp32");
  CHECK(changed("/tensor/values/seed", "7")["tensor"]["values"]["seed"] == 7);
  CHECK(changed("/tensor/shape", "[1, 2]")["tensor"]["shape"] == Json({1, 2}));
  CHECK(changed("/collectives/0/label", "a b")["collectives"][0]["label"] == "a b");
  CHECK(changed("/collectives/1/minishards", "4")["collectives"][1]["minishards"] == 4);
  CHECK(changed("/baseline", "")["baseline"] == "");
  CHECK(changed("/collectives", R"([{"algorithm": "ring"}])")["collectives"].size() == 1);
  CHECK(changed("/collectives/1", R"({"algorithm": "ring"})")["collectives"][1].size() == 1);
}

TEST_CASE("an override adds a key to an object") {
  CHECK(changed("/collectives/0/minishards", "4")["collectives"][0]["minishards"] == 4);
  CHECK(changed("/new", "1")["new"] == 1);
}

TEST_CASE("an override of one alternative removes the others, and nothing else") {
  const Json bytes = changed("/tensor/bytes", "8 MiB")["tensor"];
  CHECK(bytes["bytes"] == "8 MiB");
  CHECK_FALSE(bytes.contains("shape"));
  CHECK(bytes["values"] == good_config()["tensor"]["values"]);
  CHECK(changed("/topology/mesh", "4x4")["topology"] == Json({{"mesh", "4x4"}}));
  CHECK(changed("/topology/ring", "8")["topology"] == Json({{"ring", 8}}));
  Json back = changed("/tensor/bytes", "8 MiB");
  override_value(back, "/tensor/shape", "[4]");
  CHECK_FALSE(back["tensor"].contains("bytes"));
  // A collective's ring style is not a topology.
  const Json collective = changed("/collectives/1/ring", "semi-loop")["collectives"][1];
  CHECK(collective.size() == good_config()["collectives"][1].size());
}

TEST_CASE("a pointer that leads nowhere is refused with an example") {
  for (const std::string pointer :
       {"/a/b/c", "/collectives/5/format", "/collectives/-", "/collectives/-/format",
        "/collectives/2", "/collectives/x/format", "/collectives/01/format",
        "/collectives/99999999999999999999/format", "/tensor/values/seed/x", "/~2", "/tensor/~"}) {
    CAPTURE(pointer);
    check_refused([&] { changed(pointer, "1"); }, pointer, "/tensor/bytes");
  }
  CHECK_THAT(message_of([] { changed("", "1"); }), ContainsSubstring("/tensor/bytes"));
  CHECK_THROWS_AS(changed("tensor", "1"), InputError);
}

TEST_CASE("an override that fails changes nothing") {
  Json json = good_config();
  CHECK_THROWS_AS(override_value(json, "/collectives/5/format", "1"), InputError);
  CHECK_THROWS_AS(override_value(json, "/topolgy/ring", "1"), InputError);
  CHECK(json == good_config());
}

TEST_CASE("an override with bytes that are not text, or a key twice, is refused") {
  check_refused([] { changed("/collectives/0/label", "\xff"); }, "/collectives/0/label", "UTF-8");
  CHECK_THROWS_AS(changed("/tensor", R"({"bytes": "2 B", "bytes": "4 B"})"), InputError);
}

}  // namespace
}  // namespace equarx::experiments
