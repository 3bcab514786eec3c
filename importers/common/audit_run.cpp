#include "importers/common/audit_run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/tasks_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/common/audit_exposed.hpp"
#include "importers/common/audit_step.hpp"

namespace equarx::imports {
namespace {

/// Remedies that are simulated, by the bytes that they save; the others are listed without a time.
constexpr std::size_t kMaxSimulations = 32;
/// Smallest share of their isolated time that combining small collectives must save.
constexpr double kWorthCombining = 0.1;

void set_times(const step::VariantResult& plain, AuditFinding& finding) {
  for (const AuditedOp& op : finding.ops)
    for (const step::GroupResult& group : plain.groups)
      if (group.name == op.group) {
        finding.isolated_s += group.isolated_s;
        finding.exposed_s += group.exposed_s;
      }
}

/// Simulates changed steps without variants of formats.
class Simulator {
 public:
  explicit Simulator(const ImportedProgram& program) : json_(*program.step) {
    json_["variants"] = input::Json::array({{{"label", "baseline"}}});
    config_ = config::read_step_config(json_);
  }

  const hardware::Chip& chip() const { return config_.machine.chip; }

  double step_s(const std::vector<AuditChange>& changes) const {
    const steps::StepGraph graph = changed_graph(config_.graph, changes);
    if (graph.tasks.empty()) return 0.0;
    input::Json json = json_;
    json["step"] = input::Json::object();
    config::write_tasks(graph, config_.mesh, json["step"]);
    const step::StepPlan plan = step::make_plan(config::read_step_config(json));
    return step::run_step(plan, [](const std::string&) {}).runs.front().time_s;
  }

 private:
  input::Json json_;
  config::StepConfig config_;
};

void simulate(AuditFinding& finding, const Simulator& simulator, double plain_s) {
  finding.saved_s = plain_s - simulator.step_s(finding.changes);
  finding.simulated = true;
  // Rounding of times that should be equal.
  constexpr double kRounding = 1e-9;
  if (std::abs(finding.saved_s) < kRounding * plain_s) finding.saved_s = 0.0;
}

}  // namespace

AuditResult run_audit(const ImportedProgram& program, const ProgramAudit& audit,
                      const step::StepResult& result,
                      const std::function<void(const std::string&)>& progress) {
  const step::VariantResult& plain = result.runs.front();
  const Simulator simulator(program);
  AuditResult made{
      .step_s = plain.time_s, .findings = grouped(audit.findings), .notes = audit.notes};
  std::ranges::stable_sort(made.findings, std::greater<>(), &AuditFinding::excess_bytes);
  std::size_t simulations = 0;
  for (AuditFinding& finding : made.findings) {
    set_times(plain, finding);
    if (finding.changes.empty() || simulations == kMaxSimulations) continue;
    progress(fmt::format("remedy {} of {}", ++simulations, made.findings.size()));
    simulate(finding, simulator, plain.time_s);
  }
  std::erase_if(made.findings, [](const AuditFinding& finding) {
    return finding.rule == AuditRule::small && finding.simulated &&
           finding.saved_s < kWorthCombining * finding.isolated_s;
  });
  for (AuditFinding& finding : audit_exposed(audit, plain, simulator.chip())) {
    set_times(plain, finding);
    made.findings.push_back(std::move(finding));
  }
  std::ranges::stable_sort(made.findings, std::greater<>(), &AuditFinding::saved_s);
  return made;
}

}  // namespace equarx::imports
