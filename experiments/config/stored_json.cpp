#include "experiments/config/stored_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/embedded.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/nearest.hpp"
#include "base/input/pointer.hpp"

namespace equarx::config {
namespace {

using numerics::ScaleFormat;
using stored::ElementKind;
using stored::Elements;
using stored::StoredFormat;

constexpr input::EnumNames<stored::Specials, 3> kSpecials({
    {stored::Specials::none, "none"},
    {stored::Specials::nan, "nan"},
    {stored::Specials::ieee, "ieee"},
});
constexpr input::EnumNames<stored::Ties, 3> kTies({
    {stored::Ties::even, "even"},
    {stored::Ties::away, "away"},
    {stored::Ties::up, "up"},
});
constexpr input::EnumNames<stored::Along, 5> kAlong({
    {stored::Along::tensor, "tensor"},
    {stored::Along::row, "row"},
    {stored::Along::column, "column"},
    {stored::Along::strided, "strided"},
    {stored::Along::block, "block"},
});
constexpr input::EnumNames<stored::RangeRule, 7> kRules({
    {stored::RangeRule::abs_max, "abs-max"},
    {stored::RangeRule::min_max, "min-max"},
    {stored::RangeRule::power_of_two_up, "power-of-two-up"},
    {stored::RangeRule::power_of_two_down, "power-of-two-down"},
    {stored::RangeRule::search, "search"},
    {stored::RangeRule::quantile, "quantile"},
    {stored::RangeRule::given, "given"},
});
constexpr input::EnumNames<stored::ZeroPoint, 3> kZeroPoints({
    {stored::ZeroPoint::none, "none"},
    {stored::ZeroPoint::rounded, "rounded"},
    {stored::ZeroPoint::real, "float"},
});
constexpr input::EnumNames<stored::FeedbackOrder, 3> kFeedbackOrders({
    {stored::FeedbackOrder::none, "none"},
    {stored::FeedbackOrder::columns, "columns"},
    {stored::FeedbackOrder::largest, "largest"},
});
constexpr std::array kScaleTypes = {ScaleFormat::fp32, ScaleFormat::fp16, ScaleFormat::bf16,
                                    ScaleFormat::e8m0, ScaleFormat::e4m3};
constexpr std::array kValueTypes = {ScaleFormat::fp32, ScaleFormat::fp16, ScaleFormat::bf16};
constexpr std::array<std::string_view, 5> kTables = {"nf2", "nf3", "nf4", "fp4", "k-means"};
constexpr std::array<std::string_view, 3> kElementKinds = {"integer", "minifloat", "table"};
constexpr std::uint64_t kMostLength = 1 << 30;

std::uint32_t codes_of(int bits) { return 1U << static_cast<unsigned>(bits); }

/// Least width of a code for this many values.
int bits_for(std::size_t values) {
  int bits = 1;
  while (codes_of(bits) < values) ++bits;
  return bits;
}

/// A number from `least` to `most`.
struct Between {
  double least;
  double most;

  void read(input::ObjectReader& reader, std::string_view key, double& number) const {
    number = reader.number(key);
    if (number < least || number > most)
      throw input::InputError(reader.pointer_to(key),
                              fmt::format("{} is not from {} to {}", number, least, most));
  }
  input::Json write(double number) const { return number; }
  input::Json schema() const { return {{"type", "number"}, {"minimum", least}, {"maximum", most}}; }
};

/// A list of finite numbers.
struct Numbers {
  template <typename Number>
  void read(input::ObjectReader& reader, std::string_view key, std::vector<Number>& numbers) const {
    const input::Json& list = reader.array(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number())
        throw input::InputError(reader.pointer_to(key, i), "is not a number; give numbers only");
      numbers.push_back(list[i].template get<Number>());
    }
  }
  template <typename Number>
  input::Json write(const std::vector<Number>& numbers) const {
    return numbers;
  }
  input::Json schema() const { return {{"type", "array"}, {"items", {{"type", "number"}}}}; }
};

/// "e2m1": one sign bit, exponent and mantissa.
void read_minifloat(input::ObjectReader& reader, Elements& elements) {
  const std::string text = reader.text("minifloat", "exponent and mantissa bits, like \"e2m1\"");
  const bool shaped = text.size() == 4 && text[0] == 'e' && text[2] == 'm' && text[1] >= '1' &&
                      text[1] <= '7' && text[3] >= '0' && text[3] <= '6';
  elements.kind = ElementKind::minifloat;
  elements.exponent_bits = shaped ? text[1] - '0' : 0;
  elements.mantissa_bits = shaped ? text[3] - '0' : 0;
  elements.bits = 1 + elements.exponent_bits + elements.mantissa_bits;
  if (!shaped || elements.bits > 8)
    throw input::InputError(
        reader.pointer_to("minifloat"),
        fmt::format("'{}' is no float of at most 8 bits; write it like \"e2m1\"", text));
  elements.levels = codes_of(elements.bits);
  elements.specials = reader.choice_or("special", kSpecials, stored::Specials::none);
  if (elements.specials == stored::Specials::nan && elements.mantissa_bits == 0)
    throw input::InputError(reader.pointer_to("special"),
                            "needs mantissa bits; use \"none\" or \"ieee\"");
  if (elements.specials == stored::Specials::ieee && elements.exponent_bits == 1)
    throw input::InputError(reader.pointer_to("special"),
                            "needs two exponent bits; use \"none\" or \"nan\"");
  elements.bias = static_cast<int>(codes_of(elements.exponent_bits - 1)) - 1;
  constexpr int kMostBias = 100;
  if (reader.has("bias")) elements.bias = static_cast<int>(reader.integer("bias", 0, kMostBias));
}

void read_table(input::ObjectReader& reader, Elements& elements) {
  elements.kind = ElementKind::table;
  if (reader.required("table", "a name or a list of values").is_array()) {
    Numbers{}.read(reader, "table", elements.table);
  } else {
    const std::string_view name = kTables[reader.choice("table", kTables)];
    if (name == "k-means") {
      elements.kind = ElementKind::k_means;
      elements.bits = static_cast<int>(reader.integer("bits", 1, 8));
      elements.table_type = input::choose(reader, "type", kValueTypes, ScaleFormat::fp16);
      elements.weighted = reader.flag_or("weighted", false);
      elements.levels = codes_of(elements.bits);
      return;
    }
    elements.table = stored::named_table(std::string(name)).value();
  }
  elements.levels = static_cast<std::uint32_t>(elements.table.size());
  elements.bits = bits_for(elements.levels);
}

void read_integer(input::ObjectReader& reader, Elements& elements, bool shifted) {
  elements.bits = static_cast<int>(reader.integer("integer", 1, 8));
  elements.levels = codes_of(elements.bits) - (shifted ? 0 : 1);
  if (reader.has("levels"))
    elements.levels = static_cast<std::uint32_t>(reader.integer("levels", 2, 1 << 16));
}

/// Keys of the elements; the reader takes them by kind.
const input::Table<Elements>& elements_table() {
  static const input::Table<Elements> table{
      {"integer", input::Elsewhere{input::Integer{1, 8}}, "bits of an integer"},
      {"levels", input::Elsewhere{input::Integer{2, 256}},
       "integer: number of codes; without a zero point an even number adds a negative code",
       input::otherwise("2^bits with a zero point, else 2^bits - 1")},
      {"minifloat", input::Elsewhere{input::Text{}}, "bits of a float, as in `\"e2m1\"`"},
      {"bias", input::Elsewhere{input::Integer{0, 100}}, "minifloat: exponent bias",
       input::otherwise("2^(exponent bits - 1) - 1")},
      {"special", input::Elsewhere{input::OneOf{kSpecials}},
       "minifloat: `\"none\"`: all codes finite, `\"nan\"`: largest code, `\"ieee\"`: largest "
       "exponent",
       input::by_default(R"("none")")},
      {"table", input::Elsewhere{[] {
         return input::one_of({input::enum_schema(kTables), Numbers{}.schema()});
       }},
       "`\"nf2\"`, `\"nf3\"`, `\"nf4\"`, `\"fp4\"`, `\"k-means\"` (fitted to each group), or "
       "ascending values"},
      {"bits", input::Elsewhere{input::Integer{1, 8}}, "k-means: bits of a code"},
      {"type", input::Elsewhere{input::Named{kValueTypes}}, "k-means: type of the centres",
       input::by_default(R"("fp16")")},
      {"weighted", input::Elsewhere{input::Flag{}}, "k-means: weights are the importance",
       input::by_default("false")},
  };
  return table;
}

Elements elements_of(input::ObjectReader reader, const std::string& pointer, bool shifted) {
  Elements elements;
  const std::string_view kind = input::exactly_one(reader, kElementKinds, pointer);
  if (kind.empty())
    throw input::InputError(pointer,
                            "has no elements; give \"integer\", \"minifloat\" or \"table\"");
  if (kind == "integer") read_integer(reader, elements, shifted);
  if (kind == "minifloat") read_minifloat(reader, elements);
  if (kind == "table") read_table(reader, elements);
  reader.finish();
  return elements;
}

input::Json elements_json(const Elements& elements) {
  switch (elements.kind) {
    case ElementKind::integer: return {{"integer", elements.bits}, {"levels", elements.levels}};
    case ElementKind::minifloat:
      return {{"minifloat", fmt::format("e{}m{}", elements.exponent_bits, elements.mantissa_bits)},
              {"bias", elements.bias},
              {"special", kSpecials[elements.specials]}};
    case ElementKind::table: return {{"table", elements.table}};
    case ElementKind::k_means: break;
  }
  return {{"table", "k-means"},
          {"bits", elements.bits},
          {"type", numerics::name(elements.table_type)},
          {"weighted", elements.weighted}};
}

const input::Table<stored::Groups>& groups_table() {
  using stored::Groups;
  static const input::Table<Groups> table{
      {"along", &Groups::along, input::OneOf{kAlong},
       "`\"tensor\"`: elements in order, `\"row\"`, `\"column\"`, `\"strided\"`: element e in "
       "group "
       "e mod `length`, or `\"block\"` of `rows` and `length` columns"},
      {"length", &Groups::length, input::Integer{0, kMostLength},
       "elements of a group; 0: the whole tensor, row or column"},
      {"rows", &Groups::rows, input::Integer{1, kMostLength}, "rows of a block"},
  };
  return table;
}

const input::Table<stored::Scale>& scale_table() {
  using input::OneOf, stored::Scale;
  constexpr double kMost = 1e30;
  static const input::Table<Scale> table{
      {"rule", &Scale::rule, OneOf{kRules},
       "range of a group: `\"abs-max\"`, `\"min-max\"`, `\"power-of-two-up\"`, "
       "`\"power-of-two-down\"` (OCP MX), `\"search\"`, `\"quantile\"` or `\"given\"`"},
      {"type", &Scale::type, input::Named{kScaleTypes}, "type of scales"},
      {"zero_point", &Scale::zero_point, OneOf{kZeroPoints},
       "integers: `\"none\"`, `\"rounded\"` to a code, or `\"float\"`, the lower end of the range "
       "(with abs-max: minus the largest magnitude, not stored)"},
      {"at_least", &Scale::at_least, Between{0, kMost}, "smallest scale; 0: of the type"},
      {"largest", &Scale::largest, Between{0, kMost},
       "element at the end of the range; 0: the largest one"},
      {"with_zero", &Scale::with_zero, input::Flag{}, "extend ranges with a zero point to 0"},
      {"of_tensor", &Scale::of_tensor, input::Flag{},
       "e4m3 scales in units of an FP32 scale of the tensor, as in NVFP4"},
      {"quantile", &Scale::quantile, Between{0.5, 1}, "quantile: share of values inside the range"},
      {"value", &Scale::value, input::Positive{}, "given: end of the range"},
      {"shrink_to", &Scale::shrink_to, Between{0.01, 1}, "search: least factor on the range"},
      {"steps", &Scale::steps, input::Integer{1, 1000}, "search: number of factors"},
      {"norm", &Scale::norm, Between{0.5, 10}, "search: exponent of the error to minimise"},
  };
  return table;
}

const input::Table<stored::Apart>& apart_table() {
  using stored::Apart;
  static const input::Table<Apart> table{
      {"largest", &Apart::largest, Between{0, 1}, "share of elements of largest magnitude"},
      {"important", &Apart::important, Between{0, 1}, "share of most important other elements"},
      {"type", &Apart::type, input::Named{kValueTypes}, "type of full values"},
      {"index_bits", &Apart::index_bits, input::Integer{0, 64}, "bits of each position"},
  };
  return table;
}

const input::Table<stored::Before>& before_table() {
  using stored::Before;
  static const input::Table<Before> table{
      {"hadamard", &Before::hadamard, input::Integer{0, kMostLength},
       "block of an orthonormal Hadamard rotation along a row; 0: none"},
      {"column_factors", &Before::column_factors, Numbers{}, "factors of the columns, not 0",
       input::otherwise("none")},
      {"factor_steps", &Before::factor_steps, input::Integer{0, 1000},
       "exponents of AWQ's search of column factors, if inputs are given; 0: none"},
  };
  return table;
}

const input::Table<stored::Feedback>& feedback_table() {
  using stored::Feedback;
  static const input::Table<Feedback> table{
      {"order", &Feedback::order, input::OneOf{kFeedbackOrders},
       "GPTQ's feedback of rounding errors into later columns: `\"none\"`, `\"columns\"` from "
       "first to last, or `\"largest\"` inputs first"},
      {"damping", &Feedback::damping, Between{0, 1},
       "added to the diagonal of the Hessian, in units of its mean"},
  };
  return table;
}

/// Bits of groups.
struct WidthList : Numbers {
  void read(input::ObjectReader& reader, std::string_view key, std::vector<int>& bits) const {
    const input::Json& list = reader.array(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_integer())
        throw input::InputError(reader.pointer_to(key, i), "is no integer; give bits");
      bits.push_back(list[i].get<int>());
    }
  }
};

const input::Table<stored::Widths>& widths_table() {
  using stored::Widths;
  static const input::Table<Widths> table{
      {"by_salience", &Widths::by_salience, input::Flag{},
       "SliM-LLM: one bit less in groups of columns of least salience, one more in as many of "
       "most"},
      {"bits", &Widths::bits, WidthList{}, "bits of each group of columns",
       input::otherwise("equal")},
  };
  return table;
}

const input::Table<StoredFormat>& format_table() {
  static const input::Table<StoredFormat> table{
      {"source", &StoredFormat::source, input::Text{}, "for readers", input::otherwise("none")},
      {"elements", input::Elsewhere{[] { return elements_table().schema(); }}, "",
       input::kRequired},
      {"groups", &StoredFormat::groups, input::Nested{groups_table}, ""},
      {"scale", &StoredFormat::scale, input::Nested{scale_table}, ""},
      {"apart", &StoredFormat::apart, input::Nested{apart_table}, ""},
      {"before", &StoredFormat::before, input::Nested{before_table}, ""},
      {"feedback", &StoredFormat::feedback, input::Nested{feedback_table}, ""},
      {"widths", &StoredFormat::widths, input::Nested{widths_table}, ""},
      {"ties", &StoredFormat::ties, input::OneOf{kTies},
       "values between two codes: `\"even\"`, `\"away\"` or `\"up\"`; tables take the lower one"},
  };
  return table;
}

}  // namespace

StoredFormat read_stored_format(const input::Json& json, const std::string& pointer) {
  input::ObjectReader reader(json, pointer);
  StoredFormat format;
  format_table().read(reader, format);
  reader.required("elements", "an object, like {\"integer\": 4}");
  format.elements = elements_of(reader.object("elements"), reader.pointer_to("elements"),
                                format.scale.zero_point != stored::ZeroPoint::none);
  if (format.elements.kind == ElementKind::k_means)
    reader.reject("scale", "a fitted table has no scales; remove it");
  reader.finish();
  input::at(reader.pointer_to("elements"), [&] { stored::check_elements(format.elements); });
  if (stored::has_scales(format))
    input::at(reader.pointer_to("scale"), [&] { stored::check_scale(format); });
  input::at(reader.pointer_to("apart"), [&] { stored::check_apart(format.apart); });
  input::at(reader.pointer_to("before"), [&] { stored::check_before(format.before); });
  input::at(reader.pointer_to("widths"), [&] { stored::check_widths(format); });
  return format;
}

StoredFormat load_stored_format(const std::string& name_or_path, const std::string& pointer) {
  if (input::is_path(name_or_path))
    return input::read_named_file(name_or_path, pointer, [](const std::string& text) {
      return read_stored_format(input::parse_json(text));
    });
  std::vector<std::string_view> names;
  for (const input::EmbeddedFile& file : input::embedded_formats()) {
    if (file.name == name_or_path) return read_stored_format(input::parse_json(file.text));
    names.push_back(file.name);
  }
  throw input::InputError(
      pointer, fmt::format("'{}' is not a known format; {}, or the path of a format file",
                           name_or_path, input::remedy_of_all(name_or_path, names)));
}

bool is_stored_format(const std::string& name_or_path) {
  if (input::is_path(name_or_path)) return true;
  const auto messages = numerics::named_formats();
  const auto files = input::embedded_formats();
  return std::ranges::find(files, name_or_path, &input::EmbeddedFile::name) != files.end() &&
         std::ranges::find(messages, name_or_path, &numerics::NamedFormat::name) == messages.end();
}

input::Json stored_format_json(const StoredFormat& format) {
  input::Json json = format_table().write(format);
  json["elements"] = elements_json(format.elements);
  if (!stored::has_scales(format)) json.erase("scale");
  return json;
}

void FormatChoice::read(input::ObjectReader& reader, std::string_view key,
                        StoredFormat& format) const {
  const std::string pointer = reader.pointer_to(key);
  const input::Json& json = reader.required(key, "a name, a path or an object");
  format = json.is_string() ? load_stored_format(json.get<std::string>(), pointer)
                            : read_stored_format(json, pointer);
}

input::Json FormatChoice::write(const StoredFormat& format) const {
  return stored_format_json(format);
}

input::Json FormatChoice::schema() const {
  return input::one_of({input::Json{{"type", "string"}}, input::Json{{"type", "object"}}});
}

input::Json stored_format_schema() { return format_table().schema(); }

}  // namespace equarx::config
