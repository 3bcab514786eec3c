// Findings of an audit of an imported program: collectives that move too many bytes, round too
// often, repeat themselves or hold up the core, each with its place and remedy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/formats/block_format.hpp"
#include "models/workloads/operation.hpp"

namespace equarx::imports {

/// A rule of the audit.
enum class AuditRule : std::uint8_t {
  wide_type,       ///< the wire type is wider than the values
  half_sum,        ///< sums are rounded to 16 or 8 bits at each addition
  casts,           ///< a cast that a gather should follow, or the reverse
  gathered_twice,  ///< the same value is gathered again
  exposed,         ///< the core waits
  small,           ///< many small collectives that could be one
  redundant,       ///< a collective without an effect, or more than needed
};

inline constexpr std::array kAuditRules = {
    AuditRule::wide_type, AuditRule::half_sum, AuditRule::casts,    AuditRule::gathered_twice,
    AuditRule::exposed,   AuditRule::small,    AuditRule::redundant};

/// Returns "wide-type", "half-sum", "casts", "gathered-twice", "exposed", "small" or "redundant".
std::string_view name(AuditRule rule);
/// One line for reports.
std::string_view title(AuditRule rule);

/// Effect of a remedy on all tasks of a collective of the step.
struct AuditChange {
  enum class Kind : std::uint8_t {
    retype,   ///< `bytes` of `dtype`
    remove,   ///< its first `kept` executions remain
    merge,    ///< part of the executions of `into`, which then have `bytes`
    scatter,  ///< an AllReduce becomes a ReduceScatter
  };
  Kind kind = Kind::retype;
  std::string group;   ///< ImportedOp::group
  double bytes = 0.0;  ///< per execution, as ImportedOp::bytes
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  std::uint32_t kept = 0;
  std::string into = {};
};

/// A collective of a finding.
struct AuditedOp {
  std::string group;   ///< ImportedOp::group
  double bytes = 0.0;  ///< per execution, as ImportedOp::bytes
  double times = 0.0;  ///< executions per step
};

/// A collective group that breaks a rule.
struct AuditFinding {
  AuditRule rule = AuditRule::wide_type;
  std::vector<AuditedOp> ops;  ///< at least one; equal findings of a program are one finding
  std::string kind;            ///< "all-gather"
  std::string type;            ///< "f32"
  std::string op_name;         ///< operation in the user's program; may be empty
  std::string place;           ///< "train.py:27", or "line 567 of the program"
  double excess_bytes =
      0.0;  ///< wire bytes per step that the remedy saves; below 0 if it adds some
  double memory_bytes = 0.0;    ///< HBM per chip that the remedy takes
  std::string why;              ///< a sentence
  std::string remedy;           ///< a sentence
  bool is_of_compiler = false;  ///< made by a pass of the compiler, whatever the operation
  std::vector<AuditChange> changes = {};  ///< the step with the remedy; empty if not simulated
  // Set by run_audit().
  double isolated_s = 0.0;  ///< per step, when run alone
  double exposed_s = 0.0;   ///< per step, without concurrent compute
  double saved_s = 0.0;     ///< step time that the remedy saves; below 0 if it takes longer
  bool simulated = false;   ///< otherwise saved_s is an upper bound, or 0 if unknown
};

/// Schedule of a collective within its computation.
struct AuditedSchedule {
  std::string group;        ///< ImportedOp::group
  std::string computation;  ///< that starts it
  std::string kind;
  std::string type;
  std::string op_name;
  std::string place;
  double bytes = 0.0;  ///< per execution
  double times = 0.0;  ///< executions per step
  bool waits = false;  ///< synchronous: starts and completes at the same instruction
  // Operations of ProgramAudit::work of its computation.
  std::size_t first_between = 0;  ///< first operation after its start
  std::size_t end_between = 0;    ///< first operation after its end; first_between if there is none
  /// By operation: neither before nor after it by data flow.
  std::vector<bool> independent = {};
};

/// Input of run_audit().
struct ProgramAudit {
  std::vector<AuditFinding> findings;      ///< of all rules but AuditRule::exposed
  std::vector<AuditedSchedule> schedules;  ///< of simulated collectives
  /// Operations of the computations of `schedules`, by name, in order; without loops, branches and
  /// collectives.
  std::map<std::string, std::vector<workloads::Operation>> work = {};
  std::vector<std::string> notes;  ///< sentences that limit the findings
};

/// Pattern of an operation's name: digits become "#", so that equal operations of several layers
/// match.
std::string op_pattern(std::string_view op_name);

/// Merges findings of the same rule, kind, type and reason, if their operations have the same
/// pattern or a pass of the compiler made them.
std::vector<AuditFinding> grouped(std::vector<AuditFinding> findings);

}  // namespace equarx::imports
