#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing {
namespace {

TEST_CASE("a wrong command line is refused, and help is pointed to") {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"bogus"},
                                                          {"run"},
                                                          {"show"},
                                                          {"validate"},
                                                          {"quantize"},
                                                          {"quantize", "a.npy", "--bogus"},
                                                          {"quantize", "a.npy", "--format"},
                                                          {"reproduce"},
                                                          {"reproduce", "a", "b"},
                                                          {"run", kExample, "--bogus"},
                                                          {"run", kExample, kExample},
                                                          {"run", kExample, "--set"},
                                                          {"show", kExample, "--json"},
                                                          {"--json", "run", kExample},
                                                          {"run", kExample, "--a\nb"}};
  for (const auto& command : commands) {
    CAPTURE(command);
    check_refusal(equarx_sim(command), "see 'equarx-sim --help'");
  }
}

TEST_CASE("a configuration that cannot be read is refused with its name") {
  const TemporaryDirectory directory;
  for (const std::string command : {"run", "show", "validate"}) {
    check_refusal(equarx_sim({command, "none.json"}), "cannot read none.json: No such file");
    check_refusal(equarx_sim({command, directory.path()}), "it is a directory");
  }
  check_refusal(equarx_sim({"run", std::string(5000, 'a')}), "too long");
  check_refusal(equarx_sim({"run", "a\nb"}), "cannot read a?b");
  check_refusal(equarx_sim({"run", ""}), "cannot read");
}

TEST_CASE("a file that is not JSON is refused with its name, line and column") {
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

TEST_CASE("a file that is nested too deep is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("deep.json", std::string(100000, '['));
  check_refusal(equarx_sim({"run", path}), path + ": not valid here: nested more than 100 deep");
}

TEST_CASE("files with the wrong structure are refused") {
  const TemporaryDirectory directory;
  for (const std::string content :
       {"[]", "null", "7", "\"text\"", "{}", R"({"hardware": "tpu-v5e", "hardware": "tpu-v5e"})",
        R"({"hardware": "a\nb\u001b[2J"})", R"({"a\nb": 1})"}) {
    const std::string path = directory.write("bad.json", content);
    for (const std::string command : {"run", "show", "validate"})
      check_refusal(equarx_sim({command, path}), path + ": ");
  }
}

TEST_CASE("every kind of bad input is refused with its JSON pointer") {
  const std::vector<std::pair<std::string, std::string>> overrides = {
      {"/tensor/dype=fp32", "/tensor/dype: unknown key 'dype'; did you mean 'dtype'?"},
      {"/tensor/shape=x", "/tensor/shape: expected an array, found a string"},
      {"/tensor/bytes=45", "/tensor/bytes: expected a size with its unit"},
      {"/tensor/bytes=45 GB/s", "/tensor/bytes: 'GB/s' is not a unit of a size"},
      {"/tensor/bytes=-1 B", "/tensor/bytes: -1 B is not a positive"},
      {"/tensor/shape=[0]", "/tensor/shape/0: 0 is not an integer"},
      {"/tensor/shape=[9223372036854775808]", "/tensor/shape/0: 9223372036854775808"},
      {"/tensor/bytes=100 GB", "/tensor: needs 186.3 GiB on each chip"},
      {"/topology/slice=3x3", "/topology/slice: tpu-v5e has no slice 3x3"},
      {"/topology/slice=1x1", "/topology: a collective needs at least two chips"},
      {"/topology/mesh=3x3", "/topology: no Hamiltonian ring exists on the 3x3 mesh"},
      {"/collectives/1/minishards=1048576", "/collectives/1: 1048576 minishards"},
      {"/collectives/1/label=bf16", "/collectives/1/label: 'bf16' is also the label"},
      {"/collectives/1/label=\xff", "/collectives/1/label: --set is given bytes"},
      {"/collectives=[]", "/collectives: is empty"},
      {"/baseline=none", "/baseline: 'none' is not known"},
      {"/hardware=tpu-v9", "/hardware: 'tpu-v9' is not a known chip"},
      {"/hardware=none.json", "/hardware: in none.json: cannot read none.json"},
      {"/collectives/7/format=bf16", "/collectives/7/format: there is no element '7'; there are 2"},
      {"/topolgy/ring=4", "/topolgy: unknown key 'topolgy'; did you mean 'topology'?"},
      {"bytes=1", "--set bytes=1: expected a JSON pointer"},
      {"/tensor", "--set /tensor: expected a JSON pointer"},
      {"", "--set : expected a JSON pointer"}};
  for (const auto& [text, message] : overrides) {
    CAPTURE(text);
    check_refusal(equarx_sim({"run", kExample, "--set", text}), kExample + ": ");
    check_refusal(equarx_sim({"validate", kExample, "--set", text}), message);
  }
}

TEST_CASE("symmetric simulation that cannot be is refused by validate as by run") {
  for (const std::string command : {"run", "validate"})
    check_refusal(equarx_sim({command, kExample, "--set", "/collectives/0/algorithm=one-shot",
                              "--set", "/simulation=symmetric"}),
                  "/simulation: ");
}

TEST_CASE("standard output that is full or closed is an error, not a silence") {
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
}  // namespace equarx::testing
