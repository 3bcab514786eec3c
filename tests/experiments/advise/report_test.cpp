#include "experiments/advise/report.hpp"

#include "tests/experiments/advise/advising.hpp"

namespace equarx::advise::report_test {
namespace {

TEST_CASE("an advice is ten lines, of which the first says what to do") {
  const std::string yes = to_text(advice_on(on_slice("4x2", "16 MiB")));
  CHECK_THAT(yes, ContainsSubstring("Quantize?    yes: ") && ContainsSubstring("less, 1.") &&
                      ContainsSubstring("68 % of") && ContainsSubstring("dB lost") &&
                      ContainsSubstring("Pays from") && ContainsSubstring("; turns at ") &&
                      ContainsSubstring("nothing that might be better"));
  CHECK(std::ranges::count(yes, '\n') <= 11);
  const std::string no = to_text(advice_on(on_slice("4x2", "64 KiB")));
  CHECK_THAT(no, ContainsSubstring("Quantize?    no: the fastest within the limits") &&
                     ContainsSubstring("more, 0."));
  CHECK_THAT(to_text(advice_on(on_slice("4x2", "1 MiB"), 49.0)),
             ContainsSubstring("nothing quantized is within the limits") &&
                 ContainsSubstring("the nearest is"));
}

TEST_CASE("several machines are a line each, those that cannot run, too") {
  std::vector<Site> sites(2);
  sites[0] = {"tpu-v5e", "4x2", advice_on(on_slice("4x2", "16 MiB")), {}};
  sites[1] = {"tpu-v5e", "3x3", std::nullopt, "it is no slice"};
  const std::string table = to_table(sites);
  CHECK_THAT(table, ContainsSubstring("yes") && ContainsSubstring("cannot run") &&
                        ContainsSubstring("tpu-v5e, 3x3: it is no slice"));
  const input::Json json = to_json(sites);
  CHECK(json["sites"][0]["advice"]["quantize"] == "yes");
  CHECK(json["sites"][1]["advice"].is_null());
  CHECK(json["sites"][1]["why_not"] == "it is no slice");
}

}  // namespace
}  // namespace equarx::advise::report_test
