#include "models/workloads/recipe.hpp"

#include <algorithm>
#include <string_view>

#include "models/workloads/footprint.hpp"
#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::recipe_test {
namespace {

using hardware::MatrixType;
using testing::tiny;

const Recipe& named(std::string_view name) {
  const auto found = std::ranges::find(recipes(), name, &Recipe::name);
  REQUIRE(found != recipes().end());
  return *found;
}

const Phase kPhase = Prefill{5, 1};

PhaseOperations with_recipe(std::string_view name, const Transformer& model = tiny()) {
  PhaseOperations operations = phase_operations(model, kPhase, 1, {});
  apply(named(name), model.weights, operations);
  return operations;
}

const Operation& product(const PhaseOperations& operations, std::string_view name) {
  return *std::ranges::find(operations.global_layer, name, &Operation::name);
}

// The output projection of tiny() on one chip: 5 rows, 8 inputs, 8 outputs.
constexpr double kRows = 5;
constexpr double kInputs = 8;
constexpr double kWeights = 8 * 8;

TEST_CASE("bf16 changes nothing, and no recipe changes tables and attention") {
  const PhaseOperations plain = phase_operations(tiny(), kPhase, 1, {});
  for (const Recipe& recipe : recipes()) {
    CAPTURE(recipe.name);
    const PhaseOperations made = with_recipe(recipe.name);
    CHECK(made.head.back().weight_bytes == plain.head.back().weight_bytes);
    CHECK(made.head.back().products == MatrixType::bf16);
    for (std::size_t i = 0; i < plain.global_layer.size(); ++i) {
      const Operation& before = plain.global_layer[i];
      const Operation& after = made.global_layer[i];
      CHECK(after.flops == before.flops);
      CHECK(after.read_bytes == before.read_bytes);
      CHECK(after.written_bytes == before.written_bytes);
      if (recipe.name != "bf16" && before.kind == OperationKind::matrix) continue;
      CHECK(after.hbm_bytes() == before.hbm_bytes());
      CHECK(after.vector_ops == before.vector_ops);
    }
  }
}

TEST_CASE("weights have the bits of their recipe, with their scales") {
  for (const auto& [name, bits] :
       {std::pair{"bf16", 16.0}, std::pair{"zeroquant", 8.0}, std::pair{"fp8", 8.0},
        std::pair{"weight-only-int8", 8.25}, std::pair{"weight-only-int4", 4.25},
        std::pair{"weight-only-3bit", 3.125}}) {
    CAPTURE(name);
    CHECK(product(with_recipe(name), "attention_output").weight_bytes ==
          Approx(kWeights * bits / 8.0));
  }
  Transformer wide = tiny();
  wide.weights = WeightType::fp32;  // stored in FP32, multiplied in bf16
  CHECK(product(with_recipe("weight-only-int4", wide), "attention_output").weight_bytes ==
        Approx(kWeights * 4.25 / 8.0));
  CHECK(product(with_recipe("bf16", wide), "attention_output").weight_bytes == kWeights * 4.0);
  // Stored bytes equal read bytes.
  const double plain = footprint(tiny(), kPhase, 1, {}, with_recipe("bf16")).weights;
  const double few = footprint(tiny(), kPhase, 1, {}, with_recipe("zeroquant")).weights;
  double matrices = 0.0;
  for (const Operation& operation : with_recipe("bf16").global_layer)
    if (operation.kind == OperationKind::matrix) matrices += operation.weight_bytes;
  CHECK(plain - few == Approx(tiny().layers * matrices / 2.0));
}

TEST_CASE("int8 and FP8 GEMMs quantize activations, bf16 GEMMs decode weights") {
  const double before = product(with_recipe("bf16"), "attention_output").vector_ops;
  const Operation int8 = product(with_recipe("zeroquant"), "attention_output");
  CHECK(int8.products == MatrixType::int8);
  // Amax, scale and encode per input; two scales per result.
  CHECK(int8.vector_ops - before == Approx(kRows * kInputs * (3 + 4) + kRows * 8 * 2));
  CHECK(int8.weight_ops == 0.0);
  CHECK(int8.decoded_weights == 0.0);
  CHECK(product(with_recipe("fp8"), "attention_output").products == MatrixType::fp8);
  const Operation int4 = product(with_recipe("weight-only-int4"), "attention_output");
  CHECK(int4.products == MatrixType::bf16);
  CHECK(int4.weight_ops == kWeights * (3 + 1 + 2));
  CHECK(int4.decoded_weights == kWeights);
  CHECK(int4.vector_ops - before == Approx(int4.weight_ops));
  // Chunks share activations, and each decodes all weights.
  CHECK(part_of(int4, 2).vector_ops == Approx(before / 2.0 + int4.weight_ops));
}

TEST_CASE("every recipe but the first has a source") {
  for (const Recipe& recipe : recipes()) CHECK(recipe.source.empty() == (recipe.name == "bf16"));
}

}  // namespace
}  // namespace equarx::workloads::recipe_test
