#include "models/hardware/chip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "tests/catch.hpp"

namespace equarx::hardware::chip_test {
namespace {

TEST_CASE("the parameter table lists every member of Chip once") {
  // A new parameter of Chip must be added to the table and here.
  const std::array members = {&Chip::links,
                              &Chip::link_bandwidth,
                              &Chip::link_efficiency,
                              &Chip::hop_latency,
                              &Chip::shared_link_efficiency,
                              &Chip::collective_startup,
                              &Chip::hbm_capacity,
                              &Chip::hbm_bandwidth,
                              &Chip::hbm_efficiency,
                              &Chip::vmem_capacity,
                              &Chip::vmem_bandwidth,
                              &Chip::vector_rate,
                              &Chip::matrix_rate_bf16,
                              &Chip::matrix_rate_int8,
                              &Chip::matrix_rate_fp8,
                              &Chip::matrix_rate_fp4,
                              &Chip::matrix_rate_fp32,
                              &Chip::matrix_rate_int1,
                              &Chip::matrix_rate_table,
                              &Chip::matrix_efficiency,
                              &Chip::instruction_overhead,
                              &Chip::dma_overhead,
                              &Chip::wait_overhead,
                              &Chip::barrier_time,
                              &Chip::step_sync_time,
                              &Chip::dma_queue,
                              &Chip::host_bandwidth,
                              &Chip::thread_block_rate,
                              &Chip::kernel_startup,
                              &Chip::compute_units,
                              &Chip::workgroups_per_unit,
                              &Chip::workgroup_tile,
                              &Chip::tile_codec_time,
                              &Chip::peer_read_time,
                              &Chip::codec_rate,
                              &Chip::copy_rate,
                              &Chip::operation_startup,
                              &Chip::matrix_startup,
                              &Chip::matrix_hbm_efficiency,
                              &Chip::matrix_efficiency_int8,
                              &Chip::matrix_efficiency_fp8,
                              &Chip::matrix_efficiency_fp4,
                              &Chip::matrix_efficiency_fp32,
                              &Chip::matrix_efficiency_int1,
                              &Chip::matrix_efficiency_table,
                              &Chip::convolution_efficiency,
                              &Chip::attention_efficiency,
                              &Chip::attention_backward_efficiency,
                              &Chip::attention_row_time,
                              &Chip::amax_efficiency,
                              &Chip::sort_rate,
                              &Chip::decode_rate,
                              &Chip::decoded_efficiency,
                              &Chip::step_overhead,
                              &Chip::program_startup,
                              &Chip::ll_startup,
                              &Chip::ll_hop_latency,
                              &Chip::ll_efficiency,
                              &Chip::ll128_startup,
                              &Chip::ll128_hop_latency,
                              &Chip::ll128_efficiency,
                              &Chip::simple_startup,
                              &Chip::simple_hop_latency,
                              &Chip::simple_efficiency,
                              &Chip::ll_network_latency,
                              &Chip::ll128_network_latency,
                              &Chip::simple_network_latency,
                              &Chip::ll_network_bandwidth,
                              &Chip::ll_tree_hop_latency,
                              &Chip::ll128_tree_hop_latency,
                              &Chip::simple_tree_hop_latency,
                              &Chip::ll_tree_network_latency,
                              &Chip::ll128_tree_network_latency,
                              &Chip::simple_tree_network_latency,
                              &Chip::tree_efficiency,
                              &Chip::switch_efficiency,
                              &Chip::switch_startup,
                              &Chip::price,
                              &Chip::power_idle,
                              &Chip::power_busy,
                              &Chip::energy_bf16,
                              &Chip::energy_fp32,
                              &Chip::energy_int8,
                              &Chip::energy_fp8,
                              &Chip::energy_fp4,
                              &Chip::energy_int1,
                              &Chip::energy_table,
                              &Chip::energy_vector,
                              &Chip::energy_hbm,
                              &Chip::energy_vmem,
                              &Chip::energy_link};
  REQUIRE(parameters().size() == members.size());
  for (const auto member : members)
    CHECK(std::ranges::count(parameters(), member, &ParameterInfo::member) == 1);
}

TEST_CASE("the parameter table covers Chip except names, slices, matrix products and calibration") {
  constexpr std::size_t kOthers = 2 * sizeof(std::string) + sizeof(Slices) +
                                  sizeof(MatrixProducts) + sizeof(std::optional<Calibration>);
  CHECK(sizeof(Chip) == kOthers + parameters().size() * sizeof(Parameter));
}

TEST_CASE("parameters are found by key") {
  for (const ParameterInfo& info : parameters()) CHECK(find_parameter(info.key) == &info);
  CHECK(find_parameter("hop_latncy") == nullptr);
  CHECK(find_parameter("") == nullptr);
}

TEST_CASE("the standard uncertainty derives from the standard error, else from the range") {
  Parameter parameter{.value = 10e-9, .source = {}};
  CHECK_FALSE(standard_uncertainty(parameter));
  parameter.range = {.low = 5e-9, .high = 20e-9};
  // Standard deviation of values spread evenly over the range.
  constexpr int kValues = 100000;
  double squares = 0.0;
  for (int i = 0; i < kValues; ++i) {
    const double away = (i + 0.5) / kValues - 0.5;
    squares += away * away * 15e-9 * 15e-9;
  }
  CHECK(*standard_uncertainty(parameter) == Approx(std::sqrt(squares / kValues)));
  parameter.standard_error = 1e-9;
  CHECK(*standard_uncertainty(parameter) == 1e-9);
}

TEST_CASE("uncertainties are formatted with the unit of their parameter") {
  const ParameterInfo& latency = *find_parameter("hop_latency");
  Parameter parameter{.value = 10e-9, .source = {}};
  CHECK(uncertainty_text(latency, parameter).empty());
  parameter.range = {.low = 5e-9, .high = 20e-9};
  CHECK(uncertainty_text(latency, parameter) == "5 ns to 20 ns");
  parameter.standard_error = 2e-6;
  CHECK(uncertainty_text(latency, parameter) == "+- 2 us, 5 ns to 20 ns");
  parameter.range.reset();
  CHECK(uncertainty_text(*find_parameter("link_efficiency"),
                         {.value = 0.5, .source = {}, .standard_error = 0.01}) == "+- 0.01");
}

TEST_CASE("parameter keys are unique, lower case, and described") {
  std::set<std::string_view> keys;
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    CHECK(keys.insert(info.key).second);
    CHECK(info.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
          std::string_view::npos);
    CHECK_FALSE(info.description.empty());
  }
}

TEST_CASE("only times may be zero, since rates and capacities are divisors") {
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    CHECK(info.may_be_zero ==
          (info.kind == ParameterKind::quantity && info.dimension == units::Dimension::time));
  }
}

TEST_CASE("parameters of kernels, of some GEMM rates, hosts and thread blocks are optional") {
  Chip chip;  // all values are 0
  std::set<std::string_view> absent;
  for (const ParameterInfo& info : parameters())
    if (is_absent(chip, info)) absent.insert(info.key);
  CHECK(absent == std::set<std::string_view>{"amax_efficiency",
                                             "attention_backward_efficiency",
                                             "attention_efficiency",
                                             "attention_row_time",
                                             "codec_rate",
                                             "compute_units",
                                             "convolution_efficiency",
                                             "copy_rate",
                                             "decode_rate",
                                             "decoded_efficiency",
                                             "host_bandwidth",
                                             "kernel_startup",
                                             "ll128_efficiency",
                                             "ll128_hop_latency",
                                             "ll128_network_latency",
                                             "ll128_startup",
                                             "ll128_tree_hop_latency",
                                             "ll128_tree_network_latency",
                                             "ll_efficiency",
                                             "ll_hop_latency",
                                             "ll_network_bandwidth",
                                             "ll_network_latency",
                                             "ll_startup",
                                             "ll_tree_hop_latency",
                                             "ll_tree_network_latency",
                                             "matrix_efficiency_fp32",
                                             "matrix_efficiency_fp4",
                                             "matrix_efficiency_fp8",
                                             "matrix_efficiency_int1",
                                             "matrix_efficiency_int8",
                                             "matrix_efficiency_table",
                                             "matrix_hbm_efficiency",
                                             "matrix_rate_fp32",
                                             "matrix_rate_fp4",
                                             "matrix_rate_fp8",
                                             "matrix_rate_int1",
                                             "matrix_rate_table",
                                             "matrix_startup",
                                             "operation_startup",
                                             "peer_read_time",
                                             "program_startup",
                                             "simple_efficiency",
                                             "simple_hop_latency",
                                             "simple_network_latency",
                                             "simple_startup",
                                             "simple_tree_hop_latency",
                                             "simple_tree_network_latency",
                                             "sort_rate",
                                             "step_overhead",
                                             "switch_efficiency",
                                             "switch_startup",
                                             "thread_block_rate",
                                             "tile_codec_time",
                                             "tree_efficiency",
                                             "workgroup_tile",
                                             "workgroups_per_unit",
                                             "price",
                                             "power_idle",
                                             "power_busy",
                                             "energy_bf16",
                                             "energy_fp32",
                                             "energy_int8",
                                             "energy_fp8",
                                             "energy_fp4",
                                             "energy_int1",
                                             "energy_table",
                                             "energy_vector",
                                             "energy_hbm",
                                             "energy_vmem",
                                             "energy_link"});
  chip.host_bandwidth.value = 32e9;
  CHECK_FALSE(is_absent(chip, *find_parameter("host_bandwidth")));
}

TEST_CASE("no time depends on prices, powers and energies") {
  for (const ParameterInfo& info : parameters()) {
    const bool is_of_cost =
        info.key == "price" || info.key.starts_with("power_") || info.key.starts_with("energy_");
    CAPTURE(info.key);
    CHECK(info.affects_times != is_of_cost);
    CHECK((info.may_be_absent || !is_of_cost));
  }
}

TEST_CASE("values are formatted with the unit of their parameter, ratios and counts without") {
  for (const ParameterInfo& info : parameters()) {
    CAPTURE(info.key);
    const std::string text = format_value(info, {.value = 0.5, .source = {}});
    if (info.kind != ParameterKind::quantity)
      CHECK(text == "0.5");
    else
      CHECK(units::parse(text, info.dimension) == 0.5);
  }
}

TEST_CASE("the link rate is the payload share of the link bandwidth") {
  Chip chip;
  chip.link_bandwidth.value = 45e9;
  chip.link_efficiency.value = 0.5;
  CHECK(chip.link_rate() == 22.5e9);
  CHECK(chip.hbm_rate_of_links(4) == 4 * 2 * 22.5e9);
}

}  // namespace
}  // namespace equarx::hardware::chip_test
