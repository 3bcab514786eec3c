#include "experiments/result/step_table.hpp"

#include "tests/catch.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::result::step_table_test {
namespace {

using testing::run_step;

TEST_CASE("tables list variants, and the groups of each") {
  const std::string text = to_table(run_step(testing::good_step()));
  for (const char* const part :
       {"Step of 10 tasks on 16 x tpu-v5e", "mesh: data=4, fsdp=4", "bf16", "int8", "bucket",
        "exposed", "offload", "Exploiting symmetry: 3 of 16 chips simulated"})
    CHECK_THAT(text, Catch::Contains(part));
  CHECK_THAT(to_table(run_step(testing::good_training())),
             Catch::Contains("MFU") && Catch::Contains("Memory per chip"));
}

TEST_CASE("serving reports tokens, but no MFU") {
  CHECK_THAT(to_table(run_step(testing::good_serving())),
             ContainsSubstring("Decoding of gemma3-12b, one token each of 8 sequences of 1024 on "
                               "16 x tpu-v6e") &&
                 ContainsSubstring("tokens/s/chip") && ContainsSubstring("HFU") &&
                 !ContainsSubstring("MFU"));
}

TEST_CASE("a verbose table also lists operations and isolated collectives") {
  const std::string text = to_table(run_step(testing::good_serving()), {.verbose = true});
  for (const char* const part : {"operation (per chip)", "ffn_in", "algorithm", "bytes/link"})
    CHECK_THAT(text, ContainsSubstring(part));
}

}  // namespace
}  // namespace equarx::result::step_table_test
