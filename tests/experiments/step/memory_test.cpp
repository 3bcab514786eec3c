#include "experiments/step/memory.hpp"

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::memory_test {
namespace {

using testing::changed;
using testing::good_training;

TEST_CASE("text of the parts of memory") {
  const steps::LiveMemory memory{1024.0, 2048.0, 3072.0, 4096.0, 5120.0, 6144.0};
  CHECK(parts_text(memory) ==
        "weights 1.000 KiB, gradients 2.000 KiB, optimizer 3.000 KiB, gathered weights 4.000 KiB, "
        "activations 5.000 KiB, logits 6.000 KiB");
}

TEST_CASE("models that exceed memory give a warning with the parts and a remedy") {
  const config::StepConfig small = config::read_step_config(good_training());
  CHECK_FALSE(memory_warning(small));
  CHECK(hbm_share(small).value() == Approx(memory_of(small)->total() / 16e9));
  config::StepConfig large =
      config::read_step_config(changed(good_training(), "/step/training/model", "llama3-70b"));
  CHECK_NOTHROW(check_memory(large));
  CHECK(hbm_share(large).value() > 1.0);
  CHECK_THAT(memory_warning(large).value(),
             Catch::StartsWith("/step/training: llama3-70b does not fit") &&
                 Catch::Contains(parts_text(*memory_of(large))) &&
                 Catch::Contains("during \"" + memory_of(large)->task + "\"") &&
                 Catch::Contains("a longer \"fsdp\" axis") &&
                 Catch::Contains("the times assume that it fits"));
  const config::StepConfig own = config::read_step_config(testing::good_step());
  CHECK_FALSE(memory_warning(own));
  CHECK_FALSE(hbm_share(own));
  CHECK_NOTHROW(check_memory(own));
}

TEST_CASE("an outer optimizer needs memory for each weight") {
  const config::StepConfig without = config::read_step_config(good_training());
  input::Json json = good_training();
  json["step"]["training"]["outer_bytes"] = 8;
  const config::StepConfig with = config::read_step_config(json);
  CHECK(memory_of(with)->optimizer ==
        Approx(9.0 * memory_of(without)->optimizer));  // moments of 1 byte
  CHECK(memory_of(with)->weights == memory_of(without)->weights);
}

TEST_CASE("key 'memory' refuses or ignores them instead") {
  input::Json json = changed(good_training(), "/step/training/model", "llama3-70b");
  json["memory"] = "refuse";
  const config::StepConfig refused = config::read_step_config(json);
  try {
    check_memory(refused);
    FAIL("not refused");
  } catch (const input::DoesNotFitError& error) {
    CHECK(error.pointer() == "/step/training");
    CHECK(error.needs_bytes() == memory_of(refused)->total());
  }
  json["memory"] = "ignore";
  const config::StepConfig ignored = config::read_step_config(json);
  CHECK_NOTHROW(check_memory(ignored));
  CHECK_FALSE(memory_warning(ignored));
  CHECK(hbm_share(ignored).value() > 1.0);
  CHECK(to_json(ignored)["memory"] == "ignore");
  json["memory"] = "warm";
  testing::check_refused([&] { config::read_step_config(json); }, "/memory",
                         "did you mean 'warn'?");
}

TEST_CASE("served models likewise, with the pointer of the model") {
  input::Json json = testing::good_serving();
  CHECK(hbm_share(config::read_step_config(json)).value() < 1.0);
  json["step"]["workload"]["batch"] = 100000;
  CHECK_THAT(memory_warning(config::read_step_config(json)).value(),
             Catch::StartsWith("/step/workload/model: gemma3-12b does not fit"));
  json["memory"] = "refuse";
  testing::check_refused([&] { check_memory(config::read_step_config(json)); },
                         "/step/workload/model", "fewer tokens or a smaller batch");
}

}  // namespace
}  // namespace equarx::step::memory_test
