#include "experiments/calibrate/kernel_list.hpp"

#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/enum_names.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/calibration_json.hpp"
#include "experiments/config/scheme_json.hpp"
#include "experiments/config/stored_json.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/attention.hpp"
#include "models/workloads/scheme_work.hpp"

namespace equarx::calibrate {
namespace {

using hardware::MatrixType;
using units::Dimension;
using workloads::Kernel;
using workloads::Operation;
using workloads::OperationKind;

constexpr double kFlopsPerMultiplyAdd = 2.0;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

/// Properties of a list that all rows share.
struct List {
  std::string file;
  std::string source;
  double timer_overhead_s = 0.0;
  double standard_error = 0.0;  ///< relative to the time
};

enum class RowKind : std::uint8_t {
  gemm,
  pass,
  amax,
  attention,
  attention_backward,
  convolution,
  sort
};
constexpr input::EnumNames<RowKind, 7> kRowKinds({{RowKind::gemm, "gemm"},
                                                  {RowKind::pass, "pass"},
                                                  {RowKind::amax, "amax"},
                                                  {RowKind::attention, "attention"},
                                                  {RowKind::attention_backward,
                                                   "attention-backward"},
                                                  {RowKind::convolution, "convolution"},
                                                  {RowKind::sort, "sort"}});

double size(input::ObjectReader& row, std::string_view key) {
  return static_cast<double>(row.integer(key, 1, kMostElements));
}

double bytes(input::ObjectReader& row) { return size(row, "bytes"); }

MatrixType type_or_bf16(input::ObjectReader& row) {
  return input::choose(row, "type", hardware::kNumberTypes, MatrixType::bf16);
}

/// Bytes per operand and per result element of a GEMM: int8 accumulates in int32, FP32 in FP32;
/// other results are bf16.
std::array<double, 2> element_bytes(MatrixType type) {
  switch (type) {
    case MatrixType::bf16: return {2.0, 2.0};
    case MatrixType::fp32: return {4.0, 4.0};
    case MatrixType::int8: return {1.0, 4.0};
    case MatrixType::fp8: return {1.0, 2.0};
    case MatrixType::fp4: return {0.5, 2.0};
    case MatrixType::int1:
    case MatrixType::table: break;
  }
  return {};
}

/// Operands under a scheme of serving.
void apply_scheme(input::ObjectReader& row, Operation& product) {
  config::SchemeConfig precision;
  config::SchemeValue{}.read(row, "precision", precision);
  if (product.products != MatrixType::bf16)
    throw input::InputError(row.pointer_to("precision"),
                            "is of a GEMM whose operands are given in bf16; remove \"type\"");
  input::at(row.pointer_to("precision"), [&] { workloads::apply(precision.scheme, product); });
}

Operation gemm(input::ObjectReader& row) {
  const double m = size(row, "m");
  const double k = size(row, "k");
  const double n = size(row, "n");
  Operation made{.name = "gemm", .kind = OperationKind::matrix};
  made.products = type_or_bf16(row);
  const auto [operand, result] = element_bytes(made.products);
  made.flops = kFlopsPerMultiplyAdd * m * k * n;
  made.weight_bytes = k * n * operand;
  made.read_bytes = m * k * operand;
  made.written_bytes = m * n * result;
  made.gemm = {m, k, n};
  if (row.has("precision")) apply_scheme(row, made);
  return made;
}

/// Bytes per element of keys and values: bf16, or the format "kv", with a row per key.
double kv_bytes(input::ObjectReader& row, double keys, double width) {
  if (!row.has("kv")) return workloads::kActivationBytes;
  stored::StoredFormat format;
  config::FormatChoice{}.read(row, "kv", format);
  const stored::Shape shape{static_cast<std::size_t>(keys), static_cast<std::size_t>(width)};
  const auto bits = input::at(row.pointer_to("kv"), [&] { return stored_bits(format, shape); });
  constexpr double kBitsPerByte = 8.0;
  return static_cast<double>(bits.total()) / kBitsPerByte / (keys * width);
}

/// Fused attention of every query to all keys, or to those before it with "causal".
Operation attention(input::ObjectReader& row, bool backward) {
  constexpr double kBytes = 2.0;  // bf16
  const double batch = size(row, "batch");
  const double heads = size(row, "heads");
  const double kv_heads = row.has("kv_heads") ? size(row, "kv_heads") : heads;
  const double head = size(row, "head");
  const double queries = size(row, "queries");
  const double keys = row.has("keys") ? size(row, "keys") : queries;
  const bool is_causal = row.flag_or("causal", false);
  const double pairs = is_causal ? queries * (keys - (queries - 1.0) / 2.0) : queries * keys;
  const double products = backward ? workloads::kBackwardProducts : workloads::kForwardProducts;
  Operation made{.name = backward ? "attention-backward" : "attention",
                 .kind = OperationKind::attention,
                 .kernel = backward ? Kernel::attention_backward : Kernel::attention};
  made.flops = products * kFlopsPerMultiplyAdd * batch * heads * head * pairs;
  made.attention_rows = batch * heads * queries * products / workloads::kForwardProducts;
  const double query_bytes = batch * heads * head * queries * kBytes;
  const double key_bytes =
      batch * kv_heads * head * keys * (backward ? kBytes : kv_bytes(row, keys, kv_heads * head));
  made.read_bytes = (backward ? 3.0 : 1.0) * query_bytes + 2.0 * key_bytes;
  made.written_bytes = query_bytes + (backward ? 2.0 * key_bytes : 0.0);
  return made;
}

Operation convolution(input::ObjectReader& row) {
  Operation made{
      .name = "convolution", .kind = OperationKind::matrix, .kernel = Kernel::convolution};
  made.products = type_or_bf16(row);
  made.flops = row.positive_number("flops");
  if (row.has("bytes")) made.read_bytes = bytes(row);
  return made;
}

Operation sort(input::ObjectReader& row) {
  const double rows = size(row, "rows");
  const double length = static_cast<double>(row.integer("length", 2, kMostElements));
  Operation made{.name = "sort", .kind = OperationKind::vector};
  made.comparisons = rows * length * std::log2(length);
  return made;
}

Operation pass(input::ObjectReader& row, Kernel kernel) {
  Operation made{.name = kernel == Kernel::amax ? "amax" : "pass",
                 .kind = OperationKind::vector,
                 .kernel = kernel};
  made.read_bytes = bytes(row);
  return made;
}

Operation operation_of(input::ObjectReader& row) {
  switch (row.choice("kernel", kRowKinds)) {
    case RowKind::gemm: return gemm(row);
    case RowKind::pass: return pass(row, Kernel::usual);
    case RowKind::amax: return pass(row, Kernel::amax);
    case RowKind::attention: return attention(row, false);
    case RowKind::attention_backward: return attention(row, true);
    case RowKind::convolution: return convolution(row);
    case RowKind::sort: return sort(row);
  }
  throw std::logic_error("unknown kind of row");
}

/// Rejects a time in which the chip cannot do the work at its peak rates.
void check_possible(const Operation& operation, double seconds, const hardware::Chip& chip,
                    const std::string& place) {
  const double peak = matrix_rate(chip, operation.products);
  if (operation.flops > 0.0 && peak <= 0.0)
    throw input::InputError(place, fmt::format("needs the peak {} GEMM rate of {}; add "
                                               "\"matrix_rate_{}\" to its hardware",
                                               hardware::name(operation.products), chip.name,
                                               hardware::name(operation.products)));
  if (operation.unit_ops() > peak * seconds)
    throw input::InputError(
        place,
        fmt::format("makes {} of GEMMs, above the peak of {}; check shape, type and unit",
                    units::format_short(operation.unit_ops() / seconds, Dimension::operations),
                    units::format_short(peak, Dimension::operations)));
  const double bandwidth = chip.hbm_bandwidth.value;
  if (operation.flops <= 0.0 && operation.hbm_bytes() > bandwidth * seconds)
    throw input::InputError(
        place,
        fmt::format("moves {}, above the memory bandwidth of {}; check bytes and unit, and leave "
                    "out data that stays in a cache",
                    units::format_short(operation.hbm_bytes() / seconds, Dimension::bandwidth),
                    units::format_short(bandwidth, Dimension::bandwidth)));
}

/// "GEMM of bf16": rows with one text are reported together.
std::string group_of(const Operation& operation) {
  if (operation.flops <= 0.0) return std::string(operation.name);
  return fmt::format("{} of {}", operation.name, hardware::name(operation.products));
}

/// Whether rows need a role and a time.
enum class Times : bool { optional, required };

KernelRow read_row(const input::Json& json, const std::string& place, Times times) {
  input::ObjectReader row(json, "");
  KernelRow kernel;
  kernel.place = place;
  if (times == Times::required || row.has("role"))
    config::ObservationRoleName{}.read(row, "role", kernel.role);
  kernel.operation = operation_of(row);
  kernel.group = group_of(kernel.operation);
  if (times == Times::required || row.has("time")) {
    kernel.measured_s = row.quantity("time", Dimension::time);
    if (*kernel.measured_s <= 0.0)
      throw input::InputError(row.pointer_to("time"), "must be above 0");
  }
  kernel.back_to_back = row.flag_or("back_to_back", false);
  kernel.what = row.has("what") ? row.text("what") : std::string(kernel.operation.name);
  row.finish();
  return kernel;
}

Measurement measurement_of(const KernelRow& kernel, const List& list, const hardware::Chip& chip) {
  Measurement measurement;
  measurement.place = kernel.place;
  measurement.source = list.source;
  measurement.role = kernel.role;
  measurement.dimension = Dimension::time;
  measurement.measured = kernel.measured_s.value();
  measurement.what = kernel.what;
  const double outside_s = kernel.back_to_back ? 0.0 : list.timer_overhead_s;
  if (measurement.measured <= outside_s)
    throw input::InputError("/time", "is not above the timer overhead of the list; correct either");
  check_possible(kernel.operation, measurement.measured - outside_s, chip, "");
  measurement.standard_error = list.standard_error * measurement.measured;
  measurement.of = KernelTime{kernel.operation, outside_s, kernel.group};
  return measurement;
}

/// Value of a CSV cell: a number, true, false, or a text.
input::Json cell(const std::string& text) {
  const input::Json read = input::Json::parse(text, nullptr, false);
  return read.is_number() || read.is_boolean() ? read : input::Json(text);
}

std::vector<std::string> cells(const std::string& line) {
  if (line.find('"') != std::string::npos)
    throw input::InputError("", "has a quoted cell; write cells without quotes and commas");
  std::vector<std::string> all;
  std::istringstream stream(line);
  for (std::string one; std::getline(stream, one, ',');) {
    const std::size_t first = one.find_first_not_of(" \t\r");
    const std::size_t last = one.find_last_not_of(" \t\r");
    all.push_back(first == std::string::npos ? "" : one.substr(first, last - first + 1));
  }
  return all;
}

/// A row of a table as an object without its empty cells.
input::Json object_of(const std::vector<std::string>& header, const std::string& line) {
  const std::vector<std::string> values = cells(line);
  if (values.size() > header.size())
    throw input::InputError("", fmt::format("has {} cells, but the header names {}; remove commas "
                                            "within cells",
                                            values.size(), header.size()));
  input::Json object = input::Json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].empty()) object[header[i]] = cell(values[i]);
  return object;
}

/// Calls `use` with each row as JSON and its place. `name`: of the list, for places.
template <typename Use>
void for_each_row(const std::string& text, const std::string& name, Use&& use) {
  const bool is_table = std::filesystem::path(name).extension() == ".csv";
  std::vector<std::string> header;
  std::istringstream stream(text);
  std::size_t number = 0;
  std::size_t rows = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string place = fmt::format("line {}", number);
    input::within(place, [&] {
      if (is_table && header.empty()) {
        header = cells(line);
        return;
      }
      ++rows;
      use(is_table ? object_of(header, line) : input::parse_json(line),
          fmt::format("{}, {}", name, place));
    });
  }
  if (rows == 0) throw input::InputError("", "has no rows; add measurements");
}

/// @throws input::InputError at `pointer` for other names than lists have
void check_name(const std::string& file, const std::string& pointer) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension != ".jsonl" && extension != ".csv")
    throw input::InputError(pointer,
                            fmt::format("'{}' is not a list; name a .jsonl or .csv file", file));
}

const input::Table<List>& list_table() {
  using input::kRequired, input::Quantity, input::Share, input::Text;
  static const input::Table<List> table{
      {{"file", &List::file, Text{}, "path of the list (`.jsonl` or `.csv`), relative to this file",
        kRequired},
       {"source", &List::source, Text{}, "origin of the measurements", kRequired},
       {"standard_error", &List::standard_error, Share{},
        "of each time, relative to it, including effects that are not modelled", kRequired},
       {"timer_overhead", &List::timer_overhead_s, Quantity{Dimension::time},
        "measured in addition to each kernel that is not `back_to_back`"}},
      {.definition = "kernel_list"}};
  return table;
}

}  // namespace

std::vector<KernelRow> read_kernel_file(const std::string& file, const hardware::Chip& hardware) {
  return input::within(file, [&] {
    check_name(file, "");
    std::vector<KernelRow> rows;
    for_each_row(input::read_file(file), file,
                 [&](const input::Json& json, const std::string& place) {
                   rows.push_back(read_row(json, place, Times::optional));
                   const KernelRow& row = rows.back();
                   check_possible(row.operation, row.measured_s.value_or(HUGE_VAL), hardware, "");
                 });
    return rows;
  });
}

std::vector<Measurement> read_kernel_list(input::ObjectReader reader,
                                          const hardware::Chip& hardware,
                                          const std::filesystem::path& folder) {
  List list;
  list_table().read(reader, list);
  reader.finish();
  check_name(list.file, reader.pointer_to("file"));
  if (list.timer_overhead_s < 0.0)
    throw input::InputError(reader.pointer_to("timer_overhead"), "must not be negative");
  return input::read_named_file(
      (folder / list.file).string(), reader.pointer_to("file"), [&](const std::string& text) {
        std::vector<Measurement> rows;
        for_each_row(text, list.file, [&](const input::Json& json, const std::string& place) {
          rows.push_back(measurement_of(read_row(json, place, Times::required), list, hardware));
        });
        return rows;
      });
}

input::Json kernel_list_schema() { return list_table().schema(); }

}  // namespace equarx::calibrate
