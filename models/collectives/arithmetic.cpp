#include "models/collectives/arithmetic.hpp"

#include <stdexcept>

namespace equarx::collectives {

std::string_view name(OwnerKeeps owner) { return owner == OwnerKeeps::sent ? "sent" : "summed"; }

std::string_view name(Subnormals subnormals) {
  return subnormals == Subnormals::keep ? "keep" : "flush";
}

std::string_view name(Overflow overflow) {
  switch (overflow) {
    case Overflow::by_type: return "by-type";
    case Overflow::saturate: return "saturate";
    case Overflow::infinity: return "infinity";
  }
  throw std::logic_error("unknown overflow");
}

std::string_view name(SumOrder order) {
  switch (order) {
    case SumOrder::arrival: return "arrival";
    case SumOrder::ranks: return "ranks";
    case SumOrder::owner: return "owner";
  }
  throw std::logic_error("unknown order of a sum");
}

std::string_view name(Residual residual) {
  switch (residual) {
    case Residual::none: return "none";
    case Residual::before: return "before";
    case Residual::after: return "after";
  }
  throw std::logic_error("unknown place of a residual");
}

}  // namespace equarx::collectives
