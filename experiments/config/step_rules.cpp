#include "experiments/config/step_rules.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/step_when.hpp"
#include "experiments/config/topology.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::config {
namespace {

constexpr std::string_view kWhere = "where";

std::string call_text(const StepCall& step_call, const steps::Mesh& mesh) {
  return fmt::format("{} ({} over {})", step_call.group, collective_key(step_call.call.collective),
                     steps::over_text(step_call.call, mesh));
}

/// A rule and its filter.
struct Rule {
  CallFilter filter;
  input::Json how;
  std::string pointer;
};

class Variants {
 public:
  Variants(const ExperimentConfig& machine, const steps::Mesh& mesh,
           const std::vector<StepCall>& calls, const std::vector<steps::ChipLists>& lists)
      : machine_(machine), mesh_(mesh), calls_(calls), lists_(lists) {}

  StepVariant read(input::ObjectReader reader) const {
    StepVariant variant;
    variant.label = reader.text("label");
    variant.rules = input::Json::array();
    std::vector<Rule> rules;
    if (reader.has("quantize")) {
      variant.rules = reader.array("quantize");
      for (std::size_t i = 0; i < variant.rules->size(); ++i)
        rules.push_back(read_rule((*variant.rules)[i], reader.pointer_to("quantize", i)));
    }
    reader.finish();
    apply_to_calls(rules, variant);
    for (const Rule& rule : rules) check_matches(rule.filter, calls_, mesh_, rule.pointer);
    return variant;
  }

  StepVariant plain() const {
    StepVariant variant{.label = "plain", .rules = input::Json::array(), .collectives = {}};
    apply_to_calls({}, variant);
    return variant;
  }

 private:
  Rule read_rule(input::Json& json, const std::string& pointer) const {
    if (!json.is_object()) throw input::InputError(pointer, "expected a rule (an object)");
    load_uploads(json, pointer);
    Rule rule{{}, json, pointer};
    input::ObjectReader reader(json, pointer);
    rule.filter = read_where(reader, mesh_);
    rule.how.erase(std::string(kWhere));
    return rule;
  }

  void apply_to_calls(const std::vector<Rule>& rules, StepVariant& variant) const {
    std::vector<When> when;
    for (const StepCall& step_call : calls_)
      variant.collectives.push_back(apply_rules(step_call, rules, when.emplace_back()));
    variant.kinds = kinds_of(when);
  }

  CollectiveConfig apply_rules(const StepCall& step_call, const std::vector<Rule>& rules,
                               When& when) const {
    const auto rule = std::ranges::find_if(
        rules, [&](const Rule& one) { return one.filter.matches(step_call, mesh_); });
    input::Json how = rule == rules.end() ? input::Json::object() : rule->how;
    const TopologyConfig group = group_topology(machine_.topology, mesh_, step_call.call, lists_);
    if (rule != rules.end())
      when = take_when(how, rule->pointer, {step_call.call.collective, count_chips(group)});
    if (!how.contains("algorithm"))
      how["algorithm"] = algorithm_name(usual_algorithm(step_call.call.collective, group));
    CollectiveConfig collective =
        read_collective(input::ObjectReader(how, rule == rules.end() ? "" : rule->pointer),
                        step_call.call.collective, step_call.call.dtype);
    collective.label = step_call.group;
    return collective;
  }

  const ExperimentConfig& machine_;
  const steps::Mesh& mesh_;
  const std::vector<StepCall>& calls_;
  const std::vector<steps::ChipLists>& lists_;
};

}  // namespace

bool CallFilter::matches(const StepCall& step_call, const steps::Mesh& mesh) const {
  if (collective && *collective != step_call.call.collective) return false;
  if (group && *group != step_call.group) return false;
  return !axis || std::ranges::any_of(step_call.call.axes,
                                      [&](std::size_t on) { return mesh.axes[on].name == *axis; });
}

CallFilter read_where(input::ObjectReader& rule, const steps::Mesh& mesh) {
  CallFilter filter;
  if (!rule.has(kWhere)) return filter;
  input::ObjectReader reader = rule.object(kWhere);
  if (reader.has("collective")) filter.collective = read_collective_name(reader, "collective");
  if (reader.has("axis")) {
    std::vector<std::string_view> names;
    for (const steps::MeshAxis& axis : mesh.axes) names.push_back(axis.name);
    filter.axis = names[reader.choice("axis", names)];
  }
  if (reader.has("group")) filter.group = reader.text("group");
  reader.finish();
  return filter;
}

void check_matches(const CallFilter& filter, const std::vector<StepCall>& calls,
                   const steps::Mesh& mesh, const std::string& pointer) {
  for (const StepCall& step_call : calls)
    if (filter.matches(step_call, mesh)) return;
  std::vector<std::string> texts;
  for (const StepCall& step_call : calls) texts.push_back(call_text(step_call, mesh));
  throw input::InputError(
      pointer, fmt::format("matches none of the step's collectives: {}",
                           texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "))));
}

std::vector<StepVariant> read_variants(input::ObjectReader& reader, const ExperimentConfig& machine,
                                       const steps::Mesh& mesh, const std::vector<StepCall>& calls,
                                       const std::vector<steps::ChipLists>& lists) {
  const Variants variants(machine, mesh, calls, lists);
  if (!reader.has("variants")) return {variants.plain()};
  const input::Json& list = reader.array("variants");
  if (list.empty())
    throw input::InputError("/variants", "is empty; name at least one, like {\"label\": \"bf16\"}");
  std::vector<StepVariant> read;
  for (std::size_t i = 0; i < list.size(); ++i) {
    read.push_back(variants.read(input::ObjectReader(list[i], reader.pointer_to("variants", i))));
    check_last_label(read, "/variants");
  }
  return read;
}

input::Json where_schema() {
  using input::Elsewhere;
  static const input::Table<CallFilter> table{
      {{"collective", Elsewhere{collective_name_schema},
        R"(`"all-reduce"`, `"reduce-scatter"`, `"all-gather"`, `"all-to-all"`, `"broadcast"`)",
        input::otherwise("any")},
       {"axis", Elsewhere{input::Text{}}, "mesh axis of the collective", input::otherwise("any")},
       {"group", Elsewhere{input::Text{}}, "task group, like `\"gather weights\"`",
        input::otherwise("any")}},
      {.definition = "where"}};
  return table.schema();
}

namespace {

input::Json annotated_when_schema() {
  input::Json schema = when_schema();
  input::describe(schema, "steps and chips that take part ([below](#when-to-communicate))",
                  input::by_default(R"("always")"), std::nullopt);
  return schema;
}

/// A rule also has the keys of a collective.
input::Json rules_schema() {
  return {{"type", "array"},
          {"items",
           {{"type", "object"},
            {"properties", {{"where", where_schema()}, {"when", annotated_when_schema()}}}}}};
}

}  // namespace

input::Json variants_schema() {
  using input::Elsewhere;
  static const input::Table<StepVariant> table{
      {"label", Elsewhere{input::Text{}}, "name", input::kRequired},
      {"quantize", Elsewhere{rules_schema}, "rules; the first match applies",
       input::otherwise("all plain")},
  };
  return {{"type", "array"}, {"minItems", 1}, {"items", table.schema()}};
}

}  // namespace equarx::config
