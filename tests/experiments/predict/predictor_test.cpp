#include "experiments/predict/predictor.hpp"

#include <cmath>

#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/run/experiment.hpp"
#include "models/values/value_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::predict::predictor_test {
namespace {

using input::Json;

const Json kNode = {{"hardware", "h100"}, {"topology", {{"switch", 8}}}};
const Json kSlice = {{"hardware", "tpu-v5e"}, {"topology", {{"slice", "4x2"}}}};

Query all_reduce(std::uint64_t bytes, const std::string& format = "") {
  Query query;
  query.bytes = bytes;
  query.format = format;
  return query;
}

/// The same by a run of a configuration.
run::RunResult run_of(Json json, const Query& query) {
  json["tensor"] = {{"bytes", query.bytes}, {"dtype", query.dtype}};
  json["collective"] = query.collective;
  json["collectives"] = {{{"algorithm", query.algorithm}}};
  if (!query.format.empty()) json["collectives"][0]["format"] = query.format;
  json["timed_as"] = "step";
  json["engine"] = "direct";
  json["uncertainty"] = Json::object();
  return run::run_experiment(plan::make_plan(config::read_config(json), plan::RunProfile::batch),
                             [](const std::string&) {})
      .runs.front();
}

void check_refused(const Json& machine, const Query& query, const std::string& place,
                   const std::string& remedy) {
  testing::check_refused([&] { Predictor(machine).predict(query); }, place, remedy);
}

}  // namespace

TEST_CASE("a prediction has the time, interval and error of a run") {
  for (const std::string format : {"", "int8"}) {
    const Query query = all_reduce(256 << 10, format);
    const auto predicted = Predictor(kSlice).predict(query);
    const run::RunResult run = run_of(kSlice, query);
    CHECK(predicted->time_s == run.time_s);
    CHECK(predicted->low_s == run.uncertainty->time_s.low);
    CHECK(predicted->high_s == run.uncertainty->time_s.high);
    CHECK(predicted->samples == 200);
    CHECK(predicted->algorithm == run.algorithm->name);
    CHECK(predicted->nmse == Approx(run.numerics->against_exact.nmse).epsilon(1e-12));
    CHECK(predicted->sqnr_db == Approx(run.numerics->against_exact.sqnr_db).epsilon(1e-12));
    CHECK(predicted->ranks == 8);
    CHECK(predicted->ranks_identical);
    CHECK(predicted->deterministic);
  }
}

TEST_CASE("roundings are counted on the path from an input to the result") {
  Query query = all_reduce(1 << 20, "int8");
  query.algorithm = "two-shot";
  const auto encoded = Predictor(kNode, {.intervals = false}).predict(query);
  CHECK(encoded->encodings == 2);
  CHECK(encoded->sums_in_fp32);  // only the whole sum is encoded
  query.algorithm = "equarx";
  CHECK_FALSE(Predictor(kNode, {.intervals = false}).predict(query)->sums_in_fp32);
  query.format = "bf16";
  query.algorithm = "one-shot";
  const auto plain = Predictor(kNode, {.intervals = false}).predict(query);
  CHECK(plain->encodings == 0);
  CHECK(plain->conversions == 1);
  CHECK(plain->sums_in_fp32);
}

TEST_CASE("collectives without arithmetic are exact") {
  const Predictor predictor(kNode);
  for (const char* kind : {"all-gather", "all-to-all", "broadcast"}) {
    Query query = all_reduce(1 << 20);
    query.collective = kind;
    const auto predicted = predictor.predict(query);
    CHECK(predicted->time_s > 0.0);
    CHECK(predicted->nmse == 0.0);
    CHECK(predicted->sqnr_db == std::numeric_limits<double>::infinity());
    CHECK(predicted->conversions + predicted->encodings == 0);
    query.format = "fp8-e4m3";
    CHECK(predictor.predict(query)->nmse > 1e-5);
  }
}

TEST_CASE("parts that are left out are NaN and change nothing else") {
  const Query query = all_reduce(1 << 20, "int8");
  const auto whole = Predictor(kSlice).predict(query);
  const auto part = Predictor(kSlice, {.errors = false, .intervals = false}).predict(query);
  CHECK(part->time_s == whole->time_s);
  CHECK(std::isnan(part->low_s));
  CHECK(std::isnan(part->high_s));
  CHECK(std::isnan(part->nmse));
  CHECK(std::isnan(part->sqnr_db));
  CHECK(part->samples == 0);
  Json off = kSlice;
  off["numerics"] = "off";
  CHECK(std::isnan(Predictor(off).predict(query)->nmse));
}

TEST_CASE("the machine sets the number of drawn machines and what a time contains") {
  Json machine = kSlice;
  machine["uncertainty"] = {{"samples", 20u}};
  CHECK(Predictor(machine).predict(all_reduce(1 << 20))->samples == 20);
  machine["timed_as"] = "program";
  CHECK(Predictor(machine).predict(all_reduce(1 << 20))->time_s >
        Predictor(kSlice).predict(all_reduce(1 << 20))->time_s);
}

TEST_CASE("ranks differ if the owner of a part keeps the sum that it does not send") {
  Query query = all_reduce(1 << 20, "fp8-e4m3");
  query.algorithm = "two-shot";
  query.options = R"({"arithmetic": {"owner": "summed"}})";
  CHECK_FALSE(Predictor(kNode).predict(query)->ranks_identical);
  CHECK_FALSE(Predictor(kNode, {.errors = false}).predict(query)->ranks_identical);
}

TEST_CASE("the number of threads changes no answer") {
  const Query query = all_reduce(4 << 20, "int4");
  const auto one = Predictor(kNode, {.threads = 1}).predict(query);
  const auto three = Predictor(kNode, {.threads = 3}).predict(query);
  CHECK(one->low_s == three->low_s);
  CHECK(one->nmse == three->nmse);
}

TEST_CASE("fewer ranks are a smaller machine, and whole nodes keep their network") {
  Query query = all_reduce(1 << 20);
  query.ranks = 4;
  Json four = kNode;
  four["topology"] = {{"switch", 4}};
  CHECK(Predictor(kNode).predict(query)->time_s == run_of(four, all_reduce(1 << 20)).time_s);
  Json nodes = kNode;
  nodes["topology"]["network"] = {
      {"slices", 4}, {"bandwidth", "50 GB/s"}, {"latency", "5 us"}, {"chips_per_port", 1}};
  const Predictor predictor(nodes, {.errors = false, .intervals = false});
  CHECK(predictor.chips() == 32);
  CHECK(predictor.predict(query)->time_s == run_of(four, all_reduce(1 << 20)).time_s);
  query.ranks = 16;
  nodes["topology"]["network"]["slices"] = 2;
  CHECK(predictor.predict(query)->time_s == run_of(nodes, all_reduce(1 << 20)).time_s);
  CHECK(predictor.predict(query)->ranks == 16);
}

TEST_CASE("options are further keys of a collective") {
  Query query = all_reduce(1 << 20);
  query.options = R"({"protocol": "auto"})";
  const auto predicted = Predictor(kNode, {.errors = false, .intervals = false}).predict(query);
  CHECK(predicted->protocol != "");
  query.options = R"({"protocol": "none"})";
  check_refused(kNode, query, "/collectives/0/protocol", "ll128");
  query.options = R"({"algorithm": "ring"})";
  check_refused(kNode, query, "options", "'algorithm' is not one of them");
  query.options = "[1]";
  check_refused(kNode, query, "options", "a JSON object of keys");
}

TEST_CASE("invalid queries are refused with place and remedy") {
  Query query = all_reduce(1 << 20);
  query.ranks = 9;
  check_refused(kNode, query, "ranks", "9 is neither from 2 to 8 nor");
  query.ranks = 1;
  check_refused(kNode, query, "ranks", "1 is neither from 2");
  query.ranks = 4;
  check_refused(kSlice, query, "ranks", "slice 4x2 has 8 chips and no groups of 4");
  query = all_reduce(0);
  check_refused(kNode, query, "/tensor/bytes", "0");
  check_refused(kNode, all_reduce(3), "/tensor/bytes", "whole number of bf16 elements");
  check_refused(kNode, all_reduce(~std::uint64_t{1}), "/tensor/bytes", "too large");
  check_refused(kNode, all_reduce(std::uint64_t{1} << 46), "/tensor", "HBM");
  check_refused(kNode, all_reduce(1 << 20, "int9"), "/collectives/0/format", "int9");
  query = all_reduce(1 << 20);
  query.collective = "all-sum";
  check_refused(kNode, query, "/collective", "all-reduce");
  query.collective = "all-to-all";
  query.algorithm = "ring";
  check_refused(kNode, query, "/collectives/0/algorithm", "ring");
}

TEST_CASE("invalid machines are refused with place and remedy") {
  const auto refused = [](Json change, const std::string& place, const std::string& remedy) {
    Json machine = kNode;
    machine.update(change);
    testing::check_refused([&] { const Predictor predictor(machine); }, place, remedy);
  };
  refused({{"hardware", "h1000"}}, "/hardware", "h100");
  refused({{"topologie", 1}}, "/topologie", "topology");
  refused({{"collectives", Json::array()}}, "/collectives", "is set by queries");
  refused({{"tensor", {{"bytes", 4}}}}, "/tensor/bytes", "is set by queries");
  refused({{"tensor", {{"values", {{"files", {"a.npy"}}}}}}}, "/tensor/values/files",
          "distribution");
  refused({{"engine", "simgrid"}}, "/engine", "use auto");
  testing::check_refused([] { const Predictor predictor(Json(3)); },
                         "a machine is a JSON object, like {\"hardware\"", "h100");
  CHECK_THAT(testing::message_of([] { read_machine("{"); }),
             ContainsSubstring("not valid JSON at line 1"));
}

TEST_CASE("a link that fails during the collective is an error") {
  Json machine = kSlice;
  machine["faults"] = {{"links", {{{"between", {"(0,0)", "(0,1)"}}, {"fails_at", "1 us"}}}}};
  machine["simulation"] = "full";
  Query query = all_reduce(32 << 20);
  query.algorithm = "torus";
  check_refused(machine, query, "/faults", "fails at");
}

TEST_CASE("values of the tensor follow the machine's distribution") {
  const Query query = all_reduce(1 << 20, "int8");
  Json heavy = kSlice;
  heavy["tensor"] = {{"values", {{"distribution", "heavy-tailed"}}}};
  CHECK(Predictor(heavy).predict(query)->nmse > 1.5 * Predictor(kSlice).predict(query)->nmse);
}

}  // namespace equarx::predict::predictor_test
