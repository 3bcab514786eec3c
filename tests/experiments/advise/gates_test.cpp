#include "experiments/advise/gates.hpp"

#include <algorithm>

#include "experiments/advise/gates_report.hpp"
#include "experiments/advise/sizes.hpp"
#include "tests/experiments/advise/advising.hpp"
#include "tests/support/errors.hpp"

namespace equarx::advise::gates_test {
namespace {

MachineGates gates_of(const input::Json& json, const std::vector<std::string>& formats) {
  return find_gates(config::read_config(json), formats, [](const std::string&) {});
}

input::Json on_tpus() {
  input::Json json = on_slice("2x2", "1 MiB");
  json["uncertainty"] = {{"samples", 20}};
  return json;
}

/// Speedup of the fastest int8 collective over the fastest plain one, by two runs.
double speedup_at(std::uint64_t bytes) {
  input::Json json = on_tpus();
  json["tensor"] = {{"bytes", bytes}};
  json["collectives"] = {{{"label", "plain"}, {"algorithm", "auto"}},
                         {{"label", "int8"}, {"algorithm", "auto"}, {"format", "int8"}}};
  json["baseline"] = "plain";
  json["numerics"] = "off";
  json.erase("uncertainty");
  return *testing::run(json).runs[1].speedup;
}

}  // namespace

TEST_CASE("a gate is the size at which runs change sides") {
  const MachineGates machine = gates_of(on_tpus(), {"int8"});
  CHECK(machine.ranks == 4);
  REQUIRE(machine.gates.size() == 1);
  const Gate& gate = machine.gates.front();
  REQUIRE(gate.from);
  CHECK(speedup_at(*gate.from) > 1.0);
  CHECK(speedup_at(*gate.from / 2) <= 1.0);
  CHECK(gate.speedup == Approx(speedup_at(gain_sizes().back())).epsilon(1e-6));
  REQUIRE(gate.interval);
  REQUIRE(gate.interval->first);
  CHECK(*gate.interval->first <= *gate.from);
  CHECK(gate.nmse > 0.0);
}

TEST_CASE("codecs are the quantized collectives of the configuration unless formats are named") {
  const MachineGates own = gates_of(on_tpus(), {});
  REQUIRE(own.gates.size() == 1);
  CHECK(own.gates.front().codec == "int8");
  CHECK(own.gates.front().algorithm == "equarx");
  input::Json plain = on_tpus();
  plain["collectives"].erase(1);
  const MachineGates usual = gates_of(plain, {});
  REQUIRE(usual.gates.size() == 3);
  CHECK(usual.gates[2].codec == "int4");
  CHECK(usual.gates[2].speedup > usual.gates[0].speedup);
  CHECK(usual.gates[2].nmse > usual.gates[0].nmse);
}

TEST_CASE("reports list machines, gates and a dictionary for engines") {
  MachineGates machine = gates_of(on_tpus(), {"int8"});
  machine.gates.push_back(machine.gates.front());
  machine.gates.back().codec = "late";
  machine.gates.back().from = std::nullopt;
  machine.gates.back().interval = std::pair(GateSize(64 << 20), GateSize());
  const std::string text = to_text({machine});
  CHECK_THAT(text, ContainsSubstring("64.00 MiB to never"));
  CHECK_THAT(text, ContainsSubstring("(torch.bfloat16, 4): [") && ContainsSubstring(", None],"));
  const input::Json json = to_json(std::vector{machine});
  const input::Json& gates = json["machines"][0]["gates"];
  CHECK(gates[0]["min_bytes"] == *machine.gates[0].from);
  CHECK(gates[1]["min_bytes"].is_null());
  CHECK(gates[1]["interval"]["low"] == 64 << 20);
  CHECK(gates[1]["interval"]["high"].is_null());
}

TEST_CASE("gates need known formats") {
  const input::Json json = on_tpus();
  testing::check_refused([&] { gates_of(json, {"int9"}); }, "--formats", "did you mean");
}

}  // namespace equarx::advise::gates_test
