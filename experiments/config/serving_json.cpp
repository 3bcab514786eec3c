#include "experiments/config/serving_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/load_json.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/workload_json.hpp"

namespace equarx::config {
namespace {

using input::Json;

constexpr std::uint64_t kMostStepTokens = std::uint64_t{1} << 24;
constexpr std::uint64_t kMostSequences = 1'000'000;
constexpr std::uint64_t kMostBlock = 1 << 16;

constexpr input::EnumNames<serving::Policy, 2> kPolicies({
    {serving::Policy::mixed, "mixed"},
    {serving::Policy::prompts_first, "prompts-first"},
});

/// Keys of "workload" that a served model shares; its phases follow from the load.
constexpr std::array<const char*, 8> kModelKeys = {
    "model", "preset", "attention", "residual", "precision", "kv", "chunks", "expert_imbalance"};

/// Keys that a prefill pool takes from the served model, unless it has its own.
constexpr std::array<const char*, 10> kInherited = {
    "model", "preset", "attention",        "residual", "precision",
    "kv",    "chunks", "expert_imbalance", "quantize", "scheduler"};

const input::Table<SchedulerConfig>& scheduler_table() {
  using input::Integer, input::Quantity, units::Dimension;
  static const input::Table<SchedulerConfig> table{
      {"sequences", input::in(&SchedulerConfig::limits, &serving::Limits::sequences),
       Integer{1, kMostSequences}, "largest number of running sequences (vLLM's `max_num_seqs`)"},
      {"tokens", input::in(&SchedulerConfig::limits, &serving::Limits::tokens),
       Integer{1, kMostStepTokens}, "largest number of tokens per step (`max_num_batched_tokens`)"},
      {"policy", input::in(&SchedulerConfig::limits, &serving::Limits::policy),
       input::OneOf{kPolicies},
       "`\"mixed\"`: decoding and chunks of prompts share steps (chunked prefill); "
       "`\"prompts-first\"`: whole prompts in steps of their own"},
      {"block", &SchedulerConfig::block, Integer{1, kMostBlock},
       "tokens per block of the paged KV cache"},
      {"prefix_cache", input::in(&SchedulerConfig::limits, &serving::Limits::keeps_blocks),
       input::Flag{},
       "keeps full blocks and finds them again by their tokens (`enable_prefix_caching`)"},
      {"memory", &SchedulerConfig::memory, input::Share{},
       "share of HBM for weights, activations and KV cache (`gpu_memory_utilization`)"},
      {"step_overhead", &SchedulerConfig::step_overhead_s,
       Quantity{Dimension::time, input::Sign::not_negative},
       "time of the engine between steps, while the chips are idle"}};
  return table;
}

const input::Table<PrefillConfig>& kv_transfer_table() {
  using input::Quantity, units::Dimension;
  static const input::Table<PrefillConfig> table{
      {"bandwidth", &PrefillConfig::bandwidth,
       Quantity{Dimension::bandwidth, input::Sign::positive},
       "of KV transfers, per chip of a prefill replica", input::kRequired},
      {"latency", &PrefillConfig::latency_s, Quantity{Dimension::time, input::Sign::not_negative},
       "of a KV transfer"}};
  return table;
}

/// Positions of a step that is read for its keys alone: as many as it may have "chunks".
constexpr std::uint64_t kReadRows = 64;

/// The model as a "workload" that decodes one token of each of some sequences.
Json workload_of(const Json& served, std::uint64_t rows) {
  Json workload = Json::object();
  for (const char* const key : kModelKeys)
    if (served.contains(key)) workload[key] = served.at(key);
  workload["phase"] = "decode";
  workload["context"] = 1;
  workload["batch"] = rows;
  return workload;
}

/// A tensor-parallel group of all chips, unless there is a "mesh".
steps::Mesh read_serving_mesh(input::ObjectReader& reader, const TopologyConfig& topology) {
  if (!reader.has("mesh"))
    return lay_on(topology, {{.name = "tensor", .length = count_chips(topology)}},
                  steps::DeviceOrder::jax);
  steps::Mesh mesh = read_mesh(reader.required("mesh", "axes"), topology);
  for (const steps::MeshAxis& axis : mesh.axes)
    if (axis.name != "data" && axis.name != "tensor")
      throw input::InputError(
          reader.pointer_to("mesh"),
          fmt::format("serving supports mesh axes \"data\" and \"tensor\", not '{}'", axis.name));
  return mesh;
}

/// Runs `read`, whose errors refer to a step, and names the place in a pool at `pointer`.
template <typename Read>
auto in_pool(const std::string& pointer, const Read& read) {
  try {
    return read();
  } catch (const input::InputError& error) {
    constexpr std::string_view kRules = "/variants/0/quantize";
    constexpr std::string_view kWorkload = "/step/workload";
    const std::string_view place = error.pointer();
    if (place.starts_with(kRules))
      throw input::InputError(pointer + "/quantize" + std::string(place.substr(kRules.size())),
                              error.message());
    if (place.starts_with(kWorkload))
      throw input::InputError(pointer + std::string(place.substr(kWorkload.size())),
                              error.message());
    throw;
  }
}

/// Model, formats and scheduler of a pool at `reader`; its machine and mesh are already read.
void read_served(input::ObjectReader& reader, const Json& json, const std::string& pointer,
                 PoolConfig& pool) {
  for (const char* const key : kModelKeys) reader.has(key);
  for (const std::string_view key : {"phase", "tokens", "context", "batch"})
    reader.reject(key, "follows from the load; remove it");
  reader.required("model", "the name of a model, like \"llama3.1-70b\"");
  const Json workload = workload_of(json, kReadRows);
  pool.workload = read_workload(input::ObjectReader(workload, pointer), pool.tensor());
  if (reader.has("quantize")) pool.rules = reader.array("quantize");
  if (reader.has("scheduler")) {
    input::ObjectReader scheduler = reader.object("scheduler");
    scheduler_table().read(scheduler, pool.scheduler);
    scheduler.finish();
  }
  in_pool(pointer, [&] { return step_of(pool, 1); });
}

/// Keys of the served model that a prefill pool inherits unless it has its own.
Json inherited(const Json& served, const Json& prefill) {
  Json joined = prefill;
  for (const char* const key : kInherited)
    if (served.contains(key) && !joined.contains(key)) joined[key] = served.at(key);
  return joined;
}

/// Adds the chip or the topology of the machine that decodes, if only the other one is given.
void inherit_machine(Json& prefill, const ExperimentConfig& decoding) {
  if (prefill.contains("hardware") == prefill.contains("topology")) return;
  const Json machine = machine_json(decoding);
  for (const char* const key : {"hardware", "topology"})
    if (!prefill.contains(key)) prefill[key] = machine.at(key);
}

PrefillConfig read_prefill(const Json& served, input::ObjectReader& serving,
                           const PoolConfig& decoding) {
  serving.object("prefill");
  Json json = inherited(served, serving.required("prefill", "an object"));
  inherit_machine(json, decoding.machine);
  input::ObjectReader reader(json, "/serving/prefill");
  PrefillConfig prefill{
      .pool = {.machine = decoding.machine, .mesh = {}, .workload = {}, .scheduler = {}}};
  if (reader.has("hardware") || reader.has("topology")) prefill.pool.machine = read_machine(reader);
  prefill.pool.mesh = read_serving_mesh(reader, prefill.pool.machine.topology);
  kv_transfer_table().read(reader, prefill);
  read_served(reader, json, "/serving/prefill", prefill.pool);
  reader.finish();
  const std::string& model = prefill.pool.workload.model_name;
  if (model != decoding.workload.model_name)
    throw input::InputError("/serving/prefill/model", "is not the model that decodes; remove it");
  return prefill;
}

Json served_json(const PoolConfig& pool) {
  Json json = workload_json(pool.workload);
  for (const char* const key : {"phase", "context", "batch", "dispatch"}) json.erase(key);
  if (!pool.rules->is_null()) json["quantize"] = *pool.rules;
  json["scheduler"] = scheduler_table().write(pool.scheduler);
  return json;
}

}  // namespace

StepConfig step_of(const PoolConfig& pool, std::uint64_t rows) {
  Json json = machine_json(pool.machine);
  add_simulation_keys(pool.machine, json);
  json["mesh"] = mesh_json(pool.mesh);
  json["memory"] = "ignore";
  Json workload = workload_of(workload_json(pool.workload), rows);
  workload["chunks"] = std::min<std::uint64_t>(pool.workload.chunks, rows);
  json["step"]["workload"] = std::move(workload);
  if (!pool.rules->is_null() && pool.tensor() > 1)
    json["variants"] = Json::array({{{"label", "serving"}, {"quantize", *pool.rules}}});
  return read_step_config(json);
}

namespace {

/// A share of every prompt is cached always; a prefix cache finds tokens.
void check_prefixes(const ServingConfig& config) {
  const bool finds = config.pool.scheduler.limits.keeps_blocks ||
                     (config.prefill && config.prefill->pool.scheduler.limits.keeps_blocks);
  if (finds && config.load.shared_prefix > 0.0)
    throw input::InputError("/serving/load/shared_prefix",
                            R"(is cached always; with "prefix_cache" use "prefixes" instead)");
}

}  // namespace

ServingConfig read_serving(const Json& json) {
  input::ObjectReader reader(json, "");
  ServingConfig config{
      .pool = {.machine = read_machine(reader), .mesh = {}, .workload = {}, .scheduler = {}},
      .load = {}};
  config.pool.mesh = read_serving_mesh(reader, config.pool.machine.topology);
  const Json& served = reader.required("serving", "a model and a load");
  input::ObjectReader serving = reader.object("serving");
  read_served(serving, served, "/serving", config.pool);
  serving.required("load", "arrivals, like {\"requests_per_s\": 4}");
  read_load(serving.object("load"), config);
  if (serving.has("prefill")) config.prefill = read_prefill(served, serving, config.pool);
  serving.finish();
  reader.finish();
  check_prefixes(config);
  return config;
}

Json to_json(const ServingConfig& config) {
  Json json = machine_json(config.pool.machine);
  json["mesh"] = mesh_json(config.pool.mesh);
  Json serving = served_json(config.pool);
  serving["load"] = load_json(config);
  if (config.prefill) {
    const PoolConfig& pool = config.prefill->pool;
    Json prefill = machine_json(pool.machine);
    prefill["mesh"] = mesh_json(pool.mesh);
    kv_transfer_table().write(*config.prefill, prefill);
    prefill.update(served_json(pool));
    serving["prefill"] = std::move(prefill);
  }
  json["serving"] = std::move(serving);
  add_simulation_keys(config.pool.machine, json);
  return json;
}

namespace {

/// Keys of the model, which read_workload() checks and docs/workloads.md describes.
Json model_schema() {
  Json schema = workload_schema();
  Json properties = Json::object();
  for (const char* const key : kModelKeys) properties[key] = Json::object();
  schema["properties"] = std::move(properties);
  schema["required"] = Json::array({"model"});
  return schema;
}

/// A mesh, which read_mesh() checks and docs/steps.md describes.
Json any_mesh_schema() { return {{"type", "object"}}; }

Json scheduler_schema() { return scheduler_table().schema(); }

Json served_rules_schema() { return {{"type", "array"}, {"items", {{"type", "object"}}}}; }

Json prefill_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"hardware", Elsewhere{"{}"}, "chip of the prefill pool",
       input::otherwise("as for decoding")},
      {"topology", Elsewhere{R"({"type": "object"})"}, "its slice",
       input::otherwise("as for decoding")},
      {"faults", Elsewhere{R"({"type": "object"})"}, ""},
      {"mesh", Elsewhere{any_mesh_schema}, "axes `data` and `tensor`",
       input::otherwise("all chips on `tensor`")}};
  Json schema = input::joined({table.schema(), kv_transfer_table().schema()});
  for (const char* const key : kInherited) schema["properties"][key] = Json::object();
  return schema;
}

Json served_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"quantize", Elsewhere{served_rules_schema},
       "algorithm and format of the tensor-parallel AllReduces, as in [variants](steps.md#keys)",
       input::otherwise("unquantized")},
      {"load", Elsewhere{load_schema}, "requests", input::kRequired},
      {"scheduler", Elsewhere{scheduler_schema}, "limits and memory of a replica"},
      {"prefill", Elsewhere{prefill_schema},
       "prefill on chips of its own; keys of the model, `quantize` and `scheduler` are inherited"}};
  return input::joined({model_schema(), table.schema()});
}

}  // namespace

Json serving_schema() {
  using input::Elsewhere;
  static const input::Table<input::ReadElsewhere> table{
      {"hardware", Elsewhere{"{}"}, "", input::kRequired},
      {"topology", Elsewhere{R"({"type": "object"})"}, "", input::kRequired},
      {"faults", Elsewhere{R"({"type": "object"})"}, ""},
      {"mesh", Elsewhere{any_mesh_schema},
       "[axes](steps.md#keys): replicas (`data`) of groups that share the model (`tensor`)",
       input::otherwise("all chips on `tensor`")},
      {"serving", Elsewhere{served_schema}, "model, load and scheduler", input::kRequired}};
  return input::joined({table.schema(), simulation_schema()});
}

}  // namespace equarx::config
