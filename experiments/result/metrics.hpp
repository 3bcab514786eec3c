// Metrics: the numbers, texts and flags of a run, each declared once with its unit, title and
// meaning. JSON, its schema, reports, comparisons and the tables of docs/ follow from them.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/input/object_reader.hpp"

namespace equarx::result {

/// Unit of a metric, which determines its type, and its format in reports.
enum class Unit : std::uint8_t {
  text,
  flag,
  count,
  number,   ///< any other
  time,     ///< s
  bytes,    ///< B
  energy,   ///< J
  money,    ///< $
  speedup,  ///< ratio of two times
  share,    ///< ratio from 0 to 1
  ratio,    ///< any other
  decibel,  ///< dB
  squared,  ///< square of the tensor's unit
  tensor,   ///< unit of the tensor
  object,   ///< no metric, but the key that holds some
  list,     ///< no metric, but the key of a list
};

/// Unit in docs/results.md: "s", "B", "ratio".
std::string_view unit_text(Unit unit);

/// True unless a text, a flag, an object or a list.
bool is_number(Unit unit);

/// JSON of a metric without a value.
enum class Empty : std::uint8_t {
  never,   ///< always has one
  null,    ///< the key with null
  absent,  ///< no key
};

/// Declaration of a metric.
struct MetricInfo {
  std::string key;  ///< path in a run: "time_s", "numerics/mse"
  Unit unit = Unit::number;
  std::string_view meaning = {};  ///< in Markdown
  Empty empty = Empty::never;
  std::string_view title = {};  ///< in reports; empty: from the key
  /// Order among the columns that reports initially show; 0: hidden, after all others.
  int place = 0;
  bool compared = false;         ///< by `equarx-sim compare`
  std::string_view schema = {};  ///< keywords that differ from those of the unit, as JSON text
};

/// Title from a key: its last part, without unit.
std::string title_of_key(std::string_view key);

/// Title in reports.
std::string title_of(const MetricInfo& metric);

/// A value; std::monostate is null.
using MetricValue = std::variant<std::monostate, bool, std::uint64_t, double, std::string>;

/// Converts an integer or a flag.
template <std::integral T>
MetricValue metric_value(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value;
  else
    return static_cast<std::uint64_t>(value);
}
/// Converts a number.
inline MetricValue metric_value(double value) { return value; }
/// Converts a text.
inline MetricValue metric_value(std::string_view text) { return std::string(text); }

/// A metric of an object.
template <typename Object>
class Metric {
 public:
  /// The value, also null; std::nullopt if its key is absent.
  using Get = std::function<std::optional<MetricValue>(const Object&)>;

  /// A metric of a member; `get` is a pointer to it, or a function that returns it, which may be
  /// std::optional.
  template <std::invocable<const Object&> Member>
  Metric(MetricInfo info, Member member) : info_(std::move(info)) {
    get_ = [member, empty = info_.empty](const Object& object) {
      return value_of(std::invoke(member, object), empty);
    };
  }

  /// A key without a value of its own: of an object or a list.
  explicit Metric(MetricInfo info)
      : info_(std::move(info)), get_([](const Object&) { return std::nullopt; }) {}

  /// The key of an object that is null unless `exists`.
  static Metric nullable_object(MetricInfo info, std::function<bool(const Object&)> exists) {
    Metric metric(std::move(info));
    metric.get_ = [exists = std::move(exists)](const Object& object) {
      return exists(object) ? std::nullopt : std::optional(MetricValue());
    };
    return metric;
  }

  /// The metric of an inner object, under the key `prefix`, if any; absent without the object.
  template <typename Inner, std::invocable<const Object&> Member>
  static Metric within(std::string_view prefix, const Metric<Inner>& inner, Member member) {
    MetricInfo info = inner.info();
    if (!prefix.empty()) info.key = std::string(prefix) + "/" + info.key;
    Metric metric(std::move(info));
    metric.get_ = [inner, member](const Object& object) -> std::optional<MetricValue> {
      const Inner* const found = std::invoke(member, object);
      return found == nullptr ? std::nullopt : inner.value(*found);
    };
    return metric;
  }

  /// The declaration.
  const MetricInfo& info() const { return info_; }
  /// The value, also null; std::nullopt if its key is absent.
  std::optional<MetricValue> value(const Object& object) const { return get_(object); }

 private:
  template <typename Member>
  static std::optional<MetricValue> value_of(const Member& member, [[maybe_unused]] Empty empty) {
    if constexpr (requires { member.has_value(); }) {
      if (member.has_value()) return metric_value(*member);
      if (empty == Empty::null) return MetricValue();
      return std::nullopt;
    } else {
      return metric_value(member);
    }
  }

  MetricInfo info_;
  Get get_;
};

/// Metrics of an object, in the order of their keys in JSON.
template <typename Object>
using Metrics = std::vector<Metric<Object>>;

/// All metrics of some parts.
template <typename Object>
Metrics<Object> joined(std::initializer_list<Metrics<Object>> parts) {
  Metrics<Object> all;
  for (const Metrics<Object>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Metrics of an inner object, under the key `prefix`, if any. `member`: returns its address, null without
/// one.
template <typename Object, typename Inner, typename Member>
Metrics<Object> within(std::string_view prefix, const Metrics<Inner>& inner, Member member) {
  Metrics<Object> metrics;
  for (const Metric<Inner>& metric : inner)
    metrics.push_back(Metric<Object>::within(prefix, metric, member));
  return metrics;
}

/// A function that returns the address of an optional member; null without a value.
template <typename Object, typename Inner>
auto if_present(std::optional<Inner> Object::*member) {
  return [member](const Object& object) -> const Inner* {
    const std::optional<Inner>& inner = object.*member;
    return inner ? &*inner : nullptr;
  };
}

/// Adds a value to the JSON of a run. `key`: path of the metric
void set_metric(input::Json& json, const std::string& key, const MetricValue& value);

/// Adds the metrics of an object to its JSON.
template <typename Object>
void add_metrics(const Metrics<Object>& metrics, const Object& object, input::Json& json) {
  for (const Metric<Object>& metric : metrics)
    if (const auto value = metric.value(object)) set_metric(json, metric.info().key, *value);
}

/// The number of this name; std::nullopt without one.
template <typename Object>
std::optional<double> number_of(const Metrics<Object>& metrics, const Object& object,
                                std::string_view key) {
  for (const Metric<Object>& metric : metrics) {
    if (metric.info().key != key) continue;
    const std::optional<MetricValue> value = metric.value(object);
    if (!value) return std::nullopt;
    if (const auto* integer = std::get_if<std::uint64_t>(&*value))
      return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&*value)) return *number;
  }
  return std::nullopt;
}

/// Names of the numbers that an object has, also of those that are null.
template <typename Object>
std::vector<std::string> names_of_numbers(const Metrics<Object>& metrics, const Object& object) {
  std::vector<std::string> names;
  for (const Metric<Object>& metric : metrics)
    if (is_number(metric.info().unit) && metric.value(object)) names.push_back(metric.info().key);
  return names;
}

}  // namespace equarx::result
