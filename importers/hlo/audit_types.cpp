#include "importers/hlo/audit_types.hpp"

#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace equarx::hlo {
namespace {

using imports::AuditChange;
using imports::AuditFinding;
using imports::AuditRule;
using numerics::ElementFormat;

ElementFormat format_of(const std::string& type) {
  constexpr std::uint32_t kTwoBytes = 16;
  if (type == "f16") return ElementFormat::fp16;
  if (type_bits(type) > kTwoBytes) return ElementFormat::fp32;
  return type_bits(type) == kTwoBytes ? ElementFormat::bf16 : ElementFormat::fp8_e4m3;
}

/// JAX name of an HLO type.
std::string jax_type(const std::string& type) {
  if (type == "f32") return "jnp.float32";
  if (type == "bf16") return "jnp.bfloat16";
  if (type == "f16") return "jnp.float16";
  return type;
}

bool is_wide_float(const std::string& type) {
  return type == "f64" || type == "f32" || type == "bf16" || type == "f16";
}

/// Stored mantissa bits of a 16-bit or 8-bit type; std::nullopt for others.
std::optional<int> short_mantissa(const std::string& type) {
  if (type == "bf16") return 7;
  if (type == "f16") return 10;
  if (type.starts_with("f8e4m3")) return 3;
  if (type.starts_with("f8e5m2")) return 2;
  return std::nullopt;
}

/// Types around the operands of a collective.
struct Casts {
  std::string from;       ///< narrowest type of the inputs, if some are widened
  std::string to;         ///< widest type that results are cast to, if some are
  bool scales = false;    ///< results are also scaled
  double bytes = 0.0;     ///< per execution, in the narrowest sufficient types
  std::string wire_type;  ///< one of these types
};

bool selects(const CollectiveOp& op) {
  return op.combines == "maximum" || op.combines == "minimum";
}

Casts casts_around(const AuditInput& input, const AuditSite& site) {
  const CollectiveOp& op = *site.op;
  const bool moves = op.combines.empty() || selects(op);
  Casts casts;
  casts.wire_type = op.type;
  for (std::size_t i = 0; i < input.operands(site); ++i) {
    const std::optional<Value> from = input.values.operand(site.inner, i);
    const double bytes = input.bytes(site, i);
    const std::string type = from ? input.values.shape(*from).type : "";
    std::string narrow = type;
    if (from && is_wide_float(type)) {
      const std::string before = input.values.narrowest_type(*from);
      const bool gathers = op.kind == CollectiveKind::all_gather;
      bool scales = false;
      const auto after = input.values.cast_type(input.result(site, i), gathers, &scales);
      if (before != type && moves) narrow = casts.from = before;
      if (before != type && !moves && after) casts.from = before;
      if (after && type_bits(*after) < type_bits(narrow)) narrow = *after;
      if (after) casts.to = *after;
      casts.scales = casts.scales || (after && scales);
    }
    if (narrow != type) casts.wire_type = narrow;
    casts.bytes += narrow == type ? bytes : bytes * type_bits(narrow) / type_bits(type);
  }
  return casts;
}

std::string percent(double error) { return fmt::format("{:.2g} %", 100.0 * error); }

std::string reason(const Casts& casts, const CollectiveOp& op) {
  const std::string widened = fmt::format("Its input is {} widened to {}", casts.from, op.type);
  const std::string scaled = casts.scales ? "scaled and cast" : "cast";
  if (casts.from.empty())
    return fmt::format("It moves {}, and every use of its result is {} to {}.", op.type, scaled,
                       casts.to);
  if (casts.to.empty()) return widened + ": the rest of its bytes carries nothing.";
  return fmt::format("{}, and every use of its result is {} to {}.", widened, scaled, casts.to);
}

std::string sum_remedy(const Casts& casts, const AuditSite& site) {
  const std::string to = casts.wire_type;
  const int mantissa = short_mantissa(to).value_or(7);
  return fmt::format(
      "Sum in {} if its rounding is acceptable: the expected relative error of the result grows "
      "from {} to {} over {} chips. Cast before the psum, or give the product "
      "preferred_element_type={}.",
      to, percent(rounding_error(mantissa)), percent(ring_sum_error(site.chips(), mantissa)),
      site.chips(), jax_type(to));
}

bool widened_by_compiler(const Casts& casts, const AuditInput& input) {
  return input.backend == Backend::cpu && !casts.from.empty() && casts.from == casts.to;
}

std::string remedy(const Casts& casts, const AuditInput& input, const AuditSite& site) {
  const bool is_sum = !site.op->combines.empty() && !selects(*site.op);
  if (widened_by_compiler(casts, input))
    return fmt::format(
        "XLA's CPU backend widens {} collectives. Audit the program as compiled for the "
        "accelerator; if it is the same there, cast to {} before the collective{}.",
        casts.from, casts.from, is_sum ? ", which rounds each partial sum" : "");
  if (is_sum) return sum_remedy(casts, site);
  if (casts.scales)
    return fmt::format(
        "Quantize before the gather, and gather {} and its scales. The result is the same if "
        "scales depend on the chip's own part only.",
        casts.to);
  if (casts.from.empty())
    return fmt::format(
        "Cast before it: x.astype({}), then the collective, or with_sharding_constraint after the "
        "cast. The result is the same.",
        jax_type(casts.to));
  return fmt::format("Move {} and cast to {} after it. The result is the same.", casts.from,
                     jax_type(site.op->type));
}

void add_retype(const AuditSite& site, double bytes, const std::string& type,
                AuditFinding& finding) {
  finding.excess_bytes = (site.op->bytes - bytes) * site.times;
  if (!site.is_simulated()) return;
  finding.changes.push_back({.kind = AuditChange::Kind::retype,
                             .group = site.collective->group,
                             .bytes = bytes,
                             .dtype = format_of(type)});
}

}  // namespace

double rounding_error(int mantissa) {
  // Mean of 1 / s^2 over logarithmic significands s in [1, 2).
  constexpr double kInverseSquare = 0.375 / std::numbers::ln2;
  constexpr double kUniformVariance = 1.0 / 12.0;
  return std::exp2(-mantissa) * std::sqrt(kUniformVariance * kInverseSquare);
}

double ring_sum_error(std::size_t ranks, int mantissa) {
  // Partial sums of 2, 3, ... ranks have 2, 3, ... times the power of a term.
  const auto n = static_cast<double>(ranks);
  const double sums = ranks < 2 ? 0.0 : (n * (n + 1.0) / 2.0 - 1.0) / n;
  return rounding_error(mantissa) * std::sqrt(sums);
}

std::vector<AuditFinding> audit_types(const AuditInput& input) {
  std::vector<AuditFinding> findings;
  for (const AuditSite& site : input.sites) {
    const Casts casts = casts_around(input, site);
    if (!(casts.bytes < site.op->bytes) || casts.wire_type == site.op->type) continue;
    const bool gathers = site.op->kind == CollectiveKind::all_gather;
    AuditFinding finding =
        input.finding(site, gathers && !casts.to.empty() ? AuditRule::casts : AuditRule::wide_type);
    finding.why = reason(casts, *site.op);
    finding.remedy = remedy(casts, input, site);
    finding.is_of_compiler = widened_by_compiler(casts, input);
    add_retype(site, casts.bytes, casts.wire_type, finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<AuditFinding> audit_sums(const AuditInput& input) {
  std::vector<AuditFinding> findings;
  for (const AuditSite& site : input.sites) {
    const CollectiveOp& op = *site.op;
    const std::optional<int> mantissa = short_mantissa(op.type);
    if (!op.adds || !mantissa || site.chips() <= 2) continue;
    AuditFinding finding = input.finding(site, AuditRule::half_sum);
    finding.why = fmt::format(
        "It adds {} chips in {} and rounds each partial sum: expected relative error {}, at most "
        "{} of the sum of magnitudes; {} if summed in f32 and rounded once.",
        site.chips(), op.type, percent(ring_sum_error(site.chips(), *mantissa)),
        percent(static_cast<double>(site.chips() - 1) * std::exp2(-*mantissa - 1)),
        percent(rounding_error(*mantissa)));
    finding.remedy =
        "If gradients or the loss are sensitive, sum in f32: psum(x.astype(jnp.float32)), or "
        "preferred_element_type=jnp.float32 of the product that it adds.";
    constexpr double kWideBits = 32.0;
    add_retype(site, op.bytes * kWideBits / type_bits(op.type), "f32", finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace equarx::hlo
