#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::errors_test {
namespace {

TEST_CASE("an invalid command line is rejected with a pointer to the subcommand's help") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{}, "see 'equarx-sim --help'"},
      {{"--bogus"}, "see 'equarx-sim --help'"},
      {{"run"}, "CONFIG is required; see 'equarx-sim run --help'"},
      {{"show"}, "see 'equarx-sim show --help'"},
      {{"validate"}, "see 'equarx-sim validate --help'"},
      {{"quantize"}, "see 'equarx-sim quantize --help'"},
      {{"quantize", "a.npy", "--bogus"}, "has no option --bogus; see 'equarx-sim quantize --help'"},
      {{"quantize", "a.npy", "--format"}, "see 'equarx-sim quantize --help'"},
      {{"reproduce"}, "see 'equarx-sim reproduce --help'"},
      {{"reproduce", "a", "b"}, "see 'equarx-sim reproduce --help'"},
      {{"run", "--helpp"}, "'run' has no option --helpp (did you mean --help?); see"},
      {{"run", kExample, "--trase=x"}, "'run' has no option --trase (did you mean --trace?); see"},
      {{"run", kExample, kExample}, "see 'equarx-sim run --help'"},
      {{"run", kExample, "--set"}, "see 'equarx-sim run --help'"},
      {{"show", kExample, "--json"}, "'show' has no option --json; see"},
      {{"--json", "run", kExample}, "see 'equarx-sim run --help'"},
      {{"run", kExample, "--a\nb"}, "has no option --a?b; see"}};
  for (const auto& [command, message] : commands) {
    CAPTURE(command);
    check_refusal(equarx_sim(command), message);
  }
}

TEST_CASE("an unknown subcommand is rejected with a suggestion") {
  check_refusal(equarx_sim({"rum", kExample}), "unknown subcommand 'rum'; did you mean 'run'?");
  check_refusal(equarx_sim({"val", kExample}), "'val'; did you mean 'validate'?");
  check_refusal(equarx_sim({"bogus"}), "unknown subcommand 'bogus'; use one of run, show,");
}

TEST_CASE("an invalid number of jobs is rejected with the allowed range") {
  for (const std::string jobs : {"0", "-1", "1025", "many"})
    for (const std::string command : {"sweep", "reproduce"}) {
      CAPTURE(jobs, command);
      check_refusal(equarx_sim({command, "none", "-j", jobs}), "--jobs");
    }
  check_refusal(equarx_sim({"sweep", "none", "-j", "0"}), "Value 0 not in range 1 to 1024;");
}

TEST_CASE("an unreadable configuration is rejected with its name") {
  const TemporaryDirectory directory;
  for (const std::string command : {"run", "show", "validate"}) {
    check_refusal(equarx_sim({command, "none.json"}),
                  "cannot read none.json: No such file or directory (relative to /");
    check_refusal(equarx_sim({command, directory.path()}), "it is a directory");
  }
  check_refusal(equarx_sim({"run", std::string(5000, 'a')}), "too long");
  check_refusal(equarx_sim({"run", "a\nb"}), "cannot read a?b");
  check_refusal(equarx_sim({"run", ""}), "cannot read");
}

TEST_CASE("a file that is not JSON is rejected with name, line and column") {
  const TemporaryDirectory directory;
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"", "line 1, column 1"},
      {"\n\n", "line 3, column 1"},
      {"{\n  \"a\": 1,\n  \"b\" 2\n}\n", "line 3, column 7"},
      {"{\"hardware\": \"\xff\"}", "line 1, column 15"},
      {std::string("\0\1\2\3", 4), "line 1, column 1"},
      {"\x7f"
       "ELF\2\1\1",
       "line 1, column 1"},
      {"# yaml: no\n", "line 1, column 1"}};
  for (const auto& [content, place] : contents) {
    const std::string path = directory.write("bad.json", content);
    check_refusal(equarx_sim({"run", path}), path + ": not valid JSON at " + place);
  }
}

TEST_CASE("a file nested too deeply is rejected") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("deep.json", std::string(100000, '['));
  check_refusal(equarx_sim({"run", path}), path + ": not valid here: nested more than 100 deep");
}

TEST_CASE("files with an invalid structure are rejected") {
  const TemporaryDirectory directory;
  for (const std::string content :
       {"[]", "null", "7", "\"text\"", "{}", R"({"hardware": "tpu-v5e", "hardware": "tpu-v5e"})",
        R"({"hardware": "a\nb\u001b[2J"})", R"({"a\nb": 1})"}) {
    const std::string path = directory.write("bad.json", content);
    for (const std::string command : {"run", "show", "validate"})
      check_refusal(equarx_sim({command, path}), path + ": ");
  }
}

TEST_CASE("every kind of invalid input is rejected with its JSON pointer") {
  const std::vector<std::pair<std::string, std::string>> overrides = {
      {"/tensor/dype=fp32", "/tensor/dype: unknown key 'dype'; did you mean 'dtype'?"},
      {"/tensor/shape=x", "/tensor/shape: expected an array, found a string"},
      {"/tensor/bytes=45.5", "/tensor/bytes: expected a size with its unit"},
      {"/tensor/bytes=45 GB/s", "/tensor/bytes: 'GB/s' is not a unit of a size"},
      {"/tensor/bytes=-1 B", "/tensor/bytes: -1 B is not a positive"},
      {"/tensor/shape=[0]", "/tensor/shape/0: 0 is not an integer"},
      {"/tensor/shape=[9223372036854775808]", "/tensor/shape/0: 9223372036854775808"},
      {"/tensor/bytes=100 GB", "/tensor: needs 186.3 GiB on each chip"},
      {"/topology/slice=3x3", "/topology/slice: tpu-v5e has no slice 3x3"},
      {"/topology/slice=1x1", "/topology: a collective needs at least two chips"},
      {"/topology/mesh=3x3", "/topology: no Hamiltonian ring exists on the 3x3 mesh"},
      {"/topology/mesh=3x3", "or an algorithm that needs no ring: torus, two-shot, one-shot"},
      {"/collectives/1/minishards=1048576", "/collectives/1: 1048576 minishards"},
      {"/collectives/1/label=bf16", "/collectives/1/label: 'bf16' is also the label"},
      {"/collectives/1/label=\xff", "/collectives/1/label: --set is given bytes"},
      {"/collectives=[]", "/collectives: is empty"},
      {"/baseline=none", "/baseline: 'none' is not known"},
      {"/hardware=tpu-v9", "/hardware: 'tpu-v9' is not a known chip"},
      {"/hardware=none.json", "/hardware: cannot read none.json: No such file"},
      {"/hardware/link_bandwith=90 GB/s",
       "/hardware/link_bandwith: unknown key 'link_bandwith'; "
       "did you mean 'link_bandwidth'?"},
      {"/hardware/link_bandwidth/value=90 GB/s", "/hardware/link_bandwidth/class: is missing"},
      {"/tensor/bytes=1e30 GiB", "/tensor/bytes: 1e30 GiB is too large; a tensor has at most"},
      {"/collectives=[{\"algorithm\":\"ring\"",
       "/collectives: '[{\"algorithm\":\"ring\"' is not valid JSON at line 1, column 21"},
      {"/tensor/bytes=\"8 MiB", "/tensor/bytes: '\"8 MiB' is not valid JSON"},
      {"/collectives=true", "/collectives: expected an array, found true"},
      {"/collectives/1/label=\"a\\nb\\u001b[2J\"",
       "/collectives/1/label: 'a?b?[2J' has control characters; remove them"},
      {"/output=x", "/output: unknown key 'output'; use one of hardware, topology, "},
      {"/collectives/1/format=fp8", "did you mean 'fp8-e4m3'? (one of "},
      {"/collectives/1/algorithm=nccl", "'nccl' is not known; use one of ring, "},
      {"/collectives/7/format=bf16", "/collectives/7/format: no element '7'; the array has 2"},
      {"/topolgy/ring=4", "/topolgy: unknown key 'topolgy'; did you mean 'topology'?"},
      {"bytes=1",
       "--set bytes=1: expected a JSON pointer, '=' and a value, like "
       "'/tensor/bytes=8 MiB'"},
      {"/tensor", "--set /tensor: expected a JSON pointer"},
      {"", "--set : expected a JSON pointer"}};
  for (const auto& [text, message] : overrides) {
    CAPTURE(text);
    check_refusal(equarx_sim({"run", kExample, "--set", text}), kExample + ": ");
    check_refusal(equarx_sim({"validate", kExample, "--set", text}), message);
  }
}

TEST_CASE("infeasible symmetric simulation is rejected by validate and run") {
  for (const std::string command : {"run", "validate"})
    check_refusal(equarx_sim({command, kExample, "--set", "/collectives/0/algorithm=one-shot",
                              "--set", "/simulation=symmetric"}),
                  "/simulation: ");
}

TEST_CASE("a full or closed standard output is an error") {
  const std::vector<std::vector<std::string>> commands = {on_small_example("run"),
                                                          on_small_example("run", {"--json"}),
                                                          {"show", kExample},
                                                          {"validate", kExample},
                                                          {"--help"},
                                                          {"--version"}};
  for (const auto& command : commands) {
    CAPTURE(command);
    check_refusal(equarx_sim(command, {.output = "/dev/full"}), "cannot write to standard output");
    check_refusal(equarx_sim(command, {.close_output = true}), "cannot write to standard output");
  }
}

}  // namespace
}  // namespace equarx::testing::errors_test
