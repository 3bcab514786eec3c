#include "models/steps/pipeline_schedule.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/models/steps/pipeline_reference.hpp"

namespace equarx::steps::pipeline_schedule_test {
namespace {

using testing::PassTimes;
using testing::PipelineReference;
using Kind = PipelineKind;

std::vector<PipelineShape> shapes() {
  std::vector<PipelineShape> all;
  for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 6U, 8U})
    for (const std::uint32_t microbatches : {1U, 2U, 5U, 8U, 12U, 16U, 24U}) {
      for (const Kind kind : {Kind::gpipe, Kind::one_forward_one_backward, Kind::zero_bubble,
                              Kind::interleaved, Kind::dual_pipe})
        all.push_back({kind, stages, microbatches, 1});
      for (const std::uint32_t chunks : {2U, 3U, 5U})
        all.push_back({Kind::interleaved, stages, microbatches, chunks});
    }
  std::erase_if(all, [](const PipelineShape& one) { return !pipeline_error(one).empty(); });
  return all;
}

double worst_idle_s(const PipelineShape& shape, const PassTimes& times) {
  return std::ranges::max(PipelineReference(shape, times).idle_s);
}

/// Unequal times; those of gradients of activations are at least the ones of weights.
const std::vector<PassTimes> kTimes = {{1, 1, 1}, {1, 1.25, 0.75}, {1, 1.5, 0.5}, {2, 1, 1}};

TEST_CASE("every schedule computes each part of each microbatch once, without deadlock") {
  CHECK(shapes().size() > 150);
  for (const PipelineShape& shape : shapes()) {
    const PipelineReference reference(shape, {});
    CHECK(reference.executions.size() == std::size_t{2} * shape.microbatches * shape.parts());
    for (const auto& [key, count] : reference.executions) CHECK(count == 1);
    for (const std::vector<PipelineAction>& stage : pipeline_actions(shape)) {
      const auto of_kind = [&](ActionKind kind) {
        return std::ranges::count(stage, kind, &PipelineAction::kind);
      };
      CHECK(of_kind(ActionKind::input_gradients) == of_kind(ActionKind::weight_gradients));
    }
  }
}

TEST_CASE("places and parts are inverse") {
  for (const PipelineShape& shape : shapes())
    for (std::uint32_t part = 0; part < shape.parts(); ++part)
      for (std::uint32_t i = 0; i < 2; ++i) CHECK(part_at(shape, place_of(shape, part, i)) == part);
}

TEST_CASE("GPipe and 1F1B idle for P - 1 passes") {
  for (const std::uint32_t stages : {1U, 2U, 4U, 7U})
    for (const std::uint32_t microbatches : {7U, 8U, 20U})
      for (const PassTimes& times : kTimes) {
        const double bubble_s = (stages - 1.0) * (times.forward + times.backward());
        CHECK(worst_idle_s({Kind::gpipe, stages, microbatches}, times) == Approx(bubble_s));
        const PipelineShape shape{Kind::one_forward_one_backward, stages, microbatches};
        CHECK(worst_idle_s(shape, times) == Approx(bubble_s));
        CHECK(PipelineReference(shape, times).time_s ==
              Approx((microbatches + stages - 1.0) * (times.forward + times.backward())));
      }
}

TEST_CASE("interleaving V chunks divides the bubble by V") {
  for (const std::uint32_t stages : {2U, 4U, 6U})
    for (const std::uint32_t chunks : {1U, 2U, 3U, 4U})
      for (const PassTimes& times : kTimes) {
        const double share = 1.0 / chunks;
        const PassTimes of_chunk{times.forward * share, times.inputs * share,
                                 times.weights * share};
        CHECK(worst_idle_s({Kind::interleaved, stages, 3 * stages, chunks}, of_chunk) ==
              Approx((stages - 1.0) * (times.forward + times.backward()) / chunks));
      }
}

TEST_CASE("ZB-H1 hides two thirds of the bubble of 1F1B, if all passes take the same time") {
  for (const std::uint32_t stages : {2U, 4U, 8U})
    for (const PassTimes& times : kTimes)
      CHECK(worst_idle_s({Kind::zero_bubble, stages, 2 * stages}, times) ==
            Approx((stages - 1.0) * (times.forward + times.inputs - times.weights)));
}

TEST_CASE("DualPipe has the bubble that its authors publish") {
  for (const std::uint32_t stages : {2U, 4U, 8U})
    for (const double weights : {1.0, 0.5})
      for (const double overlap : {1.0, 0.8}) {
        const PassTimes times{1.0, 1.0, weights, overlap};
        const double both = overlap * (times.forward + times.backward());
        CHECK(worst_idle_s({Kind::dual_pipe, stages, 3 * stages}, times) ==
              Approx((stages / 2 - 1.0) * (both + times.backward() - 3.0 * weights)).margin(1e-12));
      }
}

TEST_CASE("microbatches alive at once") {
  const auto peak = [](const PipelineShape& shape) { return PipelineReference(shape, {}).peak; };
  using Peak = std::vector<std::uint32_t>;
  CHECK(peak({Kind::gpipe, 4, 8}) == Peak{8, 8, 8, 8});
  CHECK(peak({Kind::one_forward_one_backward, 4, 8}) == Peak{4, 3, 2, 1});
  CHECK(peak({Kind::one_forward_one_backward, 4, 2}) == Peak{2, 2, 2, 1});
  CHECK(peak({Kind::interleaved, 4, 8, 2}) == Peak{11, 9, 7, 5});
  CHECK(peak({Kind::zero_bubble, 4, 8}) == Peak{4, 4, 4, 4});
  CHECK(peak({Kind::dual_pipe, 4, 8}) == Peak{5, 5, 5, 5});  // P + 1
}

TEST_CASE("the orders of published figures") {
  using enum ActionKind;
  CHECK(pipeline_actions({Kind::gpipe, 2, 2})[0] ==
        std::vector<PipelineAction>{{forward, 0}, {forward, 1}, {backward, 1}, {backward, 0}});
  CHECK(pipeline_actions({Kind::one_forward_one_backward, 2, 2})[0] ==
        std::vector<PipelineAction>{{forward, 0}, {forward, 1}, {backward, 0}, {backward, 1}});
  // arXiv 2104.04473, figure 4: the first of four devices runs 1 to 4 of both chunks, then 5 to 7.
  std::vector<PipelineAction> first = pipeline_actions({Kind::interleaved, 4, 8, 2})[0];
  first.resize(11);
  for (std::uint32_t i = 0; i < first.size(); ++i)
    CHECK(first[i] == PipelineAction{forward, i < 8 ? i % 4 : i - 4, i < 8 ? i / 4 : 0});
}

TEST_CASE("impossible pipelines name a remedy") {
  CHECK(pipeline_error({Kind::gpipe, 4, 1}).empty());
  CHECK_THAT(pipeline_error({Kind::gpipe, 4, 8, 2}), Catch::Contains("\"interleaved\""));
  CHECK_THAT(pipeline_error({Kind::interleaved, 4, 10, 2}), Catch::Contains("use 12"));
  CHECK_THAT(pipeline_error({Kind::dual_pipe, 3, 8}), Catch::Contains("even number of stages"));
  CHECK_THAT(pipeline_error({Kind::dual_pipe, 4, 6}), Catch::Contains("use 8"));
  CHECK_THAT(pipeline_error({Kind::dual_pipe, 4, 9}), Catch::Contains("use 10"));
  CHECK_THROWS_AS(pipeline_actions({Kind::dual_pipe, 4, 6}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::steps::pipeline_schedule_test
