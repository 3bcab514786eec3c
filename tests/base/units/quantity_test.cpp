#include "base/units/quantity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::units::quantity_test {
namespace {

const std::vector<std::pair<std::string, double>> kLargePrefixes = {
    {"", 1.0},   {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
    {"P", 1e15}, {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};

TEST_CASE("large prefixes apply to every unit except seconds") {
  for (const auto& [prefix, factor] : kLargePrefixes) {
    CAPTURE(prefix);
    CHECK(parse("3 " + prefix + "B", Dimension::bytes) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "B/s", Dimension::bandwidth) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "b/s", Dimension::bandwidth) == 3.0 * factor / 8.0);
    CHECK(parse("3 " + prefix + "Bps", Dimension::bandwidth) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "bps", Dimension::bandwidth) == 3.0 * factor / 8.0);
    CHECK(parse("3 " + prefix + "Hz", Dimension::frequency) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "op/s", Dimension::operations) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "OP/s", Dimension::operations) == 3.0 * factor);
    CHECK(parse("3 " + prefix + "FLOP/s", Dimension::operations) == 3.0 * factor);
  }
}

TEST_CASE("time takes small prefixes and is correctly rounded") {
  CHECK(parse("1 s", Dimension::time) == 1.0);
  CHECK(parse("1 ms", Dimension::time) == 1e-3);
  CHECK(parse("1 us", Dimension::time) == 1e-6);
  CHECK(parse("10 ns", Dimension::time) == 1e-8);
  CHECK(parse("7 ps", Dimension::time) == 7e-12);
  CHECK(parse("2105.1 us", Dimension::time) == 2105.1e-6);
}

TEST_CASE("k is 1000, Ki is 1024, b is bit and B is byte") {
  CHECK(parse("1 kB", Dimension::bytes) == 1000.0);
  CHECK(parse("1 KiB", Dimension::bytes) == 1024.0);
  CHECK(parse("45 GB/s", Dimension::bandwidth) == 45e9);
  CHECK(parse("360 Gb/s", Dimension::bandwidth) == 45e9);
  CHECK(parse("360 Gbps", Dimension::bandwidth) == 45e9);
  CHECK(parse("45 GBps", Dimension::bandwidth) == 45e9);
  CHECK(parse("32 MiB", Dimension::bytes) == 32.0 * 1024.0 * 1024.0);
  CHECK(parse("32 MB", Dimension::bytes) == 32e6);
}

TEST_CASE("a price has its currency before the number or in its unit") {
  for (const std::string text :
       {"$1.20/h", "1.2 USD/h", "1.2 $/h", "1.2$/h", "$ 1.2 /h", " $1.2/h ", "$0.12e1/h"})
    CHECK(parse(text, Dimension::price) == 1.2);
  CHECK(format(1.2, Dimension::price) == "$1.2/h");
  CHECK(format_short(0.6, Dimension::price) == "$0.6000/h");
  CHECK(format(25804.8, Dimension::price) == "$25804.8/h");
  for (const std::string text :
       {"1.2", "$1.2", "$", "$/h", "1.2 h", "1.2 EUR/h", "$1.2/s", "$1.2/month", "$1.2 USD/h",
        "k$1.2/h", "1.2 k$/h", "1.2 mUSD/h", "$1.2/h/h"}) {
    CAPTURE(text);
    REQUIRE_THROWS_WITH(parse(text, Dimension::price), ContainsSubstring("like \"$1.20/h\""));
  }
}

TEST_CASE("powers take large prefixes, energies small ones, and an energy both") {
  CHECK(parse("0.7 kW", Dimension::power) == 700.0);
  CHECK(parse("1.5 MW", Dimension::power) == 1.5e6);
  CHECK(format(700.0, Dimension::power) == "700 W");
  CHECK(parse("3.97 pJ/b", Dimension::byte_energy) == Approx(8.0 * 3.97e-12).epsilon(1e-15));
  CHECK(parse("3.97 pJ/bit", Dimension::byte_energy) ==
        parse("31.76 pJ/B", Dimension::byte_energy));
  CHECK(parse("0.3 pJ/FLOP", Dimension::operation_energy) ==
        parse("0.3 pJ/op", Dimension::operation_energy));
  CHECK(format(0.295e-12, Dimension::operation_energy) == "0.295 pJ/op");
  CHECK(parse("5 mJ", Dimension::energy) == 5e-3);
  CHECK(parse("5 MJ", Dimension::energy) == 5e6);
  CHECK(format_short(5.25e6, Dimension::energy) == "5.250 MJ");
  CHECK(format_short(5.25e-3, Dimension::energy) == "5.250 mJ");
  CHECK(format_short(52.5, Dimension::energy) == "52.50 J");
  for (const auto& [text, dimension] :
       {std::pair{"1 mW", Dimension::power}, std::pair{"1 KiW", Dimension::power},
        std::pair{"1 kJ/op", Dimension::operation_energy},
        std::pair{"1 pJ", Dimension::byte_energy}, std::pair{"1 KiJ", Dimension::energy},
        std::pair{"1 W", Dimension::energy}})
    CHECK_THROWS_AS(parse(text, dimension), std::invalid_argument);
}

TEST_CASE("white space is optional and numbers have any notation") {
  CHECK(parse("45GB/s", Dimension::bandwidth) == 45e9);
  CHECK(parse("  45 \t GB/s ", Dimension::bandwidth) == 45e9);
  CHECK(parse("4.5e1 GB/s", Dimension::bandwidth) == 45e9);
  CHECK(parse(".5 s", Dimension::time) == 0.5);
  CHECK(parse("-3 B", Dimension::bytes) == -3.0);
  CHECK(parse("0 B", Dimension::bytes) == 0.0);
}

TEST_CASE("malformed numbers are rejected with an example") {
  for (const std::string text : {"", " ", "B", "GB/s", "four B", "+4 B", "- 4 B", "NaN B", "nan B",
                                 "inf B", "-inf B", "1e999 B", ",5 B", "\"4 B\""}) {
    CAPTURE(text);
    REQUIRE_THROWS_AS(parse(text, Dimension::bytes), std::invalid_argument);
    REQUIRE_THROWS_WITH(
        parse(text, Dimension::bytes),
        ContainsSubstring("'" + text + "' is not a size") && ContainsSubstring("like \"32 MiB\""));
  }
}

TEST_CASE("numbers without a unit are rejected in every dimension") {
  for (const Dimension dimension : kDimensions) {
    const std::string right = std::string(name(dimension)) + " is written like \"" +
                              std::string(example(dimension)) + '"';
    REQUIRE_THROWS_WITH(parse("45", dimension),
                        ContainsSubstring("'45' has no unit") && ContainsSubstring(right));
    REQUIRE_THROWS_AS(parse("0", dimension), std::invalid_argument);
  }
}

TEST_CASE("wrong and unknown units are rejected with a correct example") {
  const std::vector<std::pair<std::string, Dimension>> wrong = {
      {"45 GB", Dimension::bandwidth},  {"45 GB/s", Dimension::bytes},
      {"4x", Dimension::bytes},         {"4 x", Dimension::bandwidth},
      {"1 GHz", Dimension::operations}, {"1 us", Dimension::frequency},
      {"1 Hz", Dimension::time},        {"1 ks", Dimension::time},
      {"1 Kis", Dimension::time},       {"1 mB", Dimension::bytes},
      {"1 KB", Dimension::bytes},       {"1 gb", Dimension::bytes},
      {"1 kiB", Dimension::bytes},      {"1 PiB", Dimension::bytes},
      {"1 B B", Dimension::bytes},      {"1 2 B", Dimension::bytes},
      {"1 B/ s", Dimension::bandwidth}, {"1 G", Dimension::bytes},
      {"0x10 B", Dimension::bytes},     {"1,5 B", Dimension::bytes},
      {"45 GBps", Dimension::bytes},    {"45 gbps", Dimension::bandwidth}};
  for (const auto& [text, dimension] : wrong) {
    CAPTURE(text);
    REQUIRE_THROWS_AS(parse(text, dimension), std::invalid_argument);
    REQUIRE_THROWS_WITH(parse(text, dimension),
                        ContainsSubstring("is not a unit of " + std::string(name(dimension))) &&
                            ContainsSubstring('"' + std::string(example(dimension)) + '"'));
  }
}

TEST_CASE("sizes in bits are rejected with the size in bytes") {
  REQUIRE_THROWS_WITH(parse("4 Mib", Dimension::bytes),
                      "4 Mib is 4 mebibits = 512 KiB; write 4 MiB for bytes, or 0.5 MiB");
  REQUIRE_THROWS_WITH(parse("100Gb", Dimension::bytes),
                      "100 Gb is 100 gigabits = 12500 MB; write 100 GB for bytes, or 12.5 GB");
  REQUIRE_THROWS_WITH(parse("12 b", Dimension::bytes),
                      "12 b is 12 bits = 1.5 B; write 12 B for bytes, or 1.5 B");
}

TEST_CASE("a value that overflows a double is rejected") {
  REQUIRE_THROWS_WITH(parse("1e300 PB", Dimension::bytes),
                      ContainsSubstring("'1e300 PB' is too large"));
  CHECK(parse("1e293 PB", Dimension::bytes) == Approx(1e308));
}

TEST_CASE("each example is valid") {
  for (const Dimension dimension : kDimensions) CHECK(parse(example(dimension), dimension) > 0.0);
}

TEST_CASE("quantities are formatted with natural prefixes") {
  CHECK(format(45e9, Dimension::bandwidth) == "45 GB/s");
  CHECK(format(1e-6, Dimension::time) == "1 us");
  CHECK(format(0.36e-6, Dimension::time) == "360 ns");
  CHECK(format(2.5, Dimension::time) == "2.5 s");
  CHECK(format(0.0, Dimension::time) == "0 s");
  CHECK(format(-2e-6, Dimension::time) == "-2 us");
  CHECK(format(1.5e9, Dimension::frequency) == "1.5 GHz");
  CHECK(format(6.144e12, Dimension::operations) == "6.144 Top/s");
  CHECK(format(0.0, Dimension::bytes) == "0 B");
}

TEST_CASE("bytes take a prefix only if it is exact") {
  CHECK(format(0x1p25, Dimension::bytes) == "32 MiB");
  CHECK(format(16e9, Dimension::bytes) == "16 GB");
  CHECK(format(1000.0, Dimension::bytes) == "1 kB");
  CHECK(format(1023.0, Dimension::bytes) == "1023 B");
  CHECK(format(1025.0, Dimension::bytes) == "1025 B");
  CHECK(format(3.0 * 1024.0, Dimension::bytes) == "3 KiB");
}

/// Significant digits of a quantity, without the exponent and zeros at the end.
std::size_t digits_of(const std::string& text) {
  std::string number = text.substr(0, text.find_first_of(" e"));
  number.erase(0, number.find_first_of("123456789"));
  number.erase(number.find_last_of("123456789") + 1);
  return static_cast<std::size_t>(
      std::ranges::count_if(number, [](char c) { return c >= '0' && c <= '9'; }));
}

TEST_CASE("rounding errors in the last bit are not formatted") {
  CHECK(format(0.2 / 1e6, Dimension::time) == "200 ns");
  CHECK(format(0.1 * 3.0, Dimension::time) == "300 ms");
  CHECK(format(std::nextafter(340e-9, 1.0), Dimension::time) == "340 ns");
  CHECK(format(999.9999999999999, Dimension::bytes) == "1000 B");
  CHECK(format(26.428e-6, Dimension::time) == "26.428 us");
  CHECK(format(2.252e-3, Dimension::time) == "2.252 ms");
  CHECK(format(std::nextafter(43.7e9, 0.0), Dimension::bandwidth) == "43.7 GB/s");
  // Two ulps away is a different number.
  const double other = std::nextafter(std::nextafter(340e-9, 1.0), 1.0);
  CHECK(format(other, Dimension::time) != "340 ns");
  CHECK(parse(format(other, Dimension::time), Dimension::time) == other);
}

TEST_CASE("parsed quantities round-trip to the same bits and the same text") {
  std::mt19937_64 random(2);
  const std::vector<std::pair<Dimension, std::vector<std::string>>> units = {
      {Dimension::time, {"s", "ms", "us", "ns", "ps"}},
      {Dimension::bandwidth, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"}},
      {Dimension::frequency, {"Hz", "kHz", "MHz", "GHz", "THz", "PHz"}},
      {Dimension::operations, {"op/s", "kop/s", "Mop/s", "Gop/s", "Top/s", "Pop/s"}}};
  for (const auto& [dimension, names] : units)
    for (const std::string& unit : names)
      for (int i = 0; i < 500; ++i) {
        // 100 to 999 with up to nine decimals, so that the prefix is already the natural one.
        std::string number = std::to_string(100 + random() % 900);
        if (const auto places = random() % 10; places > 0) {
          number += '.' + std::to_string(random() % 1'000'000'000).substr(0, places);
          number.erase(number.find_last_not_of('0') + 1);
          if (number.back() == '.') number.pop_back();
        }
        const std::string text = number + ' ' + unit;
        const double value = parse(text, dimension);
        CAPTURE(text, value);
        REQUIRE(parse(format(value, dimension), dimension) == value);
        REQUIRE(format(value, dimension) == text);
      }
}

TEST_CASE("a quantity is the same double in every unit") {
  CHECK(parse("0.276938 us", Dimension::time) == parse("276.938 ns", Dimension::time));
  CHECK(parse("0.276938 us", Dimension::time) == 0.276938e-6);
  CHECK(parse("6451.06 ns", Dimension::time) == parse("6.45106 us", Dimension::time));
  CHECK(parse("528.798695 GB", Dimension::bytes) == 528798695000.0);
  CHECK(parse("4.5e-1 GB/s", Dimension::bandwidth) == parse("450 MB/s", Dimension::bandwidth));
  CHECK(parse("1E+2 us", Dimension::time) == parse("0.1 ms", Dimension::time));
  CHECK(parse("1e-320 ns", Dimension::time) == 0.0);
  // Formatting may choose another prefix but must preserve the value.
  std::mt19937_64 random(3);
  const std::vector<std::pair<Dimension, std::vector<std::string>>> units = {
      {Dimension::time, {"s", "ms", "us", "ns"}},
      {Dimension::bytes, {"B", "kB", "MB", "GB", "KiB"}},
      {Dimension::bandwidth, {"B/s", "kB/s", "MB/s", "GB/s", "Gb/s"}}};
  for (const auto& [dimension, names] : units)
    for (const std::string& unit : names)
      for (int i = 0; i < 1000; ++i) {
        const std::string text = std::to_string(random() % 10'000) + '.' +
                                 std::to_string(random() % 1'000'000) + ' ' + unit;
        const double value = parse(text, dimension);
        const std::string written = format(value, dimension);
        CAPTURE(text, value, written);
        REQUIRE(parse(written, dimension) == value);
        REQUIRE(format(parse(written, dimension), dimension) == written);
      }
}

TEST_CASE("format and parse round-trip, to within one ulp for short numbers") {
  constexpr std::size_t kMeant = 12;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-15.0, 17.0);
  std::uniform_real_distribution<double> mantissa(-10.0, 10.0);
  for (const Dimension dimension : kDimensions) {
    for (int i = 0; i < 4000; ++i) {
      const double value = mantissa(random) * std::pow(10.0, exponent(random));
      const std::string text = format(value, dimension);
      const double read = parse(text, dimension);
      CAPTURE(value, text, read);
      REQUIRE(read >= std::nextafter(value, -HUGE_VAL));
      REQUIRE(read <= std::nextafter(value, HUGE_VAL));
      REQUIRE((read == value || digits_of(text) <= kMeant));
      REQUIRE(format(read, dimension) == text);
    }
    for (const double value :
         {0.0, 1.0, 0.1, 1.0 / 3.0, 999.9999999999998, 1e300, std::numeric_limits<double>::max(),
          std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min()}) {
      CAPTURE(value);
      REQUIRE(parse(format(value, dimension), dimension) == value);
    }
  }
  for (std::uint64_t bytes = 1; bytes < (std::uint64_t{1} << 52); bytes = bytes * 3 + 1)
    REQUIRE(parse(format(static_cast<double>(bytes), Dimension::bytes), Dimension::bytes) ==
            static_cast<double>(bytes));
}

TEST_CASE("the short form has four digits and the same unit") {
  CHECK(format_short(2105.1e-6, Dimension::time) == "2.105 ms");
  CHECK(format_short(1.0 / 3.0 * 1e-6, Dimension::time) == "333.3 ns");
  CHECK(format_short(0x1p25, Dimension::bytes) == "32.00 MiB");
  CHECK(format_short(33554433.0, Dimension::bytes) == "32.00 MiB");
  CHECK(format_short(45e9, Dimension::bandwidth) == "45.00 GB/s");
}

TEST_CASE("the short form of non-finite values is text") {
  CHECK_FALSE(format_short(std::numeric_limits<double>::infinity(), Dimension::time).empty());
}

TEST_CASE("time_text and bytes_text use the short form") {
  CHECK(time_text(363.1e-6) == "363.1 us");
  CHECK(time_text(1.5) == "1.500 s");
  CHECK(bytes_text(33554432.0) == "32.00 MiB");
}

}  // namespace
}  // namespace equarx::units::quantity_test
