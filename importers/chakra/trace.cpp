#include "importers/chakra/trace.hpp"

#include <stdexcept>

namespace equarx::chakra {

std::string_view name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return "all-reduce";
    case CollectiveKind::reduce: return "reduce";
    case CollectiveKind::all_gather: return "all-gather";
    case CollectiveKind::gather: return "gather";
    case CollectiveKind::scatter: return "scatter";
    case CollectiveKind::broadcast: return "broadcast";
    case CollectiveKind::all_to_all: return "all-to-all";
    case CollectiveKind::reduce_scatter: return "reduce-scatter";
    case CollectiveKind::reduce_scatter_block: return "reduce-scatter-block";
    case CollectiveKind::barrier: return "barrier";
  }
  throw std::logic_error("unknown collective");
}

}  // namespace equarx::chakra
