// Choices of `auto`.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/invariants/machine_cases.hpp"

namespace equarx::testing::automatic_test {
namespace {

/// A name for the choice of `auto` and for each of its candidates.
input::Json automatic_and_named(const MachineCase& machine_case, const std::string& collective,
                                const std::string& format) {
  input::Json json = experiment(machine_case.topology, collective);
  json["tensor"] = {{"bytes", "64 KiB"}};
  json["numerics"] = "off";
  add_algorithms(json, format);
  std::erase_if(json["collectives"].get_ref<input::Json::array_t&>(), [](const input::Json& one) {
    const auto* algorithm = collectives::find_algorithm(one["algorithm"].get<std::string>());
    return algorithm != nullptr && algorithm->is_published;
  });
  return json;
}

TEST_CASE("auto takes the fastest candidate, and skips those whose bound is slower") {
  for (const MachineCase& machine_case : machine_cases())
    for (const auto& [collective, format] :
         std::vector<std::pair<std::string, std::string>>{{"all-reduce", "bf16"},
                                                          {"all-reduce", "int8"},
                                                          {"reduce-scatter", "int8"},
                                                          {"all-gather", "bf16"},
                                                          {"broadcast", "bf16"}}) {
      const input::Json json = automatic_and_named(machine_case, collective, format);
      CAPTURE(json.dump());
      const run::ExperimentResult result = run(json);
      const run::RunResult& automatic = result.runs.back();
      REQUIRE(automatic.label == "auto " + format);
      REQUIRE(automatic.algorithm != config::kAutomatic);
      double fastest = automatic.time_s;
      for (std::size_t i = 0; i + 1 < result.runs.size(); ++i) {
        const run::RunResult& named = result.runs[i];
        fastest = std::min(fastest, named.time_s);
        if (automatic.candidates.empty()) continue;  // only a single candidate
        const auto candidate =
            std::ranges::find(automatic.candidates, named.algorithm, &run::Candidate::algorithm);
        REQUIRE(candidate != automatic.candidates.end());
        if (candidate->time_s) {
          CHECK(*candidate->time_s == named.time_s);
          continue;
        }
        CHECK_THAT(candidate->note, ContainsSubstring("cannot win: lower bound"));
        CHECK(named.lower_bound_s > automatic.time_s);
      }
      CHECK(automatic.time_s == fastest);
    }
}

TEST_CASE("auto reports why algorithms cannot run") {
  input::Json json = experiment(R"({"mesh": "3x3"})", "all-reduce");
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  const auto note = [&](config::Algorithm algorithm) {
    const auto found = std::ranges::find(one.candidates, algorithm, &run::Candidate::algorithm);
    return found == one.candidates.end() ? "" : found->note;
  };
  CHECK_THAT(note(collectives::find_algorithm("ring")),
             ContainsSubstring("no Hamiltonian ring exists"));
  CHECK_THAT(note(collectives::find_algorithm("halving-doubling")),
             ContainsSubstring("power of two"));
}

TEST_CASE("auto avoids a given link with a ring, if no other algorithm can") {
  input::Json json =
      experiment(R"j({"torus": "4x4", "avoid": [["(0,0)", "(0,1)"]]})j", "all-reduce");
  json["numerics"] = "off";
  json["collectives"] = {{{"algorithm", "auto"}}};
  const run::RunResult one = run(json).runs[0];
  CHECK(one.algorithm == collectives::find_algorithm("ring"));
  CHECK(one.candidates.size() == 6);
}

}  // namespace
}  // namespace equarx::testing::automatic_test
