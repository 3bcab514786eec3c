#include "experiments/config/load_json.hpp"

#include <string>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::load_json_test {
namespace {

using serving::Arrivals;
using serving::LengthKind;
using testing::check_refused;
using testing::TemporaryFile;

ServingConfig read_json(const input::Json& json) {
  ServingConfig config;
  read_load(input::ObjectReader(json, "/serving/load"), config);
  return config;
}

ServingConfig read(const std::string& text) { return read_json(input::parse_json(text)); }

TEST_CASE("a load has defaults for all but its arrivals") {
  const serving::Load load = read(R"({"requests_per_s": 2.5})").load;
  CHECK(load.rate == 2.5);
  CHECK_FALSE(load.concurrency);
  CHECK(load.requests == 1000);
  CHECK(load.arrivals == Arrivals::poisson);
  CHECK(load.prompt.kind == LengthKind::fixed);
  CHECK(load.prompt.mean == 1024.0);
  CHECK(load.output.mean == 256.0);
  CHECK(load.shared_prefix == 0.0);
  CHECK(load.seed == 1);
}

TEST_CASE("a length is a number of tokens or a distribution") {
  const serving::Load load = read(R"({
    "concurrency": 8, "arrivals": "regular", "shared_prefix": 0.5, "seed": 7,
    "prompt": {"distribution": "uniform", "least": 100, "most": 900},
    "output": {"distribution": "lognormal", "mean": 250.5, "cv": 0.8, "most": 4096}})")
                                 .load;
  CHECK(load.concurrency == 8);
  CHECK_FALSE(load.rate);
  CHECK(load.arrivals == Arrivals::regular);
  CHECK(load.prompt.kind == LengthKind::uniform);
  CHECK(load.prompt.least == 100);
  CHECK(load.prompt.most == 900);
  CHECK(load.output.kind == LengthKind::lognormal);
  CHECK(load.output.mean == 250.5);
  CHECK(load.output.cv == 0.8);
  CHECK(load.output.most == 4096);
}

TEST_CASE("a load survives a round trip") {
  const TemporaryFile trace("arrival_s,prompt,output\n0.5,10,2\n");
  for (const std::string& text :
       {std::string(R"({"requests_per_s": 0.1, "requests": 3, "prompt": 5, "output": 1})"),
        std::string(R"({"concurrency": 3, "shared_prefix": 1})"),
        std::string(R"({"requests_per_s": 4, "prompt": {"distribution": "uniform", "most": 9},
          "output": {"distribution": "lognormal", "mean": 3, "cv": 2}})"),
        std::string(R"({"concurrency": 3, "prefixes": {"count": 2, "tokens": 8, "zipf": 1}})"),
        R"({"trace": ")" + trace.path() + R"("})"}) {
    CAPTURE(text);
    const input::Json once = load_json(read(text));
    CHECK(load_json(read_json(once)) == once);
  }
}

TEST_CASE("a load has exactly one kind of arrivals") {
  check_refused([] { read("{}"); }, "/serving/load", "add \"requests_per_s\"");
  check_refused([] { read(R"({"requests_per_s": 1, "concurrency": 2})"); }, "/serving/load",
                "concurrency");
  check_refused([] { read(R"({"requests_per_s": 0})"); }, "/serving/load/requests_per_s", "0");
  check_refused([] { read(R"({"concurrency": 0})"); }, "/serving/load/concurrency", "from 1");
}

TEST_CASE("a trace without a path is refused") {
  check_refused([] { read(R"({"trace": ""})"); }, "/serving/load/trace", "path of a CSV file");
}

TEST_CASE("a trace has no drawn requests") {
  const TemporaryFile trace("arrival_s,prompt,output\n0,10,2\n");
  for (const char* const key : {"requests", "arrivals", "prompt", "output", "prefixes", "seed"}) {
    input::Json json = {{"trace", trace.path()}};
    json[key] = 1;
    check_refused([&] { read_json(json); }, std::string("/serving/load/") + key, "is for drawn");
  }
}

TEST_CASE("impossible lengths are refused with their place") {
  const auto refused = [](const std::string& length, const std::string& place,
                          const std::string& remedy) {
    CAPTURE(length);
    check_refused([&] { read(R"({"requests_per_s": 1, "prompt": )" + length + "}"); },
                  "/serving/load/prompt" + place, remedy);
  };
  refused("0", "", "from 1");
  refused("1.5", "", "integer");
  refused(R"({"distribution": "uniform", "mean": 3, "most": 9})", "/mean", R"(has "least")");
  refused(R"({"distribution": "uniform"})", "/most", "2048");
  refused(R"({"distribution": "uniform", "least": 10, "most": 9})", "/least", "above \"most\"");
  refused(R"({"distribution": "lognormal", "mean": 9})", "/cv", "1.0");
  refused(R"({"distribution": "lognormal", "mean": 0.5, "cv": 1})", "/mean", "below 1 token");
  refused(R"({"distribution": "fixed", "mean": 9, "cv": 1})", "/cv", "lognormal");
  refused(R"({"distribution": "fixed"})", "/mean", "1024");
  refused(R"({"distribution": "normal", "mean": 9})", "/distribution", "uniform");
  refused(R"({"mean": 9, "modulus": 1})", "/modulus", "");
}

TEST_CASE("a shared prefix is a share of the prompt") {
  CHECK(read(R"({"requests_per_s": 1, "shared_prefix": 1})").load.shared_prefix == 1.0);
  for (const char* const share : {"-0.1", "1.1"})
    check_refused(
        [&] { read(R"({"requests_per_s": 1, "shared_prefix": )" + std::string(share) + "}"); },
        "/serving/load/shared_prefix", "from 0 to 1");
}

TEST_CASE("prefixes have a count, tokens and an exponent") {
  const serving::Load load =
      read(R"({"concurrency": 1, "prefixes": {"count": 5, "tokens": 64, "zipf": 1.2}})").load;
  REQUIRE(load.prefixes);
  CHECK(load.prefixes->count == 5);
  CHECK(load.prefixes->tokens == 64);
  CHECK(load.prefixes->zipf == 1.2);
  CHECK_FALSE(read(R"({"concurrency": 1})").load.prefixes);
  const auto refused = [](const std::string& prefixes, const std::string& place,
                          const std::string& remedy) {
    CAPTURE(prefixes);
    check_refused([&] { read(R"({"requests_per_s": 1, "prefixes": )" + prefixes + "}"); },
                  "/serving/load/prefixes" + place, remedy);
  };
  refused("3", "", "expected an object");
  refused(R"({"tokens": 3})", "/count", "is missing");
  refused(R"({"count": 3})", "/tokens", "is missing");
  refused(R"({"count": 0, "tokens": 3})", "/count", "from 1");
  refused(R"({"count": 1, "tokens": 3, "zipf": -1})", "/zipf", "from 0 to 10");
}

}  // namespace
}  // namespace equarx::config::load_json_test
