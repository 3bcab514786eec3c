// Lines that the advice for a collective and for a step share.
#pragma once

#include <string>
#include <string_view>

#include "experiments/tune/tune.hpp"
#include "experiments/variation/confidence.hpp"

namespace equarx::advise {

/// A line of an advice: its name, then `text` in a column.
std::string line(std::string_view name, const std::string& text);

/// "1.21x"
std::string speedup_text(double speedup);
/// "38.1 dB"
std::string sqnr_text(double nmse);
/// "SQNR of at least 30.0 dB"; "none" without limits
std::string limits_text(const tune::TuneLimits& limits);

/// "812 us instead of 1.01 ms (plain): 198 us and 19.6 % less, 1.24x"
std::string time_text(double time_s, double plain_s, const std::string& plain);

/// "1.20x to 1.31x (Monte Carlo over the parameter uncertainty of tpu-v5e, n = 200)"
std::string interval_text(const variation::Confidence& confidence, const std::string& chip);

/// The parameters that turn the advice: "network_bandwidth (10 GB/s; break-even at 15 GB/s)".
std::string sensitivity_text(const variation::Confidence& confidence);

/// Line with the measurement that would settle an unclear verdict; empty for other verdicts, and if
/// no uncertain parameter matters.
std::string settling_line(variation::Verdict verdict, const variation::Confidence& confidence);

/// Lines on the evidence for an advice: a chip that is not calibrated, and the error of the model in
/// quantized collectives on such chips.
std::string trust_lines(const hardware::Chip& chip);

}  // namespace equarx::advise
