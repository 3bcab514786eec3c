#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::advise_test {
namespace {

std::vector<std::string> advise(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--formats", "int8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return on_small_example("advise", arguments);
}

TEST_CASE("advise prints a recommendation as text and as JSON") {
  CHECK_THAT(output_of(equarx_sim(advise({}))),
             ContainsSubstring("Quantize?") && ContainsSubstring("Configuration:"));
  const auto json = nlohmann::json::parse(output_of(equarx_sim(advise({"--json"}))));
  CHECK(json["limits"]["max_nmse"].get<double>() == Approx(1e-3));  // 30 dB
  CHECK(json["sizes"].size() > 5);
}

TEST_CASE("advise on an FP32 tensor names the type that it compares with") {
  const CommandResult done =
      equarx_sim(advise({"--set", "/tensor/dtype=fp32", "--set", "/collectives/0/format=fp32"}));
  CHECK(done.exit_code == 0);
  CHECK_THAT(done.out, ContainsSubstring("Compared with:     fp32, 4 bytes per element") &&
                           ContainsSubstring("\"dtype\": \"bf16\""));
  CHECK_THAT(done.err,
             Catch::Matchers::StartsWith("equarx-sim: warning: candidate 'bf16' runs in fp32"));
  CHECK(std::ranges::count(done.err, '\n') == 1);
  CHECK_THAT(output_of(equarx_sim(advise({}))), !ContainsSubstring("Compared with:"));
}

TEST_CASE("advise prints one row per slice and chip") {
  const std::string table =
      output_of(equarx_sim(advise({"--slices", "2x2,4x2", "--chips", "tpu-v5e,tpu-v6e"})));
  CHECK_THAT(table, ContainsSubstring("tpu-v6e") && ContainsSubstring("2x2"));
  CHECK(std::ranges::count(table, '\n') >= 5);
  const auto json = nlohmann::json::parse(output_of(
      equarx_sim(advise({"--slices", "v5e-4,2x2x1", "--chips", "v5e,tpu-v5p", "--json"}))));
  REQUIRE(json["sites"].size() == 4);
  CHECK(json["sites"][0]["chip"] == "tpu-v5e");
  CHECK(json["sites"][0]["topology"] == "2x2");
  CHECK(json["sites"][1]["advice"].is_null());  // v5e has no third axis
  CHECK(json["sites"][2]["advice"].is_null());
  CHECK_FALSE(json["sites"][3]["advice"].is_null());
}

TEST_CASE("advise rejects invalid limits, formats and machines") {
  check_refusal(equarx_sim(advise({"--min-sqnr", "30"})), "--min-sqnr: '30' is not a number of dB");
  check_refusal(equarx_sim(advise({"--min-sqnr", "200 dB"})),
                "no configuration is accurate enough");
  check_refusal(equarx_sim(advise({"--slices", "2x2,7x9"})),
                "error: --slices: tpu-v5e has no slice 7x9; ");
  check_refusal(equarx_sim(advise({"--slices", "2x2,foo"})), "error: --slices: \"foo\" is not the");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v5e,foo"})),
                "error: --chips: 'foo' is not a known chip; use one of a100");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v5e,tpu-v6"})),
                "error: --chips: 'tpu-v6' is not a known chip; did you mean 'tpu-v6e'?");
  check_refusal(equarx_sim(on_small_example("advise", {"--formats", "int9"})), "'int9'");
}

/// A step of one AllReduce of 8 MiB on four chips.
constexpr const char* kStep = R"({
  "hardware": "tpu-v5e", "topology": {"slice": "2x2"}, "mesh": {"data": 4},
  "uncertainty": {"samples": 10},
  "step": {"tasks": [
    {"name": "sum", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "8 MiB"}}]}})";

/// A program with the same AllReduce.
constexpr const char* kProgram = R"(HloModule small, is_scheduled=true, num_partitions=4

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = bf16[4194304]{0} parameter(0)
  ROOT sum = bf16[4194304]{0} all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
}
)";

TEST_CASE("advise on a step and on a program gives a verdict per group") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  CHECK_THAT(output_of(equarx_sim({"advise", step, "--formats", "int8"})),
             ContainsSubstring("sum: yes: "));
  const std::string program = folder.write("small.hlo.txt", kProgram);
  const auto json = nlohmann::json::parse(output_of(
      equarx_sim({"advise", program, "--topology", "2x2", "--formats", "int8", "--json"})));
  CHECK(json["advice"]["groups"][0]["quantize"] == "yes");
  CHECK(json["advice"]["groups"].size() == 1);
  CHECK(json["runs"].size() == 2);
}

TEST_CASE("advise writes a page with the advice and the compared runs") {
  const TemporaryDirectory folder;
  const std::string page = (folder.path() / "advice.html").string();
  const std::string step = folder.write("step.json", kStep);
  output_of(equarx_sim({"advise", step, "--formats", "int8", "--report", page}));
  CHECK_THAT(content_of(page), ContainsSubstring("sum: yes: "));
  CHECK_THAT(content_of(page), ContainsSubstring("advised"));
  output_of(equarx_sim(advise({"--report", page})));
  CHECK_THAT(content_of(page), ContainsSubstring("Quantize?"));
  CHECK_THAT(content_of(page), ContainsSubstring("quantized"));
}

TEST_CASE("advise draws the advice on a collective, on machines and on a step") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  const auto drawn = [&](std::vector<std::string> command, const std::string& name) {
    const std::string picture = (folder.path() / name).string();
    command.insert(command.end(), {"--plot", picture});
    output_of(equarx_sim(command));
    return content_of(picture);
  };
  // In SVG files matplotlib writes each text in a comment.
  CHECK_THAT(drawn(advise({}), "collective.svg"),
             ContainsSubstring("<!-- yes -->") || ContainsSubstring("<!-- no -->"));
  CHECK_THAT(drawn(advise({"--slices", "2x2,4x2"}), "machines.svg"),
             ContainsSubstring("slice 2x2") && ContainsSubstring("slice 4x2"));
  CHECK_THAT(drawn({"advise", step, "--formats", "int8"}, "step.svg"),
             ContainsSubstring("<!-- whole step -->") && ContainsSubstring("<!-- sum -->") &&
                 ContainsSubstring("<!-- yes -->") && ContainsSubstring("unquantized, 1.00x"));
  CHECK_THAT(drawn({"advise", step, "--formats", "int8"}, "step.png"),
             Catch::Matchers::StartsWith("\x89PNG"));
  CHECK(file_count(folder.path()) == 5);
}

TEST_CASE("advise rejects pictures that it cannot draw, before computing anything") {
  const TemporaryDirectory folder;
  const auto refused = [](const std::vector<std::string>& command, const std::string& words) {
    const CommandResult done = equarx_sim(command);
    check_refusal(done, words);
  };
  refused(advise({"--plot", "a.jpg"}), "--plot: the name a.jpg does not end in .svg, .png or .pdf");
  refused(advise({"--plot", "/nowhere/a.svg"}), "/nowhere/a.svg");
  const std::string config = folder.write("step.svg", kStep);
  refused({"advise", config, "--plot", config}, "it is an input");
  // A Python without matplotlib.
  folder.write("matplotlib.py", "raise ModuleNotFoundError('none', name='matplotlib')");
  std::vector<std::string> command = advise({"--plot", "a.svg"});
  command.insert(command.begin(),
                 {"/usr/bin/env", "PYTHONPATH=" + folder.path().string(), EQUARX_SIM_PATH});
  check_refusal(run_command(command), "has no module 'matplotlib'; install Debian's packages");
}

TEST_CASE("advise rejects options that do not apply, before computing anything") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  const std::string program = folder.write("small.hlo.txt", kProgram);
  check_refusal(equarx_sim(advise({"--topology", "2x2"})), "--topology applies to HLO programs");
  check_refusal(equarx_sim({"advise", step, "--mesh", "data=4"}), "--mesh applies to HLO programs");
  check_refusal(equarx_sim({"advise", step, "--chips", "tpu-v5e"}),
                "--chips applies to collectives");
  check_refusal(equarx_sim({"advise", program, "--topology", "2x2", "--set", "/a=1"}),
                "--set and --unset apply to configurations");
  check_refusal(equarx_sim({"advise", program, "--topology", "3x3"}), "small.hlo.txt");
  check_refusal(equarx_sim({"advise", step, "--report", step}), "it is an input");
  check_refusal(equarx_sim({"advise", step, "--report", "/nowhere/a.html"}), "/nowhere/a.html");
  check_refusal(equarx_sim(advise({"--chips", "tpu-v5e", "--report", "a.html"})),
                "--report applies to one machine");
}

TEST_CASE("advise on a program without collectives has nothing to advise") {
  const TemporaryDirectory folder;
  const std::string program = folder.write("none.hlo.txt", R"(HloModule none, num_partitions=4

ENTRY main {
  x = bf16[1024,1024]{1,0} parameter(0)
  ROOT y = bf16[1024,1024]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  check_refusal(equarx_sim({"advise", program, "--topology", "2x2"}), "has no collective");
}

TEST_CASE("run adds intervals and sensitivities to a step") {
  const TemporaryDirectory folder;
  const std::string step = folder.write("step.json", kStep);
  const std::string text = output_of(equarx_sim({"run", step, "--sensitivity"}));
  CHECK_THAT(text, ContainsSubstring("68 % interval"));
  CHECK_THAT(text, ContainsSubstring("time of plain"));
  check_refusal(equarx_sim({"run", step, "--trace-run", "plain", "--trace", "a.json"}),
                "--trace-run applies to collectives");
}

}  // namespace
}  // namespace equarx::testing::advise_test
