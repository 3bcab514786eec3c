#include "models/numerics/kernels/paired_codes.hpp"

#include <random>

#include "tests/models/numerics/codec/codecs.hpp"
#include "tests/models/numerics/kernels/scalar_checks.hpp"
#include "tests/support/scalar_quickreduce.hpp"

namespace equarx::numerics::paired_codes_test {
namespace {

using namespace scalar_checks;

struct Paired {
  static auto slow(const BlockFormat& format) { return testing::scalar_quickreduce::make(format); }
};

TEST_CASE("kernels of QuickReduce give the bits of the scalar codec, for any bits and pieces") {
  on_every_target([] {
    std::mt19937 random(1);
    for (const NamedFormat& named : named_formats())
      if (named.format.rule == ScaleRule::quickreduce)
        for (const Kind kind : kKinds)
          for (const std::size_t first : {0U, 64U, 7U, 33U, 4095U})
            for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 130U, 5000U}) {
              INFO(named.name << " kind " << static_cast<int>(kind) << " from " << first << ", "
                              << count);
              check_piece(named.format, *Paired::slow(named.format),
                          drawn(kind, first, count, random));
            }
  });
}

TEST_CASE("kernels of QuickReduce saturate sums of whole runs, and leave Inf and NaN") {
  on_every_target([] {
    std::mt19937 random(2);
    for (const NamedFormat& named : named_formats()) {
      if (named.format.rule != ScaleRule::quickreduce) continue;
      for (const float largest : {20000.0F, 65504.0F, 1e6F}) {
        INFO(named.name << " up to " << largest);
        std::uniform_real_distribution<float> uniform(-largest, largest);
        DrawnPiece piece{0, Floats(1024), Floats(1024)};
        for (float& value : piece.values) value = uniform(random);
        for (float& value : piece.local) value = uniform(random);
        check_piece(named.format, *Paired::slow(named.format), piece);
        piece.local[100] = kInf;
        piece.local[301] = kNan;
        piece.values[700] = -kInf;
        piece.values[901] = kNan;
        check_piece(named.format, *Paired::slow(named.format), piece);
      }
    }
  });
}

TEST_CASE("kernels of QuickReduce count Inf, NaN and overflows under scales of other values") {
  on_every_target([] {
    std::mt19937 random(3);
    for (const NamedFormat& named : named_formats()) {
      if (named.format.rule != ScaleRule::quickreduce) continue;
      for (const float scale : {0x1p-15F, 0x1p-14F, 0x1p-7F, 1.0F, 65504.0F}) {
        INFO(named.name << " scale " << scale);
        Floats values = draw_many(Kind::normal, 1024, random);
        values[5] = kInf;
        values[70] = -kInf;
        values[140] = kNan;
        values[300] = 65504.0F;
        values[365] = -65504.0F;
        const Floats scales(scale_count(named.format, values.size()), scale);
        const ScaledPiece piece{0, scales};
        const auto slow = Paired::slow(named.format);
        Bytes expected(payload_bytes(named.format, values.size()));
        Bytes payload(expected.size());
        slow->quantize(piece, values, expected);
        const auto fast = make_rule_codec(named.format);
        REQUIRE(fast->quantize_and_count(piece, values, payload) == slow->count(piece, values));
        REQUIRE(payload == expected);
      }
    }
  });
}

TEST_CASE("kernels of QuickReduce keep extrema found before, and find signed zeros and NaN") {
  on_every_target([] {
    const Floats values = {-0.0F, 3.0F, kNan, -3.0F};
    Floats extrema = {0.0F, 0.0F};
    kernels::paired::find_extrema(0, values, extrema.data());
    CHECK(extrema == Floats{-kTiny, -3.0F});
    kernels::paired::find_extrema(4, Floats{0.5F, 2.0F, -0.5F}, extrema.data());
    CHECK(extrema == Floats{-0.5F, -3.0F});
    Floats none = {0.0F, 7.0F};
    kernels::paired::find_extrema(62, Floats{kNan}, none.data());
    CHECK(std::isnan(none[0]));
    CHECK(none[1] == 7.0F);
  });
}

TEST_CASE("kernels of QuickReduce refuse other elements") {
  Floats scales(2, 1.0F);
  std::array<std::byte, 64> payload{};
  const kernels::Piece piece{
      {.element = ElementFormat::fp8_e5m2, .scaled = true}, 0, scales.data()};
  CHECK_THROWS_AS(kernels::paired::quantize(piece, Floats(64), payload.data(), nullptr),
                  std::logic_error);
}

}  // namespace
}  // namespace equarx::numerics::paired_codes_test
