#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/support/equarx_sim.hpp"

namespace equarx::testing::trace_test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> trace(const std::filesystem::path& file,
                               std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--trace", file.string()});
  return on_small_example("run", more);
}

std::size_t transfers(const Json& trace) {
  std::size_t count = 0;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "s") ++count;
  return count;
}

TEST_CASE("run --trace writes a trace without changing the results") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "trace.json";
  const std::string with_trace = output_of(equarx_sim(trace(file)));
  CHECK(with_trace == output_of(equarx_sim(on_small_example("run"))));
  const Json all = Json::parse(std::ifstream(file));
  CHECK(all["otherData"]["config"]["tensor"]["bytes"] == "128 KiB");
  CHECK(all["otherData"]["calibrated"] == true);
  CHECK(file_count(folder.path()) == 1);

  output_of(equarx_sim(trace(file, {"--trace-run", "bf16"})));
  const Json one = Json::parse(std::ifstream(file));
  CHECK(transfers(one) > 0);
  CHECK(transfers(one) < transfers(all));
}

TEST_CASE("run --trace rejects unwritable files before computing") {
  const TemporaryDirectory folder;
  const auto pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) == 0);
  check_refusal(equarx_sim(trace(pipe)), "it is a pipe or a device; name a regular file");
  CHECK(std::filesystem::is_fifo(pipe));
  check_refusal(equarx_sim(trace(folder.path())), "it is a folder; name a file in it");
  check_refusal(equarx_sim(trace("/no/such/folder/trace.json")),
                "cannot write /no/such/folder/trace.json: No such file or directory");
  check_refusal(equarx_sim(trace(folder.path() / "a.json", {"--trace-run", "bf17"})), "bf17");
  CHECK(file_count(folder.path()) == 1);
}

TEST_CASE("run --trace does not overwrite its inputs") {
  const TemporaryDirectory folder;
  const std::string config = folder.write("c.json", content_of(kExample));
  check_refusal(equarx_sim({"run", config, "--trace", config}),
                "cannot write " + config + ": it is an input");
  CHECK(content_of(config) == content_of(kExample));
  const std::string chip = folder.write("v5e.json", R"({"based_on": "tpu-v5e"})");
  check_refusal(equarx_sim({"run", config, "--set", "/hardware=" + chip, "--trace", chip}),
                "it is an input");
}

TEST_CASE("a disk too full for the trace does not lose the table") {
  const TemporaryDirectory folder;
  const std::string file = (folder.path() / "trace.json").string();
  // Limits files to 16 KiB and ignores the signal of exceeding it.
  std::vector<std::string> command = {"/bin/bash", "-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"",
                                      "bash", EQUARX_SIM_PATH};
  for (const std::string& argument : trace(file)) command.push_back(argument);
  const CommandResult result = run_command(command);
  CHECK(result.exit_code == 2);
  CHECK(result.out == output_of(equarx_sim(on_small_example("run"))));
  CHECK(result.err == "equarx-sim: error: cannot write " + file + ": is the disk full?\n");
  CHECK(file_count(folder.path()) == 0);
}

}  // namespace
}  // namespace equarx::testing::trace_test
