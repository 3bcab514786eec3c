#include "models/steps/model_parts.hpp"

#include <numeric>
#include <vector>

#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::model_parts_test {
namespace {

workloads::Transformer model_of(std::uint32_t layers) {
  workloads::Transformer model = testing::small_model();
  model.layers = layers;
  return model;
}

std::vector<std::uint32_t> sizes(std::uint32_t layers, std::uint32_t parts) {
  std::vector<std::uint32_t> sizes;
  for (const ModelPart& part : model_parts(model_of(layers), parts, {}))
    sizes.push_back(part.end - part.first);
  return sizes;
}

TEST_CASE("the first parts have one more layer") {
  CHECK(sizes(8, 4) == std::vector<std::uint32_t>{2, 2, 2, 2});
  CHECK(sizes(10, 4) == std::vector<std::uint32_t>{3, 3, 2, 2});
  CHECK(sizes(7, 7) == std::vector<std::uint32_t>(7, 1));
}

TEST_CASE("the first part has the embedding, the last the head") {
  const std::vector<ModelPart> parts = model_parts(model_of(5), 3, {1, 3, 1});
  CHECK(parts ==
        std::vector<ModelPart>{{0, 1, true, false}, {1, 4, false, false}, {4, 5, false, true}});
  CHECK(model_parts(model_of(5), 1, {}) == std::vector<ModelPart>{{0, 5, true, true}});
}

TEST_CASE("the parameters of the parts are those of the model, but for a shared table") {
  workloads::Transformer model = model_of(7);
  const auto sum = [&] {
    double parameters = 0.0;
    for (const ModelPart& part : model_parts(model, 3, {}))
      parameters += weights_of(model, {part}, {}).all();
    return parameters;
  };
  CHECK(sum() == workloads::parameters(model));
  model.tied_embeddings = true;
  CHECK(sum() == workloads::parameters(model) + testing::kTable);
  CHECK(weights_of(model, model_parts(model, 1, {}), {}).all() == workloads::parameters(model));
  model.pre_norms = model.final_norm = false;
  model.post_norms = true;
  CHECK(sum() == workloads::parameters(model) + testing::kTable);
}

TEST_CASE("impossible divisions name a remedy") {
  CHECK_THROWS_WITH(model_parts(model_of(3), 4, {}), Catch::Contains("at most 3 parts"));
  CHECK_THROWS_WITH(model_parts(model_of(5), 2, {1, 3, 1}),
                    Catch::Contains("3 numbers for 2 parts"));
  CHECK_THROWS_WITH(model_parts(model_of(5), 2, {1, 3}), Catch::Contains("add up"));
}

}  // namespace
}  // namespace equarx::steps::model_parts_test
