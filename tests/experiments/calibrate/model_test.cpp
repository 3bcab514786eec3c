#include "experiments/calibrate/model.hpp"

#include "tests/catch.hpp"

namespace equarx::calibrate::model_test {
namespace {

std::vector<Outputs> square(const std::vector<Point>& points) {
  std::vector<Outputs> outputs;
  for (const Point& point : points) outputs.push_back({point[0] * point[0] + 3.0 * point[1]});
  return outputs;
}

const UnlimitedModel kModel(square, {{.scale = 1.0, .least = 1.0, .most = 2.0},
                                     {.scale = 10.0, .least = 0.0, .most = 100.0}});

TEST_CASE("beyond the limits the model is extended by point reflection") {
  CHECK(kModel({{1.5, 1.0}}).front().front() == 1.5 * 1.5 + 3.0);
  CHECK(kModel({{0.9, 1.0}}).front().front() == Approx(2.0 * 4.0 - (1.1 * 1.1 + 3.0)));
  CHECK(kModel({{2.1, -1.0}}).front().front() == Approx(2.0 * 4.0 - (1.9 * 1.9 + 3.0)));
  const std::vector<Outputs> several = kModel({{0.9, 1.0}, {1.5, 1.0}});
  CHECK(several[1] == kModel({{1.5, 1.0}}).front());
}

TEST_CASE("slopes are computed within and at the limits") {
  const Jacobian within = kModel.jacobian({1.5, 50.0});
  CHECK(within.outputs == 1);
  CHECK(within.parameters == 2);
  CHECK(within(0, 0) == Approx(3.0));
  CHECK(within(0, 1) == Approx(3.0));
  CHECK(kModel.jacobian({1.0, 0.0})(0, 0) == Approx(2.0).epsilon(0.01));
  CHECK(kModel.jacobian({2.0, 0.0})(0, 0) == Approx(4.0).epsilon(0.01));
}

TEST_CASE("a model without parameters has outputs") {
  const UnlimitedModel constant(
      [](const std::vector<Point>& points) {
        return std::vector<Outputs>(points.size(), {1.0, 2.0});
      },
      {});
  const Jacobian none = constant.jacobian({});
  CHECK(none.outputs == 2);
  CHECK(none.parameters == 0);
}

}  // namespace
}  // namespace equarx::calibrate::model_test
