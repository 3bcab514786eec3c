#include "experiments/step/memory.hpp"

#include "base/input/errors.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::memory_test {
namespace {

using testing::changed;
using testing::good_training;

TEST_CASE("text of the parts of memory") {
  const steps::TrainingMemory memory{1024.0, 2048.0, 3072.0, 4096.0, 5120.0, 6144.0};
  CHECK(parts_text(memory) ==
        "weights 1.000 KiB, gradients 2.000 KiB, optimizer 3.000 KiB, gathered weights 4.000 KiB, "
        "activations 5.000 KiB, logits 6.000 KiB");
}

TEST_CASE("models that exceed memory are rejected with the parts and a remedy") {
  const input::Json json = good_training();
  CHECK_NOTHROW(check_memory(config::read_step_config(json)));
  const config::StepConfig large =
      config::read_step_config(changed(json, "/step/training/model", "llama3-70b"));
  CHECK_THROWS_WITH(
      check_memory(large),
      Catch::Contains("does not fit") &&
          Catch::Contains(parts_text(training_memory(large.training->training, large.mesh))) &&
          Catch::Contains("a longer \"fsdp\" axis"));
  CHECK_NOTHROW(check_memory(config::read_step_config(testing::good_step())));
}

TEST_CASE("served models must fit as well, with the pointer of the model") {
  input::Json json = testing::good_serving();
  json["step"]["workload"]["batch"] = 100000;
  testing::check_refused([&] { check_memory(config::read_step_config(json)); },
                         "/step/workload/model", "fewer tokens or a smaller batch");
}

}  // namespace
}  // namespace equarx::step::memory_test
