#include "experiments/tune_layouts/report.hpp"

#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/experiments/tune_layouts/small_training.hpp"

namespace equarx::tune_layouts::report_test {
namespace {

TuneResult tuned() {
  const input::Json json = small_training();
  return tune(json, config::read_step_config(json), {.space = {.axes = {"tensor", "fsdp", "data"}}},
              [](const std::string&) {});
}

TEST_CASE("tables have ranks, bytes by axis, reasons and counts") {
  const TuneResult result = tuned();
  const std::string text = to_table(result);
  CHECK_THAT(text, ContainsSubstring("Layouts of a training step of llama3-8b on 4 x gb200") &&
                       ContainsSubstring(" 1  ") && ContainsSubstring(" -  FSDP4, 1 microbatch ") &&
                       ContainsSubstring("bytes that a chip sends over") &&
                       ContainsSubstring("with another length of an axis, against the best") &&
                       ContainsSubstring(fmt::format("{} layouts: {} do not fit into ",
                                                     result.candidates, result.do_not_fit)) &&
                       !ContainsSubstring("INCOMPLETE"));
  TuneResult ended = result;
  ended.finished = false;
  ended.not_tried = 7;
  CHECK_THAT(to_table(ended), ContainsSubstring("INCOMPLETE: 7 not tried"));
}

TEST_CASE("the best configuration runs as long as the table states") {
  const TuneResult result = tuned();
  const input::Json json = to_json(result);
  const Trial again = run_layout(json["best_config"], result.trials.front().layout, 1e15);
  CHECK(again.time_s == json["layouts"][0]["time_s"]);
  CHECK(json["layouts"].size() == result.trials.size());
  CHECK(json["layouts"][0]["speedup"] ==
        json["own"]["time_s"].get<double>() / json["layouts"][0]["time_s"].get<double>());
  CHECK(json["runners_up"].size() == result.runners_up.size());
}

}  // namespace
}  // namespace equarx::tune_layouts::report_test
