#include "experiments/advise/report.hpp"

#include "tests/experiments/advise/advising.hpp"

namespace equarx::advise::report_test {
namespace {

TEST_CASE("advice text has about ten lines and starts with the recommendation") {
  const std::string yes = to_text(advice_on(on_slice("4x2", "16 MiB")));
  CHECK_THAT(yes, ContainsSubstring("Quantize?          yes: ") && ContainsSubstring("less, 1.") &&
                      ContainsSubstring("68 % interval:") && ContainsSubstring("dB lost") &&
                      ContainsSubstring("Break-even size:") &&
                      ContainsSubstring("; break-even at ") &&
                      ContainsSubstring("none that might be better"));
  CHECK(std::ranges::count(yes, '\n') <= 11);
  CHECK_THAT(yes,
             ContainsSubstring("Model error:       speedups of quantized collectives on TPUs"));
  const std::string no = to_text(advice_on(on_slice("4x2", "64 KiB")));
  CHECK_THAT(no,
             ContainsSubstring("Quantize?          no: the fastest candidate within the limits") &&
                 ContainsSubstring("more, 0."));
  CHECK_THAT(to_text(advice_on(on_slice("4x2", "1 MiB"), 49.0)),
             ContainsSubstring("no quantized candidate is within the limits") &&
                 ContainsSubstring("the nearest is"));
}

TEST_CASE("the table has one row per machine, infeasible ones included") {
  std::vector<MachineAdvice> machines(2);
  machines[0] = {"tpu-v5e", "4x2", advice_on(on_slice("4x2", "16 MiB")), {}};
  machines[1] = {"tpu-v5e", "3x3", std::nullopt, "it is no slice"};
  const std::string table = to_table(machines);
  CHECK_THAT(table, ContainsSubstring("yes") && ContainsSubstring("infeasible") &&
                        ContainsSubstring("tpu-v5e, 3x3: it is no slice"));
  const input::Json json = to_json(machines);
  CHECK(json["sites"][0]["advice"]["quantize"] == "yes");
  CHECK(json["sites"][1]["advice"].is_null());
  CHECK(json["sites"][1]["why_not"] == "it is no slice");
}

}  // namespace
}  // namespace equarx::advise::report_test
