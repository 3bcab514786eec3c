#include "experiments/sweep/key.hpp"

#include "base/input/json.hpp"
#include "experiments/config/hardware_json.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::sweep::key_test {
namespace {

using namespace testing;

std::string key_of(const input::Json& config) { return SweepKeys().key(config); }

TEST_CASE("keys depend on the meaning of a configuration, not on its spelling") {
  const std::string key = key_of(good_config());
  CHECK(key.size() == 32);
  CHECK(key == key_of(good_config()));
  input::Json terse = good_config();
  terse.erase("simulation");
  CHECK(key == key_of(terse));
  for (const auto& [pointer, text] :
       {std::pair{"/tensor/values/seed", "2"}, std::pair{"/collectives/1/minishards", "4"},
        std::pair{"/baseline", "int8"}, std::pair{"/numerics", "off"}})
    CHECK(key != key_of(changed(pointer, text)));
  // A fault changes the times, but no other part of the configuration.
  const input::Json slow = changed("/faults", R"~({"chips": [{"chip": "(0,0)", "slowdown": 2}]})~");
  config::read_config(slow);
  CHECK(key != key_of(slow));
}

TEST_CASE("keys depend on the contents of files") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "chip.json";
  const input::Json config = changed("/hardware", file.string());
  input::Json chip = tpu_v5e();
  write(file, chip.dump());
  const std::string key = key_of(config);
  CHECK(key == key_of(config));
  chip["parameters"]["vector_rate"]["value"] = "1 Top/s";
  write(file, chip.dump());
  CHECK(key != key_of(config));
}

TEST_CASE("keys depend on the contents of the base of a hardware file") {
  const TemporaryFolder folder;
  write(folder.path() / "mine.json", R"({"based_on": "./base.json", "hop_latency": "1 us"})");
  const input::Json config = changed("/hardware", (folder.path() / "mine.json").string());
  input::Json chip = tpu_v5e();
  write(folder.path() / "base.json", chip.dump());
  const std::string key = key_of(config);
  chip["parameters"]["vector_rate"]["value"] = "1 Top/s";
  write(folder.path() / "base.json", chip.dump());
  CHECK(key != key_of(config));
}

TEST_CASE("a changed parameter of the chip gives another key") {
  const std::string key = key_of(good_config());
  const std::string faster = key_of(changed("/hardware/link_bandwidth", "90 GB/s"));
  CHECK(faster != key);
  CHECK(faster != key_of(changed("/hardware/link_bandwidth", "91 GB/s")));
  CHECK(faster != key_of(changed("/hardware/vmem_bandwidth", "90 GB/s")));
  // Setting a parameter to its own value is no change.
  CHECK(key == key_of(changed("/hardware/link_bandwidth", "45000 MB/s")));
}

TEST_CASE("experiments of a study have keys of their own for the same configuration") {
  const std::string key = key_of(good_config());
  CHECK(SweepKeys().key(good_config(), "") == key);
  CHECK(SweepKeys().key(good_config(), "one") != key);
  CHECK(SweepKeys().key(good_config(), "one") != SweepKeys().key(good_config(), "two"));
}

TEST_CASE("what is no configuration has a key, too") {
  const std::string key = key_of(changed("/topology/slice", "3x7"));
  CHECK(key.size() == 32);
  CHECK(key != key_of(changed("/topology/slice", "5x7")));
}

}  // namespace
}  // namespace equarx::sweep::key_test
