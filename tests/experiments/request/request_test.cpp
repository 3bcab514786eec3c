#include "experiments/request/request.hpp"

#include "base/input/errors.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::request::request_test {
namespace {

Request small(const std::vector<Override>& overrides = {}) {
  return {testing::good_config().dump(), overrides};
}

TEST_CASE("the answer to a request equals the output of a run") {
  const Request request = small({{"/engine", "direct"}});
  const Answer answer = request::answer(make_plan(request), request);
  const run::ExperimentResult result = testing::run(testing::changed("/engine", "direct"));
  CHECK(input::parse_json(answer.json) == result::to_json(result));
  CHECK(answer.table == result::to_table(result));
}

TEST_CASE("overrides apply in order, like --set") {
  const input::Json config = input::parse_json(
      resolve(small({{"/tensor/bytes", "64 KiB"}, {"/collectives/int8/microshards", "4"}})));
  CHECK(config["tensor"]["bytes"] == "64 KiB");
  CHECK_FALSE(config["tensor"].contains("shape"));
  CHECK(config["collectives"][1]["microshards"] == 4);
}

TEST_CASE("needs_simgrid() detects forking plans before they run") {
  CHECK(needs_simgrid(make_plan(small({{"/engine", "simgrid"}}))));
  CHECK_FALSE(needs_simgrid(make_plan(small())));  // one of many runs
  CHECK_FALSE(needs_simgrid(make_plan(small({{"/engine", "direct"}}))));
  // One of several candidates suffices.
  CHECK(needs_simgrid(make_plan(small(
      {{"/collectives/0/algorithm", "auto"}, {"/engine", "simgrid"}, {"/numerics", "off"}}))));
}

TEST_CASE("links, intervals and sensitivities are present on request") {
  Request request = small({{"/engine", "direct"}, {"/uncertainty/samples", "10"}});
  request.links = request.sensitivity = request.uncertainty = true;
  const input::Json json = input::parse_json(answer(make_plan(request), request).json);
  CHECK(json["runs"][0].contains("links"));
  CHECK(json["runs"][0]["uncertainty"]["samples"] == 10);
  CHECK_FALSE(json["sensitivity"].empty());
}

TEST_CASE("tensors are written on request, and their paths are in the answer") {
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

TEST_CASE("an invalid request is an InputError with its pointer") {
  const auto pointer_of = [](const Request& request) {
    try {
      make_plan(request);
    } catch (const input::InputError& error) {
      return error.pointer();
    }
    return std::string("none");
  };
  CHECK(pointer_of(small({{"/tensor/bytes", "2 potatoes"}})) == "/tensor/bytes");
  CHECK(pointer_of(small({{"/tensor/bites", "2"}})) == "/tensor/bites");
  CHECK(pointer_of({"{", {}}).empty());
}

/// A request whose first collective has an own algorithm: a row of the table under another name.
Request with_own(std::string_view row, const std::vector<Override>& overrides = {}) {
  auto own = std::make_shared<collectives::AlgorithmInfo>(*collectives::find_algorithm(row));
  own->name = "own";
  Request request = small(overrides);
  input::Json config = input::parse_json(request.config);
  config["collectives"] = {{{"label", "first"}, {"algorithm", "own"}, {"format", "int8"}}};
  config["baseline"] = "first";
  request.config = config.dump();
  request.algorithms = {std::move(own)};
  return request;
}

TEST_CASE("an algorithm of the caller's own is planned and run like one of the table") {
  for (const std::string row : {"one-shot", "two-shot", "halving-doubling", "equarx"}) {
    CAPTURE(row);
    const Request request = with_own(row);
    const plan::Plan plan = make_plan(request);
    CHECK(plan.config.collectives[0].algorithm == request.algorithms[0].get());
    CHECK(plan.config.engine == config::EngineMode::direct);
    const input::Json own = input::parse_json(answer(plan, request).json)["runs"][0];
    const input::Json known =
        input::parse_json(answer(make_plan(small({{"/collectives/0/algorithm", row},
                                                  {"/collectives/0/format", "int8"}})),
                                 small())
                              .json)["runs"][0];
    CHECK(own["algorithm"] == "own");
    CHECK(own["time_s"] == known["time_s"]);
    CHECK(own["numerics"]["mse"] == known["numerics"]["mse"]);
    CHECK(input::parse_json(resolve(request))["collectives"][0]["algorithm"] == "own");
  }
}

TEST_CASE(
    "an own algorithm is known only to its request, and only for its collectives and formats") {
  Request unknown = with_own("one-shot");
  unknown.algorithms.clear();
  testing::check_refused([&] { make_plan(unknown); }, "/collectives/0/algorithm", "use one of");
  testing::check_refused(
      [] {
        make_plan(with_own("one-shot", {{"/collective", "reduce-scatter"}}));
      },
      "/collectives/0/algorithm", "'own' is not written for ReduceScatter");
  testing::check_refused(
      [] {
        make_plan(with_own("one-shot", {{"/engine", "simgrid"}}));
      },
      "/engine", "use \"direct\"");
  testing::check_refused(
      [] {
        make_plan(with_own("one-shot", {{"/collectives/0/format", "global-qsgd-exp8"}}));
      },
      "/collectives/0/algorithm", "'own'");
}

TEST_CASE("overrides may replace an own algorithm") {
  const plan::Plan plan =
      make_plan(with_own("one-shot", {{"/collectives/0/algorithm", "two-shot"}}));
  CHECK(plan.config.collectives[0].algorithm == collectives::find_algorithm("two-shot"));
}

TEST_CASE("the share callback may cancel the run") {
  struct Enough {};
  const Request request = small({{"/engine", "direct"}});
  CHECK_THROWS_AS(answer(make_plan(request), request, [](double) { throw Enough(); }), Enough);
}

}  // namespace
}  // namespace equarx::request::request_test
