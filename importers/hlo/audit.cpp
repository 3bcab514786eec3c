#include "importers/hlo/audit.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "importers/hlo/audit_redundant.hpp"
#include "importers/hlo/audit_repeats.hpp"
#include "importers/hlo/audit_schedule.hpp"
#include "importers/hlo/audit_site.hpp"
#include "importers/hlo/audit_types.hpp"

namespace equarx::hlo {
namespace {

/// Flags of libtpu and XLA (docs.jax.dev/en/latest/gpu_performance_tips.html; flags of MaxText).
std::string scheduler_note(Backend backend) {
  constexpr const char* kGpu = "--xla_gpu_enable_latency_hiding_scheduler=true (XLA_FLAGS)";
  constexpr const char* kTpu =
      "--xla_tpu_enable_latency_hiding_scheduler=true and "
      "--xla_tpu_enable_async_collective_fusion=true (LIBTPU_INIT_ARGS)";
  constexpr const char* kIntro = "the latency-hiding scheduler is enabled by ";
  if (backend == Backend::gpu) return kIntro + std::string(kGpu) + '.';
  return kIntro + std::string(kTpu) + " on TPUs, by " + kGpu + " on GPUs.";
}

std::vector<std::string> notes_of(const AuditInput& input) {
  std::vector<std::string> notes;
  if (input.unknown > 0)
    notes.push_back(
        fmt::format("{} collectives are not audited, as their form is unknown.", input.unknown));
  if (input.backend == Backend::cpu)
    notes.emplace_back(
        "compiled by XLA's CPU backend, which widens bf16 collectives, runs them synchronously and "
        "leaves all-reduces that are only sliced; audit the program as compiled for the "
        "accelerator.");
  if (!input.module.is_scheduled)
    notes.emplace_back("the module is not scheduled, so exposed times hold for textual order.");
  notes.push_back(scheduler_note(input.backend));
  return notes;
}

void append(std::vector<imports::AuditFinding> more, std::vector<imports::AuditFinding>& findings) {
  for (imports::AuditFinding& finding : more) findings.push_back(std::move(finding));
}

}  // namespace

imports::ProgramAudit audit(const Module& module, const Flow& flow,
                            const std::vector<steps::ImportedCollective>& collectives,
                            std::string_view text) {
  const AuditInput input = audit_input(module, flow, collectives, text);
  imports::ProgramAudit made;
  append(audit_types(input), made.findings);
  append(audit_sums(input), made.findings);
  append(audit_repeats(input), made.findings);
  append(audit_small(input), made.findings);
  append(audit_redundant(input), made.findings);
  audit_schedules(input, made);
  made.notes = notes_of(input);
  return made;
}

}  // namespace equarx::hlo
