#include "importers/common/audit.hpp"

#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace equarx::imports {

std::string_view name(AuditRule rule) {
  switch (rule) {
    case AuditRule::wide_type: return "wide-type";
    case AuditRule::half_sum: return "half-sum";
    case AuditRule::casts: return "casts";
    case AuditRule::gathered_twice: return "gathered-twice";
    case AuditRule::exposed: return "exposed";
    case AuditRule::small: return "small";
    case AuditRule::redundant: return "redundant";
  }
  throw std::logic_error("unknown rule");
}

std::string_view title(AuditRule rule) {
  switch (rule) {
    case AuditRule::wide_type: return "a wider type on the wire than in the values";
    case AuditRule::half_sum: return "a sum that is rounded at each addition";
    case AuditRule::casts: return "casts around data movement";
    case AuditRule::gathered_twice: return "the same value gathered again";
    case AuditRule::exposed: return "exposed time";
    case AuditRule::small: return "small collectives that could be combined";
    case AuditRule::redundant: return "more communication than the result needs";
  }
  throw std::logic_error("unknown rule");
}

std::string op_pattern(std::string_view op_name) {
  std::string pattern;
  for (const char c : op_name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      pattern += c;
    else if (!pattern.ends_with('#'))
      pattern += '#';
  }
  return pattern;
}

namespace {

/// Equal for findings that are merged.
std::string origin_of(const AuditFinding& finding) {
  if (finding.is_of_compiler) return {};
  return finding.op_name.empty() ? finding.place : op_pattern(finding.op_name);
}

}  // namespace

std::vector<AuditFinding> grouped(std::vector<AuditFinding> findings) {
  std::vector<AuditFinding> groups;
  std::map<std::tuple<AuditRule, std::string, std::string, std::string, std::string>, std::size_t>
      known;
  for (AuditFinding& finding : findings) {
    const auto [at, is_new] =
        known.emplace(std::tuple(finding.rule, finding.kind, finding.type,
                                 finding.why + finding.remedy, origin_of(finding)),
                      groups.size());
    if (is_new) {
      groups.push_back(std::move(finding));
      continue;
    }
    AuditFinding& group = groups[at->second];
    group.ops.insert(group.ops.end(), finding.ops.begin(), finding.ops.end());
    group.changes.insert(group.changes.end(), finding.changes.begin(), finding.changes.end());
    group.saved_s += finding.saved_s;
    group.excess_bytes += finding.excess_bytes;
    group.memory_bytes += finding.memory_bytes;
  }
  return groups;
}

}  // namespace equarx::imports
