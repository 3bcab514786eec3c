#include "experiments/request/request.hpp"

#include "experiments/input/errors.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::request::request_test {
namespace {

Request small(const std::vector<Override>& overrides = {}) {
  return {testing::good_config().dump(), overrides};
}

TEST_CASE("the answer to a request is what a run prints") {
  const Request request = small({{"/engine", "direct"}});
  const Answer answer = request::answer(make_plan(request), request);
  const run::ExperimentResult result = testing::run(testing::changed("/engine", "direct"));
  CHECK(input::parse_json(answer.json) == result::to_json(result));
  CHECK(answer.table == result::to_table(result));
}

TEST_CASE("overrides are set in their order, as --set does") {
  const input::Json config = input::parse_json(
      resolve(small({{"/tensor/bytes", "64 KiB"}, {"/collectives/int8/microshards", "4"}})));
  CHECK(config["tensor"]["bytes"] == "64 KiB");
  CHECK_FALSE(config["tensor"].contains("shape"));
  CHECK(config["collectives"][1]["microshards"] == 4);
}

TEST_CASE("what forks is known before it runs") {
  CHECK(needs_simgrid(make_plan(small({{"/engine", "simgrid"}}))));
  CHECK_FALSE(needs_simgrid(make_plan(small())));  // one run of many
  CHECK_FALSE(needs_simgrid(make_plan(small({{"/engine", "direct"}}))));
  // One of several ways is enough.
  CHECK(needs_simgrid(make_plan(small(
      {{"/collectives/0/algorithm", "auto"}, {"/engine", "simgrid"}, {"/numerics", "off"}}))));
}

TEST_CASE("links, intervals and sensitivities are there if they were asked for") {
  Request request = small({{"/engine", "direct"}, {"/uncertainty/samples", "10"}});
  request.links = request.sensitivity = request.uncertainty = true;
  const input::Json json = input::parse_json(answer(make_plan(request), request).json);
  CHECK(json["runs"][0].contains("links"));
  CHECK(json["runs"][0]["uncertainty"]["samples"] == 10);
  CHECK_FALSE(json["sensitivity"].empty());
}

TEST_CASE("tensors are written where they are wanted, and their paths are in the answer") {
  const testing::TemporaryDirectory folder;
  Request request = small({{"/engine", "direct"}});
  CHECK(answer(make_plan(request), request).tensors == "null");
  request.tensors = folder.path() / "new";
  request.inputs = true;
  const input::Json paths = input::parse_json(answer(make_plan(request), request).tensors);
  CHECK(paths["results"].size() == 2);
  CHECK(paths["exact_sum"] == (folder.path() / "new/exact_sum.npy").string());
  CHECK(paths["inputs"].size() == 8);
  CHECK(testing::file_count(folder.path() / "new") == 2 + 1 + 8);
}

TEST_CASE("a wrong request is the user's error, with its place") {
  const auto place_of = [](const Request& request) {
    try {
      make_plan(request);
    } catch (const input::InputError& error) {
      return error.place();
    }
    return std::string("none");
  };
  CHECK(place_of(small({{"/tensor/bytes", "2 potatoes"}})) == "/tensor/bytes");
  CHECK(place_of(small({{"/tensor/bites", "2"}})) == "/tensor/bites");
  CHECK(place_of({"{", {}}).empty());
}

TEST_CASE("who shares in the work may end it") {
  struct Enough {};
  const Request request = small({{"/engine", "direct"}});
  CHECK_THROWS_AS(answer(make_plan(request), request, [](double) { throw Enough(); }), Enough);
}

}  // namespace
}  // namespace equarx::request::request_test
