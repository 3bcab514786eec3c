#include "experiments/capacity/format_errors.hpp"

#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "models/attention/drawn.hpp"
#include "models/attention/errors.hpp"
#include "models/attention/stored_cache.hpp"
#include "models/numerics/inputs/inputs.hpp"
#include "models/stored/stored_codec.hpp"
#include "models/workloads/tensor_parallel.hpp"

namespace equarx::capacity {
namespace {

constexpr std::size_t kRows = 64;
constexpr std::size_t kColumns = 4096;

}  // namespace

double stored_nmse(const stored::StoredFormat& format) {
  const stored::Shape shape{kRows, kColumns};
  std::vector<float> values(shape.elements());
  numerics::generate({}, 0, 0, values);
  const std::vector<float> decoded = stored::decode(format, stored::encode(format, shape, values));
  double error = 0.0;
  double power = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = static_cast<double>(decoded[i]) - values[i];
    error += difference * difference;
    power += static_cast<double>(values[i]) * values[i];
  }
  return error / power;
}

double attention_nmse(const config::PoolConfig& pool) {
  constexpr std::size_t kTokens = 512;
  constexpr std::size_t kQueries = 16;
  constexpr double kSpread = 2.0;
  if (!pool.workload.kv) return 0.0;
  const workloads::Transformer& model = pool.workload.model;
  // A latent vector is the key of all heads.
  const std::size_t heads = model.latent ? 1 : workloads::shard(model, pool.tensor()).kv_heads;
  const std::size_t size = model.latent ? model.latent->cached() : model.head_size;
  const attention::DrawnCache drawn({.tokens = kTokens, .heads = heads, .head_size = size}, 1);
  const attention::StoredCache stored(drawn.view(), {*pool.workload.kv, *pool.workload.kv});
  const std::vector<float> queries =
      attention::drawn_queries(drawn.view(), kQueries, heads, kSpread, 1);
  return attention::errors(drawn.view(), stored.view(),
                           {.rows = kQueries, .heads = heads, .values = queries})
      .both_nmse;
}

double sums_nmse(const config::PoolConfig& pool) {
  if (pool.tensor() == 1) return 0.0;
  input::Json json = config::to_json(config::step_of(pool, kRows));
  json["values"] = input::Json::array({{{"distribution", "normal"}}});
  const config::StepConfig step = config::with_layers(config::read_step_config(json), 1);
  const step::StepPlan plan = step::make_plan(step);
  const step::StepResult result = step::run_step(plan, [](const std::string&) {});
  return result.runs.front().error ? result.runs.front().error->worst_nmse : 0.0;
}

}  // namespace equarx::capacity
