#include "experiments/config/step_rules.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/algorithm.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/nearest.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::config {
namespace {

constexpr std::string_view kWhere = "where";

/// Which collectives a rule is for: all, but for what it names.
struct Filter {
  std::optional<collectives::Collective> collective;
  std::optional<std::string> axis;   ///< one of those that the collective is over
  std::optional<std::string> group;  ///< of tasks

  bool is_for(const StepCall& of, const steps::Mesh& mesh) const {
    if (collective && *collective != of.call.collective) return false;
    if (group && *group != of.group) return false;
    return !axis || std::ranges::any_of(
                        of.call.axes, [&](std::size_t on) { return mesh.axes[on].name == *axis; });
  }
};

Filter read_filter(input::ObjectReader reader, const steps::Mesh& mesh) {
  Filter filter;
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

std::string call_text(const StepCall& of, const steps::Mesh& mesh) {
  return fmt::format("{} ({} over {})", of.group, collective_key(of.call.collective),
                     steps::over_text(of.call, mesh));
}

/// A rule for the collectives that it is for.
struct Rule {
  Filter filter;
  input::Json how;
  std::string place;
};

class Variants {
 public:
  Variants(const ExperimentConfig& machine, const steps::Mesh& mesh,
           const std::vector<StepCall>& calls)
      : machine_(machine), mesh_(mesh), calls_(calls) {}

  StepVariant read(input::ObjectReader reader) const {
    StepVariant variant;
    variant.label = reader.text("label");
    variant.rules = input::Json::array();
    std::vector<Rule> rules;
    if (reader.has("quantize")) {
      variant.rules = reader.array("quantize");
      for (std::size_t i = 0; i < variant.rules->size(); ++i)
        rules.push_back(
            read_rule((*variant.rules)[i], fmt::format("{}/{}", reader.place_of("quantize"), i)));
    }
    reader.finish();
    for (const StepCall& of : calls_) variant.collectives.push_back(carry_out(of, rules));
    for (const Rule& rule : rules) check_used(rule);
    return variant;
  }

  StepVariant plain() const {
    StepVariant variant{.label = "plain", .rules = input::Json::array(), .collectives = {}};
    for (const StepCall& of : calls_) variant.collectives.push_back(carry_out(of, {}));
    return variant;
  }

 private:
  Rule read_rule(const input::Json& json, const std::string& place) const {
    if (!json.is_object()) throw input::InputError(place, "expected an object, a rule");
    Rule rule{{}, json, place};
    const std::string where(kWhere);
    if (!json.contains(where)) return rule;
    rule.filter = read_filter(input::ObjectReader(json[where], place + "/" + where), mesh_);
    rule.how.erase(where);
    return rule;
  }

  CollectiveConfig carry_out(const StepCall& of, const std::vector<Rule>& rules) const {
    const auto rule =
        std::ranges::find_if(rules, [&](const Rule& one) { return one.filter.is_for(of, mesh_); });
    input::Json how = rule == rules.end() ? input::Json::object() : rule->how;
    const TopologyConfig group = group_topology(machine_.topology, mesh_, of.call);
    if (!how.contains("algorithm"))
      how["algorithm"] = algorithm_name(usual_algorithm(of.call.collective, group));
    CollectiveConfig collective =
        read_collective(input::ObjectReader(how, rule == rules.end() ? "" : rule->place),
                        of.call.collective, of.call.dtype);
    collective.label = of.group;
    return collective;
  }

  void check_used(const Rule& rule) const {
    std::vector<std::string> texts;
    for (const StepCall& of : calls_) {
      if (rule.filter.is_for(of, mesh_)) return;
      texts.push_back(call_text(of, mesh_));
    }
    throw input::InputError(
        rule.place,
        fmt::format("is for none of the step's collectives; these are {}",
                    texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "))));
  }

  const ExperimentConfig& machine_;
  const steps::Mesh& mesh_;
  const std::vector<StepCall>& calls_;
};

}  // namespace

std::vector<StepVariant> read_variants(input::ObjectReader& reader, const ExperimentConfig& machine,
                                       const steps::Mesh& mesh,
                                       const std::vector<StepCall>& calls) {
  const Variants variants(machine, mesh, calls);
  if (!reader.has("variants")) return {variants.plain()};
  const input::Json& list = reader.array("variants");
  if (list.empty())
    throw input::InputError("/variants", "is empty; name at least one, like {\"label\": \"bf16\"}");
  std::vector<StepVariant> read;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("/variants/{}", i);
    read.push_back(variants.read(input::ObjectReader(list[i], place)));
    check_last_label(read, "/variants");
  }
  return read;
}

}  // namespace equarx::config
