#include "experiments/study/refusals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::study {

std::string hint(const std::string& wrong, const Names& names) {
  constexpr std::size_t kFew = 12;
  if (names.size() <= kFew) return fmt::format("; available: {}", fmt::join(names, ", "));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return fmt::format("; {}", input::remedy(wrong, candidates));
}

void refuse(const StudyRow& row, std::string_view key, const std::string& problem) {
  throw input::InputError(input::pointer(row.pointer, key),
                          fmt::format("row '{}': {}", row.id, problem));
}

}  // namespace equarx::study
