#include "experiments/config/chip_changes.hpp"

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/hardware_json.hpp"
#include "models/hardware/uncertainty.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"

namespace equarx::config::chip_changes_test {
namespace {

using testing::check_refused;

struct Changed {
  hardware::Chip chip;
  ChipChanges changes;
};

/// TPU v5e with the overrides in `text`, an object.
Changed changed_v5e(const std::string& text) {
  const input::Json json = input::parse_json(text);
  input::ObjectReader reader(json, "/hardware");
  Changed changed{load_chip("tpu-v5e", ""), {}};
  changed.changes = read_changes(reader, changed.chip);
  reader.finish();
  return changed;
}

TEST_CASE("a bare value is assumed, and its source names the value it replaces") {
  const auto [chip, changes] = changed_v5e(R"({"link_bandwidth": "90 GB/s", "dma_queue": 3})");
  CHECK(chip.link_bandwidth.value == 90e9);
  CHECK(chip.link_bandwidth.provenance == hardware::Provenance::assumed);
  CHECK(chip.link_bandwidth.source == "chosen by the user; tpu-v5e has 45 GB/s");
  CHECK(chip.dma_queue.value == 3);
  CHECK(chip.name == "tpu-v5e (link_bandwidth 90 GB/s, dma_queue 3)");
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]->key == "link_bandwidth");
  CHECK(chip.hop_latency.source == load_chip("tpu-v5e", "").hop_latency.source);
}

TEST_CASE("a chip with another price or power stays calibrated") {
  const auto [chip, changes] = changed_v5e(R"({"price": "$0.6/h", "power_idle": "50 W"})");
  CHECK(chip.price.value == 0.6);
  CHECK(chip.price.source == "chosen by the user; tpu-v5e has $1.2/h");
  CHECK(chip.name == "tpu-v5e (price $0.6/h, power_idle 50 W)");
  CHECK(changes.size() == 2);
  CHECK(chip.is_calibrated());
  CHECK_FALSE(
      changed_v5e(R"({"price": "$0.6/h", "link_bandwidth": "90 GB/s"})").chip.is_calibrated());
}

TEST_CASE("prices and energies without their unit are refused with an example") {
  for (const std::string key : {"price", "power_idle", "energy_bf16", "energy_hbm"}) {
    const std::string pointer = "/hardware/" + key;
    check_refused([&] { changed_v5e("{\"" + key + "\": 1.2}"); }, pointer,
                  "with its unit, like \"");
    check_refused([&] { changed_v5e("{\"" + key + "\": \"1.2\"}"); }, pointer, "has no unit");
  }
  check_refused([] { changed_v5e(R"({"price": "-$1/h"})"); }, "/hardware/price", "$1.20/h");
  check_refused([] { changed_v5e(R"({"price": "$-1/h"})"); }, "/hardware/price", "must be above 0");
  check_refused([] { changed_v5e(R"({"power_idle": "0 W"})"); }, "/hardware/power_idle",
                "must be above 0");
}

TEST_CASE("absent parameters of a chip can be set") {
  const auto [chip, changes] = changed_v5e(R"({"matrix_rate_fp8": "394 Top/s"})");
  CHECK(chip.matrix_rate_fp8.value == 394e12);
  CHECK(chip.matrix_rate_fp8.source == "chosen by the user; tpu-v5e has none");
  CHECK(chip.name == "tpu-v5e (matrix_rate_fp8 394 Top/s)");
  CHECK(changes.size() == 1);
}

TEST_CASE("an object sets class and source") {
  const auto [chip, changes] = changed_v5e(
      R"({"hop_latency": {"value": "1 us", "range": ["0.5 us", "2 us"], "class": "measured",
          "source": "a test"}})");
  CHECK(chip.hop_latency.provenance == hardware::Provenance::measured);
  CHECK(chip.hop_latency.source == "a test");
  CHECK(chip.hop_latency.range->high == 2e-6);
  input::Json json = input::Json::object();
  append_changes(json, chip, changes);
  CHECK(json["hop_latency"]["class"] == "measured");
  CHECK(changed_v5e(json.dump()).chip.hop_latency.range->high == 2e-6);
}

TEST_CASE("a value equal to the chip's is no change") {
  const auto [chip, changes] = changed_v5e(R"({"link_bandwidth": "45000 MB/s"})");
  CHECK(changes.empty());
  CHECK(chip.name == "tpu-v5e");
  CHECK(chip.link_bandwidth.provenance == hardware::Provenance::datasheet);
  CHECK(chip.is_calibrated());
}

TEST_CASE("a changed chip is not calibrated, but keeps the correlations of its fitted parameters") {
  const hardware::Chip whole = load_chip("tpu-v5e", "");
  REQUIRE(whole.is_calibrated());
  const auto [chip, changes] = changed_v5e(R"({"hop_latency": "1 us"})");
  CHECK_FALSE(chip.is_calibrated());
  REQUIRE(chip.calibration);
  const auto& kept = chip.calibration->parameters;
  REQUIRE(kept.size() + 1 == whole.calibration->parameters.size());
  CHECK(std::ranges::count(kept, "hop_latency") == 0);
  // The correlations of the remaining parameters are unchanged.
  const auto correlation = [](const hardware::Chip& of, const std::string& a,
                              const std::string& b) {
    const auto& names = of.calibration->parameters;
    const auto row = std::ranges::find(names, a) - names.begin();
    const auto column = std::ranges::find(names, b) - names.begin();
    return of.calibration->correlation[static_cast<std::size_t>(row) * names.size() +
                                       static_cast<std::size_t>(column)];
  };
  for (const std::string& a : kept)
    for (const std::string& b : kept) CHECK(correlation(chip, a, b) == correlation(whole, a, b));
  CHECK_NOTHROW(hardware::ChipSampler(chip).draw(1, 1));
  CHECK_FALSE(read_chip(to_json(chip)).is_calibrated());
}

TEST_CASE("invalid changes are refused with their pointer") {
  const std::string place = "/hardware/";
  for (const auto& [text, key, remedy] :
       {std::tuple{R"({"link_bandwith": "90 GB/s"})", "link_bandwith",
                   "did you mean 'link_bandwidth'?"},
        std::tuple{R"({"link_bandwidth": "90 GB"})", "link_bandwidth", "like \"45 GB/s\""},
        std::tuple{R"({"link_bandwidth": 90})", "link_bandwidth", "like \"45 GB/s\""},
        std::tuple{R"({"link_bandwidth": "0 GB/s"})", "link_bandwidth", "must be above 0"},
        std::tuple{R"({"link_efficiency": 1.5})", "link_efficiency", "from 1e-9 to 1"},
        std::tuple{R"({"dma_queue": 1.5})", "dma_queue", "is not an integer"},
        std::tuple{R"({"hop_latency": {"value": "1 us"}})", "hop_latency/class", "is missing"}}) {
    CAPTURE(text);
    check_refused([&, text = text] { changed_v5e(text); }, place + key, remedy);
  }
}

TEST_CASE("the display name of a configuration's hardware") {
  const auto text = [](const std::string& json) { return chip_text(input::parse_json(json)); };
  CHECK(text(R"("tpu-v5e")") == "tpu-v5e");
  CHECK(text(R"({"based_on": "tpu-v5e"})") == "tpu-v5e");
  CHECK(
      text(R"({"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s", "dma_queue": {"value": 3}})") ==
      "tpu-v5e (link_bandwidth 90 GB/s, dma_queue 3)");
  CHECK(text("null") == "a chip");
  CHECK(text("{}") == "a chip");
}

}  // namespace
}  // namespace equarx::config::chip_changes_test
