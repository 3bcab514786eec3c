// Uncertainties and sensitivities as JSON and as tables, alike for collectives and steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/accuracy/nearest.hpp"
#include "experiments/variation/turning_points.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::variation {

/// Parameters of the chip and of the network by key, as in a hardware file.
input::Json parameters_json(const config::MachineParameters& machine);

/// `labels`: of the runs.
input::Json to_json(const std::vector<Sensitivity>& sensitivities,
                    const std::vector<std::string>& labels);

input::Json to_json(const std::vector<TurningPoint>& points);

/// Note below a table: how well answers to its question have matched measurements, and the intervals:
/// their number of parameters and samples, or why there are none. `samples`: requested, 0 for none;
/// `uncertainty`: of the first run.
std::string trust_note(const accuracy::Asked& asked, const config::MachineParameters& machine,
                       std::uint32_t samples, const std::optional<Uncertainty>& uncertainty);

/// Table of sensitivities with a note on parameters without effect; empty without sensitivities.
/// `baseline`: index of the run whose speedup is 1.
std::string sensitivity_table(const std::vector<Sensitivity>& sensitivities,
                              const std::vector<std::string>& labels, std::size_t baseline);

/// Cells of a comparison table: "1.2 to 1.4 ms" and "1.100 to 1.300".
std::string time_text(const Uncertainty& uncertainty);
std::string speedup_text(const Uncertainty& uncertainty);

}  // namespace equarx::variation
