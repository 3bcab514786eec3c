#include "models/hardware/workgroups.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::workgroups_test {
namespace {

/// Ten compute units with two workgroups each and tiles of 1000 B.
Chip gpu() {
  Chip chip;
  chip.compute_units.value = 10;
  chip.workgroups_per_unit.value = 2;
  chip.workgroup_tile.value = 1000.0;
  chip.tile_codec_time.value = 3e-6;
  chip.codec_rate.value = 1e9;
  chip.copy_rate.value = 4e9;
  return chip;
}

TEST_CASE("a chip without compute units has no workgroups") {
  CHECK_FALSE(workgroups(Chip{}).has_value());
  CHECK(workgroups(gpu())->per_unit == 2);
}

TEST_CASE("rows of tiles are rounded up, and the smallest tensor has one") {
  const Workgroups of = workgroups(gpu()).value();
  CHECK(of.rows(0) == 1);
  CHECK(of.rows(1) == 1);
  CHECK(of.rows(10'000) == 1);
  CHECK(of.rows(10'001) == 2);
  CHECK(of.rows(1'000'000) == 100);
}

TEST_CASE("a pass over a tile has a fixed time, wire bytes a rate of their kind") {
  CHECK(tile_time_s(gpu(), 0.5) == Approx(1.5e-6));
  CHECK(wire_access_time_s(gpu(), 2000.0, true) == Approx(2e-6));
  CHECK(wire_access_time_s(gpu(), 2000.0, false) == Approx(0.5e-6));
}

TEST_CASE("parameters of workgroups are complete, with times of zero, or all absent") {
  CHECK(missing_of_workgroups(Chip{}).empty());
  Chip chip = gpu();
  chip.tile_codec_time.value = 0.0;
  CHECK(missing_of_workgroups(chip).empty());
  chip.copy_rate.value = 0.0;
  CHECK(missing_of_workgroups(chip) == "copy_rate");
  Chip only_time;
  only_time.peer_read_time.value = 1e-6;
  CHECK(missing_of_workgroups(only_time) == "compute_units");
}

}  // namespace
}  // namespace equarx::hardware::workgroups_test
