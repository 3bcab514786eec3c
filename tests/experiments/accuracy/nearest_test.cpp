#include "experiments/accuracy/nearest.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::accuracy::nearest_test {
namespace {

constexpr auto kQuestion = Question::gpu_collective;

MeasuredRow row(const std::string& what, const std::string& chip, std::uint32_t chips,
                std::uint64_t bytes, bool predicted = true) {
  return {.study = "s",
          .id = what,
          .what = what,
          .origin = "lab",
          .question = kQuestion,
          .predicted = predicted,
          .measured = 2.0,
          .simulated = 3.0,
          .chip = chip,
          .chips = chips,
          .bytes = bytes};
}

std::vector<std::string> names(const std::vector<const MeasuredRow*>& rows) {
  std::vector<std::string> names;
  for (const MeasuredRow* row : rows) names.push_back(row->what);
  return names;
}

std::vector<MeasuredRow> rows() {
  std::vector<MeasuredRow> rows = {
      row("far", "h100", 8, 1U << 30U), row("near", "h100", 8, 1U << 24U, false),
      row("fewer chips", "h100", 2, 1U << 23U), row("other chip", "a100", 8, 1U << 23U)};
  rows.push_back(row("no machine", "", 8, 1U << 23U));
  rows.push_back(row("other question", "h100", 8, 1U << 23U));
  rows.back().question = Question::schedule;
  return rows;
}

TEST_CASE("rows of the same chip come first, then by size and chips") {
  CHECK(names(nearest(rows(), {kQuestion, "h100", 8, 1U << 23U}, 10)) ==
        std::vector<std::string>{"near", "fewer chips", "far", "other chip"});
  CHECK(names(nearest(rows(), {kQuestion, "a100", 8, 1U << 23U}, 2)) ==
        std::vector<std::string>{"other chip", "near"});
  // Sizes do not count where none is asked for: equal rows keep their order.
  CHECK(names(nearest(rows(), {kQuestion, "h100", 8, 0}, 2)) ==
        std::vector<std::string>{"far", "near"});
  CHECK(nearest(rows(), {Question::training, "h100", 8, 0}, 2).empty());
}

TEST_CASE("the note has a line for each row, with ratio, origin and role") {
  CHECK(nearest_text(nearest(rows(), {kQuestion, "h100", 8, 1U << 23U}, 2)) ==
        "  Nearest measured rows, simulated / measured:\n"
        "    1.50  near (lab, fitted)\n"
        "    1.50  fewer chips (lab, predicted)\n");
  CHECK(nearest_text({}).empty());
}

TEST_CASE("evidence has the spread, or null if it is unknown, and the nearest rows") {
  const input::Json json = evidence_json(rows(), {kQuestion, "h100", 8, 1U << 23U});
  CHECK(json["question"] == "gpu-collective");
  CHECK(json["spread"].is_null());  // one origin only
  CHECK(json["nearest"].size() == 3);
  CHECK(json["nearest"][0]["ratio"] == 1.5);
  CHECK(json["nearest"][0]["role"] == "fitted");
  std::vector<MeasuredRow> two = rows();
  for (std::size_t i = 0; i < 3; ++i) two.push_back(row("more", "h100", 8, 1U << 20U));
  for (std::size_t i = 0; i < two.size(); i += 2) two[i].origin = "other lab";
  const input::Json known = evidence_json(two, {kQuestion, "h100", 8, 0});
  CHECK(known["spread"] == Approx(std::log(1.5)));
  CHECK(known["origins"] == 2);
}

}  // namespace
}  // namespace equarx::accuracy::nearest_test
