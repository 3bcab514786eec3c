// An advice for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "experiments/advise/advise.hpp"
#include "experiments/input/json_value.hpp"

namespace equarx::advise {

/// Ten lines: what to do, what that gains and loses, and what it rests on.
std::string to_text(const Advice& advice);

/// A machine that was asked about, with its advice or why there is none.
struct Site {
  std::string chip;      ///< as the user named it
  std::string topology;  ///< in words
  std::optional<Advice> advice;
  std::string why_not;  ///< if there is none
};

/// One line for each machine.
std::string to_table(const std::vector<Site>& sites);

input::Json to_json(const Advice& advice);

/// {"sites": [...]}, each with its chip, its topology, and its advice or `why_not`.
input::Json to_json(const std::vector<Site>& sites);

}  // namespace equarx::advise
