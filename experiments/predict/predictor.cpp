#include "experiments/predict/predictor.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/contract/rerun.hpp"
#include "experiments/plan/checks.hpp"
#include "experiments/run/checks.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/run/source.hpp"
#include "experiments/run/varied.hpp"
#include "experiments/variation/uncertainty.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/values/rounding_paths.hpp"

namespace equarx::predict {
namespace {

using input::Json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Keys of a configuration that queries set.
constexpr std::array kKeysOfQueries = {"collective", "collectives", "baseline"};
constexpr std::array kTensorKeysOfQueries = {"bytes", "shape", "dtype", "sample", "counts"};

void check_machine_keys(const Json& machine) {
  if (!machine.is_object())
    throw input::InputError("",
                            R"(a machine is a JSON object, like {"hardware": "h100", "topology": )"
                            R"({"switch": 8}})");
  for (const char* key : kKeysOfQueries)
    if (machine.contains(key))
      throw input::InputError(std::string("/") + key, "is set by queries; remove it");
  if (!machine.contains("tensor") || !machine["tensor"].is_object()) return;
  for (const char* key : kTensorKeysOfQueries)
    if (machine["tensor"].contains(key))
      throw input::InputError(std::string("/tensor/") + key, "is set by queries; remove it");
  if (machine["tensor"].contains("values") && machine["tensor"]["values"].is_object() &&
      machine["tensor"]["values"].contains("files"))
    throw input::InputError("/tensor/values/files",
                            "has one size, but queries have many; use a distribution");
}

/// The collective of a query, as an element of "collectives".
Json collective_of(const Query& query) {
  Json collective = query.options.empty() ? Json::object() : input::parse_json(query.options);
  if (!collective.is_object())
    throw input::InputError(
        "",
        R"(options: expected a JSON object of keys of a collective, like {"protocol": "auto"})");
  for (const char* key : {"label", "algorithm", "format"})
    if (collective.contains(key))
      throw input::InputError("", fmt::format("options: '{}' is not one of them; remove it", key));
  collective["algorithm"] = query.algorithm;
  if (!query.format.empty()) collective["format"] = query.format;
  return collective;
}

/// Changes a topology whose chips are all joined alike to one of `ranks` chips. Whole nodes keep
/// their network; a part of one has none.
void set_ranks(Json& topology, const config::TopologyConfig& whole, std::uint32_t ranks) {
  const std::uint32_t node = config::count_chips_of_slice(whole);
  const std::uint32_t chips = config::count_chips(whole);
  if (ranks == 0 || ranks == chips) return;
  if (!config::joins_all_alike(whole))
    throw input::InputError(
        "", fmt::format("ranks: {} has {} chips and no groups of {}; describe these as a machine",
                        config::topology_text(whole), chips, ranks));
  if (ranks < 2 || ranks > chips || (ranks > node && ranks % node != 0))
    throw input::InputError(
        "", fmt::format("ranks: {} is neither from 2 to {} nor a number of whole nodes up to {} "
                        "ranks; {} has no such group",
                        ranks, node, chips, config::topology_text(whole)));
  if (ranks > node) {
    topology["network"]["slices"] = ranks / node;
    return;
  }
  topology.erase("network");
  topology[whole.kind == config::TopologyKind::on_switch ? "switch" : "fully-connected"] = ranks;
}

/// An experiment with one collective that runs, without values.
struct Ran {
  plan::Plan plan;
  run::ExperimentResult result;

  const run::RunResult& run() const { return result.runs.front(); }
  const plan::CollectivePlan& chosen() const {
    return contract::chosen(plan.collectives.front(), run().algorithm, run().protocol);
  }
};

Ran run_without_values(const config::ExperimentConfig& config, const PredictorOptions& options) {
  plan::Plan plan = plan::make_plan(config, plan::RunProfile::batch);
  run::ExperimentResult result =
      run::run_experiment(plan, [](const std::string&) {}, {.threads = options.threads});
  if (const auto& failure = result.runs.front().failure)
    throw input::InputError("/faults", fmt::format("{} fails at {} s, before the collective ends",
                                                   failure->link, failure->time_s));
  return {std::move(plan), std::move(result)};
}

void add_interval(Ran& ran, const config::UncertaintyConfig& requested,
                  const PredictorOptions& options, Prediction& prediction) {
  prediction.low_s = kNone;
  prediction.high_s = kNone;
  if (!options.intervals) return;
  ran.result.config.uncertainty =
      variation::with_default_samples(requested, static_cast<double>(ran.run().messages));
  run::add_variation(ran.result, run::varied_runs(ran.result, options.threads),
                     ran.result.config.uncertainty, false, [](const std::string&) {});
  if (!ran.run().uncertainty) return;
  prediction.low_s = ran.run().uncertainty->time_s.low;
  prediction.high_s = ran.run().uncertainty->time_s.high;
  prediction.samples = ran.run().uncertainty->samples;
}

/// Adds the errors of a sample of the tensor.
void add_errors(const config::ExperimentConfig& config, const plan::CollectivePlan& plan,
                unsigned threads, Prediction& prediction) {
  const collectives::Program program = contract::values_program(plan, config);
  plan::value_or_throw(plan::check_host_memory(program, config, threads));
  const values::TensorSource source = run::make_source(config.tensor);
  const auto residual = run::make_residual_source(program, config.tensor);
  const values::ValueResult result =
      values::execute(program, source,
                      {.threads = threads,
                       .rounding_seed = config.tensor.values.seed,
                       .sample = config::small_sample(config.tensor.elements),
                       .counts = false,
                       .residual = residual ? &*residual : nullptr});
  run::check_values(plan, result, false);
  prediction.nmse = result.against_exact.comparable_nmse();
  prediction.sqnr_db = numerics::sqnr_db(prediction.nmse);
  prediction.ranks_identical = result.ranks_identical;
}

void add_numbers(const config::ExperimentConfig& config, const Ran& ran,
                 const PredictorOptions& options, Prediction& prediction) {
  const plan::CollectivePlan& plan = ran.chosen();
  const values::RoundingPath path = values::rounding_path(
      plan.program,
      [](const numerics::BlockFormat&, std::uint64_t, std::uint32_t) { return kNone; });
  prediction.conversions = path.conversions;
  prediction.encodings = path.encodings;
  prediction.sums_in_fp32 = path.sums_in_fp32;
  prediction.deterministic = std::ranges::none_of(plan.program.formats, numerics::rounds_randomly);
  prediction.ranks_identical = plan.program.arithmetic.owner != collectives::OwnerKeeps::summed;
  prediction.nmse = kNone;
  prediction.sqnr_db = kNone;
  if (path.additions + path.conversions + path.encodings == 0) {
    prediction.nmse = 0.0;
    prediction.sqnr_db = numerics::sqnr_db(0.0);
  } else if (options.errors) {
    const unsigned threads = options.threads == 0 ? values::default_threads() : options.threads;
    add_errors(config, plan, threads, prediction);
  }
}

}  // namespace

Json machine_of(Json config) {
  if (!config.is_object()) return config;
  for (const char* key : kKeysOfQueries) config.erase(key);
  if (config.contains("tensor") && config["tensor"].is_object())
    for (const char* key : kTensorKeysOfQueries) config["tensor"].erase(key);
  return config;
}

input::JsonValue read_machine(std::string_view text) { return input::parse_json(text); }

Predictor::Predictor(input::JsonValue machine, const PredictorOptions& options)
    : machine_(std::move(machine)), options_(options), cache_(options.cache_entries) {
  check_machine_keys(machine_);
  if (!machine_->contains("timed_as")) (*machine_)["timed_as"] = "step";
  const config::ExperimentConfig config = config_of({.bytes = 1 << 20});
  hardware_ = config.hardware;
  topology_ = config.topology;
  chips_ = config::count_chips(topology_);
  options_.errors = options_.errors && config.numerics;
}

config::ExperimentConfig Predictor::config_of(const Query& query) const {
  Json json = machine_;
  if (query.ranks != 0 && chips_ != 0) set_ranks(json["topology"], topology_, query.ranks);
  json["collective"] = query.collective;
  json["tensor"]["bytes"] = query.bytes;
  json["tensor"]["dtype"] = query.dtype;
  json["collectives"] = Json::array({collective_of(query)});
  config::ExperimentConfig config = config::read_config(json);
  if (config.engine == config::EngineMode::simgrid)
    throw input::InputError("/engine",
                            "simgrid needs processes of its own, which predictions do not start; "
                            "use auto");
  config.engine = config::EngineMode::direct;
  return config;
}

std::shared_ptr<const Prediction> Predictor::predict(const Query& query) const {
  return cache_.find_or_make(query, [&] { return simulate(query); });
}

std::shared_ptr<const Prediction> Predictor::simulate(const Query& query) const {
  config::ExperimentConfig config = config_of(query);
  config.numerics = false;
  const config::UncertaintyConfig requested = std::exchange(config.uncertainty, {});
  Ran ran = run_without_values(config, options_);
  auto prediction = std::make_shared<Prediction>();
  prediction->time_s = ran.run().time_s;
  prediction->ranks = config::count_chips(config.topology);
  prediction->calibrated = ran.run().calibrated;
  prediction->algorithm = ran.run().algorithm->name;
  if (ran.run().protocol != hardware::Protocol::none)
    prediction->protocol = hardware::name(ran.run().protocol);
  add_interval(ran, requested, options_, *prediction);
  add_numbers(config, ran, options_, *prediction);
  return prediction;
}

}  // namespace equarx::predict
