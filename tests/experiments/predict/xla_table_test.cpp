#include "experiments/predict/xla_table.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::predict::xla_table_test {
namespace {

using testing::check_refused;

TableRow row_of(const std::string& collective, std::uint64_t bytes, std::uint32_t ranks,
                double time_s) {
  Query query;
  query.collective = collective;
  query.bytes = bytes;
  Prediction prediction;
  prediction.time_s = time_s;
  prediction.ranks = ranks;
  return {"one", query, std::make_shared<const Prediction>(prediction)};
}

Table table_of(std::vector<TableRow> rows) { return {"h100", 8, std::move(rows), 0, {}}; }

/// The text as the Protocol Buffers compiler reads and prints it.
std::string reread(const std::string& text) {
  const std::string folder = std::string("--proto_path=") + EQUARX_PREDICT_TESTS;
  const std::string message = "xla.gpu.DeviceHloInstructionProfiles";
  const auto encoded = testing::run_command(
      {EQUARX_PROTOC, folder, "--encode=" + message, "hlo_op_profile.proto"}, {.input = text});
  CAPTURE(text, encoded.err);
  REQUIRE(encoded.exit_code == 0);
  return testing::run_command(
             {EQUARX_PROTOC, folder, "--decode=" + message, "hlo_op_profile.proto"},
             {.input = encoded.out})
      .out;
}

}  // namespace

TEST_CASE("XLA reads the instruction, its groups, and the bytes per second") {
  const std::string text = to_xla_table(table_of({row_of("reduce-scatter", 65536, 4, 1e-5)}), "");
  CHECK(reread(text) == R"(entries {
  key: "sm_90"
  value {
    entries {
      instruction {
        opcode: "reduce-scatter"
        shape {
          element_type: BF16
          dimensions: 8192
          layout {
            minor_to_major: 0
          }
          is_dynamic_dimension: false
        }
        dimensions: 0
        channel_id: 1
        use_global_device_ids: true
        iota_collective_device_list {
          num_replica_groups: 2
          num_devices_per_group: 4
          iota_reshape_dims: 8
          iota_transpose_perm: 0
        }
      }
      network_throughput_bytes_per_sec: 6553600000
    }
  }
}
)");
}

TEST_CASE("shapes are those of the results") {
  for (const auto& [collective, elements] :
       std::vector<std::pair<std::string, int>>{{"all-reduce", 4096},
                                                {"all-gather", 4096},
                                                {"all-to-all", 4096},
                                                {"reduce-scatter", 512}}) {
    const std::string text =
        reread(to_xla_table(table_of({row_of(collective, 8192, 8, 1e-6)}), ""));
    CHECK_THAT(text, ContainsSubstring(fmt::format("opcode: \"{}\"", collective)));
    CHECK_THAT(text, ContainsSubstring(fmt::format("BF16\n          dimensions: {}\n", elements)));
  }
}

TEST_CASE("XLA's time of an instruction is the predicted one") {
  const input::Json config = {{"hardware", "b200"},
                              {"topology", {{"switch", 8}}},
                              {"tensor", {{"bytes", "4 B"}, {"dtype", "fp32"}}},
                              {"collectives", {{{"algorithm", "auto"}}}}};
  const Table table =
      make_table(config, {{}, {1 << 22}, {2}}, {.label = "", .errors = false, .intervals = false});
  const std::string text = reread(to_xla_table(table, ""));
  CHECK_THAT(text, ContainsSubstring("key: \"sm_100_B200\""));
  CHECK_THAT(text, ContainsSubstring("F32\n          dimensions: 1048576\n"));
  const std::string key = "bytes_per_sec: ";
  const double rate = std::stod(text.substr(text.find(key) + key.size()));
  CHECK((1 << 22) / rate == Approx(table.rows.front().prediction->time_s).epsilon(1e-9));
}

TEST_CASE("a key of a device replaces the chip's, and chips without one need it") {
  Table table = table_of({row_of("all-reduce", 8192, 8, 1e-6)});
  CHECK_THAT(to_xla_table(table, "sm_103"), ContainsSubstring("key: \"sm_103\""));
  table.hardware = "tpu-v5e";
  check_refused([&] { to_xla_table(table, ""); }, "--device", "give one, like sm_90");
  CHECK_THAT(to_xla_table(table, "sm_90"), ContainsSubstring("sm_90"));
  check_refused([&] { to_xla_table(table, "a\"b"); }, "--device", "letters, digits");
}

TEST_CASE("rows that XLA's table cannot hold are refused or left out") {
  const TableRow row = row_of("all-gather", 65536, 8, 1e-6);
  const TableRow uneven = row_of("all-gather", 65538, 8, 1e-6);
  CHECK(to_xla_table(table_of({row, uneven}), "") == to_xla_table(table_of({row}), ""));
  check_refused([&] { to_xla_table(table_of({uneven}), ""); }, "--bytes", "multiples");
  check_refused(
      [&] {
        to_xla_table(table_of({row, row}), "");
      },
      "--collective", "name one collective");
  check_refused([] { to_xla_table(table_of({row_of("broadcast", 64, 8, 1e-6)}), ""); },
                "--collectives", "all-reduce");
}

}  // namespace equarx::predict::xla_table_test
