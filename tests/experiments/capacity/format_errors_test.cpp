#include "experiments/capacity/format_errors.hpp"

#include "experiments/config/stored_json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::format_errors_test {
namespace {

double nmse(const char* name) { return stored_nmse(config::load_stored_format(name, "")); }

TEST_CASE("errors of formats fall by four for every bit of an integer") {
  // Rows of 4096 normal values reach about 3.7 standard deviations: step = 3.7 / 127, NMSE = step^2 / 12.
  CHECK(nmse("int8-row") == Approx(7.1e-5).epsilon(0.15));
  CHECK(nmse("int4-row128") > 50 * nmse("int8-row"));
}

TEST_CASE("attention has an error if its KV cache has a format, and less with more bits") {
  const Request request = testing::small_request();
  const auto error = [&](std::uint32_t chips, const char* kv) {
    const Machine machine = machines_of("tpu-v6e", {chips})[0];
    return attention_nmse(
        config::read_serving(configuration(request, machine, {"bf16", kv, "bf16"}, 2048, 8, 1.0))
            .pool);
  };
  CHECK(error(1, "bf16") == 0.0);
  CHECK(error(1, "int8-row") > 10 * nmse("int8-row"));  // outlier channels, and softmax
  CHECK(error(1, "int8-row") < 0.01);
  CHECK(error(1, "e4m3-row") > error(1, "int8-row"));
  CHECK(error(4, "int8-row") > 0.0);
}

TEST_CASE("sums have an error if they are quantized and there are several chips") {
  const Request request = testing::small_request();
  const auto error = [&](std::uint32_t chips, const char* collective) {
    const Machine machine = machines_of("tpu-v6e", {chips})[0];
    return sums_nmse(config::read_serving(configuration(request, machine,
                                                        {"bf16", "bf16", collective}, 2048, 8, 1.0))
                         .pool);
  };
  CHECK(error(1, "int8") == 0.0);
  CHECK(error(4, "bf16") < 1e-4);
  CHECK(error(4, "int8") > error(4, "bf16"));
  CHECK(error(4, "int8") < 1e-3);
}

}  // namespace
}  // namespace equarx::capacity::format_errors_test
