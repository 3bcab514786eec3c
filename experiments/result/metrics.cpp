#include "experiments/result/metrics.hpp"

#include <algorithm>

#include "base/input/json.hpp"

namespace equarx::result {

std::string_view unit_text(Unit unit) {
  switch (unit) {
    case Unit::text: return "text";
    case Unit::flag: return "bool";
    case Unit::count: return "count";
    case Unit::number: return "number";
    case Unit::time: return "s";
    case Unit::bytes: return "B";
    case Unit::energy: return "J";
    case Unit::money: return "$";
    case Unit::speedup:
    case Unit::share:
    case Unit::ratio: return "ratio";
    case Unit::decibel: return "dB";
    case Unit::squared: return "squared";
    case Unit::tensor: return "units of the tensor";
    case Unit::object: return "object";
    case Unit::list: return "list";
  }
  return "";
}

bool is_number(Unit unit) {
  return unit != Unit::text && unit != Unit::flag && unit != Unit::object && unit != Unit::list;
}

std::string title_of_key(std::string_view key) {
  key.remove_prefix(key.rfind('/') + 1);  // 0 without slash
  for (const std::string_view unit : {"_s", "_db"})
    if (key.ends_with(unit)) key.remove_suffix(unit.size());
  std::string title(key);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string title_of(const MetricInfo& metric) {
  return metric.title.empty() ? title_of_key(metric.key) : std::string(metric.title);
}

void set_metric(input::Json& json, const std::string& key, const MetricValue& value) {
  input::Json& place = json[input::Json::json_pointer("/" + key)];
  if (std::holds_alternative<std::monostate>(value)) {
    place = nullptr;
    return;
  }
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) place = held;
      },
      value);
}

}  // namespace equarx::result
