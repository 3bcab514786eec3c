#include "topologies/switch.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace equarx::topology {

Topology make_switch(std::uint32_t chips) {
  if (chips < 2 || chips > kMaxOnSwitch) {
    throw std::invalid_argument(
        fmt::format("a switch cannot join {} chips; use 2 to {} chips", chips, kMaxOnSwitch));
  }
  std::vector<Cable> ports;
  std::vector<std::string> labels;
  for (ChipId chip = 0; chip < chips; ++chip) {
    ports.push_back({chip, chips});
    labels.push_back(std::to_string(chip));
  }
  labels.emplace_back("switch");
  return Topology(chips, ports, std::move(labels), 1);
}

}  // namespace equarx::topology
