// Tables of invalid configurations.
#pragma once

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/errors.hpp"

namespace equarx::testing {

/// A change to the valid configuration and the expected message.
struct Mistake {
  std::string pointer;
  std::string value;
  std::string place;
  std::string remedy;
};

/// Checks that each is refused before anything runs.
inline void check_mistakes(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value);
    check_refused([&] { plan_of(changed(mistake.pointer, mistake.value)); }, mistake.place,
                  mistake.remedy);
  }
}

}  // namespace equarx::testing
