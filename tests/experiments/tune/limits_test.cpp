#include "experiments/tune/limits.hpp"

#include "tests/support/errors.hpp"

namespace equarx::tune::limits_test {
namespace {

using testing::check_refused;

TEST_CASE("limits are parsed with their units, and absent ones are std::nullopt") {
  CHECK_FALSE(read_limits({}).max_nmse);
  CHECK_FALSE(read_limits({}).max_time_s);
  const TuneLimits limits = read_limits({.max_nmse = "1e-3", .min_sqnr = "", .max_time = "100 us"});
  CHECK(limits.max_nmse == 1e-3);
  CHECK(*limits.max_time_s == Approx(1e-4));
  CHECK(*read_limits({.max_nmse = "", .min_sqnr = "30 dB", .max_time = ""}).max_nmse ==
        Approx(1e-3));
}

TEST_CASE("invalid limits are rejected with the name of their option") {
  const auto refuse = [](const TuneLimitTexts& texts, const std::string& option,
                         const std::string& remedy) {
    check_refused([&] { read_limits(texts); }, option, remedy);
  };
  refuse({.max_nmse = "1e-3", .min_sqnr = "30 dB", .max_time = ""}, "--min-sqnr", "one of them");
  refuse({.max_nmse = "0", .min_sqnr = "", .max_time = ""}, "--max-nmse", "above 0");
  refuse({.max_nmse = "small", .min_sqnr = "", .max_time = ""}, "--max-nmse", "like 1e-3");
  refuse({.max_nmse = "nan", .min_sqnr = "", .max_time = ""}, "--max-nmse", "is not a number");
  refuse({.max_nmse = "", .min_sqnr = "30", .max_time = ""}, "--min-sqnr", "like '30 dB'");
  refuse({.max_nmse = "", .min_sqnr = "", .max_time = "100"}, "--max-time", "unit");
  refuse({.max_nmse = "", .min_sqnr = "", .max_time = "0 us"}, "--max-time", "above 0");
}

}  // namespace
}  // namespace equarx::tune::limits_test
