#include "experiments/config/counts_json.hpp"

#include <string>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::counts_json_test {
namespace {

using testing::check_refused;

/// An AllToAll of four chips.
input::Json with_counts(const input::Json& counts) {
  input::Json json = input::parse_json(R"({
    "hardware": "h100", "topology": {"switch": 4}, "tensor": {"shape": [64]},
    "collective": "all-to-all", "collectives": [{"algorithm": "direct"}]})");
  json["tensor"]["counts"] = counts;
  return json;
}

TEST_CASE("row counts survive a round trip, with defaults") {
  const input::Json printed =
      to_json(read_config(with_counts({{"tokens", 16}, {"experts", 8}, {"top_k", 2}})));
  const input::Json& counts = printed["tensor"]["counts"];
  CHECK(counts["rows_per"] == "expert");
  CHECK(counts["direction"] == "dispatch");
  CHECK(counts["skew"] == 0.0);
  CHECK(to_json(read_config(printed)) == printed);
}

TEST_CASE("row counts of a file are read line by line") {
  const testing::TemporaryFile file("0,1,2,3\n4, 5,6,7\n0,0,0,0\n1,0,0,2\n");
  const ExperimentConfig config = read_config(with_counts({{"file", file.path()}}));
  const collectives::RowCounts& counts = config.tensor.counts->counts;
  CHECK(counts.row_elements == 64);
  CHECK(counts.rows[1] == 1);
  CHECK(counts.rows[4 + 3] == 7);
  CHECK(config.tensor.elements == 4 * 7 * 64);
}

TEST_CASE("impossible row counts are refused with their place") {
  const auto refuse = [](const input::Json& counts, const std::string& place,
                         const std::string& remedy) {
    check_refused([&] { read_config(with_counts(counts)); }, place, remedy);
  };
  const input::Json good = {{"tokens", 16}, {"experts", 8}, {"top_k", 2}};
  const auto with = [&](const std::string& key, const input::Json& value) {
    input::Json counts = good;
    counts[key] = value;
    return counts;
  };
  refuse(with("experts", 6), "/tensor/counts", "multiple of 4");
  refuse(with("top_k", 9), "/tensor/counts", "use 1 to 8");
  refuse(with("skew", -1), "/tensor/counts/skew", "at least 0");
  refuse(with("tokens", 0), "/tensor/counts/tokens", "1");
  refuse(with("capacity_factor", 0), "/tensor/counts/capacity_factor", "above 0");
  refuse(with("rows_per", "node"), "/tensor/counts/rows_per", "rank");
  const testing::TemporaryFile narrow("0,1,2\n");
  refuse({{"file", narrow.path()}}, narrow.path() + ", line 1", "3 counts");
  const testing::TemporaryFile words("0,1,2,x\n");
  refuse({{"file", words.path()}}, words.path() + ", line 1", "'x'");
  const testing::TemporaryFile low("0,1,2,3\n");
  refuse({{"file", low.path()}}, low.path(), "has 1 lines");
  const testing::TemporaryFile empty("0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n");
  refuse({{"file", empty.path()}}, "/tensor/counts", "no rank sends a row");
}

TEST_CASE("row counts are for an AllToAll of rows") {
  input::Json json = with_counts({{"tokens", 16}, {"experts", 8}, {"top_k", 2}});
  json["collective"] = "all-gather";
  check_refused([&] { read_config(json); }, "/tensor/counts", "all-to-all");
  json["collective"] = "all-to-all";
  json["tensor"].erase("shape");
  json["tensor"]["bytes"] = "1 MiB";
  check_refused([&] { read_config(json); }, "/tensor/counts", "shape");
}

}  // namespace
}  // namespace equarx::config::counts_json_test
