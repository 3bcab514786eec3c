#include "models/hardware/provenance.hpp"

#include <stdexcept>

namespace equarx::hardware {

std::string_view name(Provenance provenance) {
  switch (provenance) {
    case Provenance::datasheet: return "datasheet";
    case Provenance::measured: return "measured";
    case Provenance::calibrated: return "calibrated";
    case Provenance::assumed: return "assumed";
  }
  throw std::logic_error("unknown provenance");
}

}  // namespace equarx::hardware
