#include "experiments/config/tensor_json.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/counts_json.hpp"
#include "experiments/config/format_names.hpp"
#include "models/tensors/file_error.hpp"
#include "models/values/tensor_types.hpp"

namespace equarx::config {
namespace {

using numerics::ElementFormat;

constexpr input::EnumNames<numerics::Distribution, 3> kDistributions({
    {numerics::Distribution::normal, "normal"},
    {numerics::Distribution::uniform, "uniform"},
    {numerics::Distribution::heavy_tailed, "heavy-tailed"},
});
constexpr std::array<std::string_view, 2> kRankValues = {"independent", "identical"};

std::uint64_t product(const std::vector<std::uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::vector<std::uint64_t> read_shape(input::ObjectReader& reader) {
  const input::Json& lengths = reader.array("shape");
  std::vector<std::uint64_t> shape;
  if (lengths.empty())
    throw input::InputError(reader.pointer_to("shape"),
                            "is empty; give at least one length, like [4096]");
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::string pointer = reader.pointer_to("shape", i);
    shape.push_back(input::read_integer(lengths[i], pointer, 1, kMostElements));
    if (shape.back() > kMostElements / elements)
      throw input::InputError(reader.pointer_to("shape"),
                              fmt::format("has more than {} elements in all", kMostElements));
    elements *= shape.back();
  }
  return shape;
}

std::uint64_t read_elements_from_bytes(input::ObjectReader& reader, ElementFormat dtype) {
  const double bytes = reader.quantity("bytes", units::Dimension::bytes);
  const input::Json& given = reader.required("bytes", "a size");
  const std::string text = given.is_string() ? given.get<std::string>() : given.dump() + " B";
  const double elements = bytes * 8.0 / static_cast<double>(numerics::element_bits(dtype));
  if (elements > static_cast<double>(kMostElements))
    throw input::InputError(
        reader.pointer_to("bytes"),
        fmt::format("{} is too large; a tensor has at most {} elements", text, kMostElements));
  if (elements < 1.0 || elements != std::floor(elements))
    throw input::InputError(reader.pointer_to("bytes"),
                            fmt::format("{} is not a positive whole number of {} elements", text,
                                        numerics::name(dtype)));
  return static_cast<std::uint64_t>(elements);
}

/// Names of at least one file.
struct FileNames : input::Texts {
  FileNames() : Texts{"a file name"} {}
  void read(input::ObjectReader& reader, std::string_view key,
            std::vector<std::string>& names) const {
    Texts::read(reader, key, names);
    if (names.empty())
      throw input::InputError(reader.pointer_to(key),
                              "is empty; name a file per rank, or one for all");
  }
  input::Json schema() const {
    input::Json schema = Texts::schema();
    schema["minItems"] = 1;
    return schema;
  }
};

/// Synthetic values.
const input::Table<TensorConfig>& synthetic_table() {
  using numerics::InputSpec;
  constexpr auto kValues = &TensorConfig::values;
  static const input::Table<TensorConfig> table{
      {"distribution", input::in(kValues, &InputSpec::distribution), input::OneOf{kDistributions},
       R"(N(0,1); `"uniform"`: [-1,1); `"heavy-tailed"`: Student's t, 3 degrees of freedom, unit )"
       "variance"},
      // JSON tools, the schema validator among them, use signed integers.
      {"seed", input::in(kValues, &InputSpec::seed), input::Integer{},
       "elements depend only on seed, rank and index"},
      {"ranks", input::in(kValues, &InputSpec::identical_ranks), input::Switch{kRankValues},
       R"(`"identical"`: values of rank 0 on all ranks)"},
  };
  return table;
}

/// Values from files.
const input::Table<TensorConfig>& file_table() {
  static const input::Table<TensorConfig> table{
      {"files", &TensorConfig::files, FileNames{},
       "instead: `.npy` (f4, f2, bf16 as u2) or `.safetensors` files (F32, F16, BF16, F8_E4M3, "
       "F8_E5M2), one per rank or one with a leading rank axis, relative to the working "
       "directory; they set shape and type"},
      {"tensor", &TensorConfig::name, input::Text{}, "tensor name in `.safetensors` files",
       input::otherwise("the only one")},
  };
  return table;
}

/// Share of the elements to compute. No lower limit: at least one block is always computed.
struct SampleShare {
  void read(input::ObjectReader& reader, std::string_view key, double& sample) const {
    constexpr std::string_view kExpected = "a number above 0 and up to 1";
    const input::Json& value = reader.required(key, kExpected);
    if (!value.is_number() || !(value.get<double>() > 0.0 && value.get<double>() <= 1.0))
      throw input::InputError(reader.pointer_to(key),
                              fmt::format("{} is not {}", value.dump(), kExpected));
    sample = value.get<double>();
  }
  input::Json write(double sample) const { return sample; }
  input::Json schema() const {
    return {{"type", "number"}, {"exclusiveMinimum", 0}, {"maximum", 1}};
  }
};

std::vector<std::uint64_t> shape_of(const tensors::TensorFile& file) {
  return {file.shape().begin(), file.shape().end()};
}

/// An imposed size may be repeated, but not changed.
void reject_other_size(input::ObjectReader& reader, const std::vector<std::uint64_t>& shape) {
  const bool other =
      reader.has("bytes") ||
      (reader.has("shape") && reader.required("shape", "a shape") != input::Json(shape));
  if (other)
    throw input::InputError(
        "/tensor",
        fmt::format("its size comes from the workload ({}); remove it", fmt::join(shape, " x ")));
}

}  // namespace

double read_sample(input::ObjectReader& reader) {
  double sample = 0.0;
  SampleShare{}.read(reader, "sample", sample);
  return sample;
}

void read_value_keys(input::ObjectReader& reader, TensorConfig& tensor) {
  if (!reader.has("files")) {
    reader.reject("tensor", "names a tensor within \"files\"; add \"files\", or remove it");
    return synthetic_table().read(reader, tensor);
  }
  file_table().read(reader, tensor);
  for (const std::string_view key : {"distribution", "seed", "ranks"})
    reader.reject(key, "is for synthetic values; remove it, or \"files\"");
}

std::vector<std::uint64_t> open_files(TensorConfig& tensor, std::uint32_t ranks,
                                      const std::string& pointer_of_values) {
  const std::string pointer = input::pointer(pointer_of_values, "files");
  for (std::size_t i = 0; i < tensor.files.size(); ++i) {
    try {
      std::optional<std::string_view> name;
      if (tensor.name) name = *tensor.name;
      tensor.opened.push_back(std::make_shared<const tensors::TensorFile>(
          tensors::TensorFile::open(tensor.files[i], name)));
    } catch (const tensors::NoTensorNamed& error) {
      throw input::InputError(
          input::pointer(pointer, i),
          fmt::format("{} by {}", error.what(), input::pointer(pointer_of_values, "tensor")));
    } catch (const tensors::FileError& error) {
      throw input::InputError(input::pointer(pointer, i), error.what());
    }
    if (shape_of(*tensor.opened[i]) != shape_of(*tensor.opened[0]))
      throw input::InputError(input::pointer(pointer, i),
                              fmt::format("{} and {} differ in shape; all ranks need the same",
                                          tensor.files[i], tensor.files[0]));
  }
  std::vector<std::uint64_t> shape = shape_of(*tensor.opened[0]);
  if (tensor.files.size() == ranks) return shape;
  if (tensor.files.size() != 1)
    throw input::InputError(pointer,
                            fmt::format("{} files for {} ranks; give one for each, or one with a "
                                        "leading axis of {}",
                                        tensor.files.size(), ranks, ranks));
  if (shape[0] != ranks || shape.size() < 2)
    throw input::InputError(
        pointer, fmt::format("{} has the shape [{}]; one file for {} ranks needs a leading axis of "
                             "{}, and others after it",
                             tensor.files[0], fmt::join(shape, ", "), ranks, ranks));
  shape.erase(shape.begin());
  return shape;
}

namespace {

/// The keys of "values".
input::Json values_json(const TensorConfig& tensor) {
  return (tensor.files.empty() ? synthetic_table() : file_table()).write(tensor);
}

/// Reads the values of a residual for `tensor`, whose size and type it has.
std::shared_ptr<const TensorConfig> read_residual(input::ObjectReader reader,
                                                  const TensorConfig& tensor) {
  TensorConfig residual;
  residual.shape = tensor.shape;
  residual.elements = tensor.elements;
  residual.dtype = tensor.dtype;
  reader.reject("ranks", "the residual is the same on all ranks; remove it");
  read_value_keys(reader, residual);
  reader.finish();
  if (residual.files.empty()) return std::make_shared<const TensorConfig>(std::move(residual));
  const std::vector<std::uint64_t> shape = open_files(residual, 1, "/tensor/residual");
  if (product(shape) != tensor.elements)
    throw input::InputError(
        "/tensor/residual/files",
        fmt::format("{} has the shape [{}], {} elements; the tensor of a rank "
                    "has {}",
                    residual.files[0], fmt::join(shape, ", "), product(shape), tensor.elements));
  return std::make_shared<const TensorConfig>(std::move(residual));
}

}  // namespace

namespace {

/// Reads row counts; the shape is then a row's.
void read_row_counts(input::ObjectReader& reader, std::uint32_t ranks, std::uint32_t node_ranks,
                     TensorConfig& tensor) {
  const std::string pointer = reader.pointer_to("counts");
  if (tensor.shape.empty() || !tensor.files.empty())
    throw input::InputError(pointer,
                            "needs \"shape\", that of a row, like [7168], and synthetic "
                            "values");
  tensor.counts = read_counts(reader.object("counts"), ranks, node_ranks, product(tensor.shape));
  const std::uint64_t rows = std::uint64_t{ranks} * collectives::most_rows(tensor.counts->counts);
  if (tensor.elements > kMostElements / rows)
    throw input::InputError(pointer, fmt::format("takes more than {} elements", kMostElements));
  tensor.elements *= rows;
}

}  // namespace

TensorConfig read_tensor(input::ObjectReader reader, std::uint32_t ranks,
                         const std::optional<ImposedSize>& imposed, std::uint32_t node_ranks) {
  TensorConfig tensor;
  if (imposed) reject_other_size(reader, imposed->shape);
  if (reader.has("values")) {
    input::ObjectReader values = reader.object("values");
    read_value_keys(values, tensor);
    values.finish();
  }
  std::vector<std::uint64_t> file_shape;
  if (!tensor.files.empty()) file_shape = open_files(tensor, ranks, "/tensor/values");
  tensor.dtype =
      input::choose(reader, "dtype", numerics::kTensorFormats,
                    tensor.files.empty() ? ElementFormat::bf16
                                         : values::element_format(tensor.opened[0]->dtype()));
  const std::string_view size =
      imposed ? kTensorSizes[0] : input::exactly_one(reader, kTensorSizes, "/tensor");
  if (imposed) {
    tensor.shape = imposed->shape;
  } else if (size == "bytes") {
    tensor.elements = read_elements_from_bytes(reader, tensor.dtype);
  } else if (size == "shape" || !file_shape.empty()) {
    tensor.shape = size == "shape" ? read_shape(reader) : file_shape;
  }
  if (!tensor.shape.empty()) tensor.elements = product(tensor.shape);
  if (reader.has("counts"))
    read_row_counts(reader, ranks, node_ranks == 0 ? ranks : node_ranks, tensor);
  if (imposed) tensor.sample = imposed->sample;
  if (reader.has("sample")) tensor.sample = read_sample(reader);
  std::optional<input::ObjectReader> residual;
  if (reader.has("residual")) residual.emplace(reader.object("residual"));
  reader.finish();
  if (tensor.elements == 0)
    throw input::InputError("/tensor",
                            "needs a size: \"shape\": [4096, 4096] or \"bytes\": \"32 MiB\"");
  if (residual) tensor.residual = read_residual(*residual, tensor);
  if (!file_shape.empty() && tensor.elements != product(file_shape))
    throw input::InputError(input::pointer("/tensor", size),
                            fmt::format("is not the size of the files' tensors, [{}]; leave it out",
                                        fmt::join(file_shape, ", ")));
  return tensor;
}

bool has_normal_values(const TensorConfig& tensor) {
  return tensor.files.empty() && !tensor.values.identical_ranks &&
         tensor.values.distribution == numerics::Distribution::normal;
}

std::string_view values_name(const TensorConfig& tensor) {
  if (!tensor.files.empty()) return "files";
  return kDistributions[tensor.values.distribution];
}

input::Json tensor_json(const TensorConfig& tensor) {
  input::Json json;
  if (tensor.shape.empty())
    json["bytes"] = units::format(static_cast<double>(tensor.bytes()), units::Dimension::bytes);
  else
    json["shape"] = tensor.shape;
  json["dtype"] = numerics::name(tensor.dtype);
  json["values"] = values_json(tensor);
  if (tensor.counts) json["counts"] = counts_json(*tensor.counts);
  json["sample"] = tensor.sample;
  if (tensor.residual) {
    json["residual"] = values_json(*tensor.residual);
    json["residual"].erase("ranks");
  }
  return json;
}

input::Json value_keys_schema() {
  return input::joined({synthetic_table().schema(), file_table().schema()});
}

namespace {

/// Synthetic values, or files.
input::Json values_schema() {
  input::Json schema = value_keys_schema();
  schema.update(input::schema_of(R"({
    "not": {"required": ["files"],
            "anyOf": [{"required": ["distribution"]}, {"required": ["seed"]}, {"required": ["ranks"]}]},
    "dependencies": {"tensor": ["files"]}})"));
  return schema;
}

/// The keys of `values`, but for ranks, which all have the same residual.
input::Json residual_schema() {
  input::Json schema = value_keys_schema();
  schema["properties"].erase("ranks");
  for (input::Json& key : schema["properties"]) {
    key.erase("default");
    input::describe(key, "as in `values`", {}, {});
  }
  return schema;
}

input::Json shape_schema() {
  return {{"type", "array"}, {"minItems", 1}, {"items", input::Integer{1, kMostElements}.schema()}};
}

}  // namespace

input::Json sample_schema() { return SampleShare{}.schema(); }

input::Json tensor_type_schema() {
  return format_name_schema(input::Named{numerics::kTensorFormats}.names(), "otherTypeName");
}

input::Json tensor_schema() {
  using input::Elsewhere;
  constexpr std::string_view kSize =
      R"(`[4096, 4096]`, or `"32 MiB"` (an integer is bytes), per chip)";
  constexpr input::Presence kOneOfTwo =
      input::otherwise("one required, except with `values.files`");
  static const input::Table<input::ReadElsewhere> table{
      {{"shape", Elsewhere{shape_schema}, kSize, kOneOfTwo},
       {"bytes", Elsewhere{input::Quantity{units::Dimension::bytes}}, kSize, kOneOfTwo},
       {"dtype", Elsewhere{tensor_type_schema},
        R"(or `"fp32"`, `"fp16"`, `"fp8-e4m3"`, `"fp8-e5m2"`: type of inputs, results and plain )"
        "communication ([numerics.md](numerics.md#types-of-tensors))",
        input::by_default(R"("bf16")")},
       {"sample", Elsewhere{SampleShare{}},
        "computed share of the tensor; workload tensors above 2^20 elements default to about that "
        "many, at least 1/64. A share below 1/64 is rounded up to that or to 2^20 elements. Below "
        "1, "
        "encoded and timed bytes are not cross-checked",
        input::by_default("1")},
       {"values", Elsewhere{values_schema}, ""},
       {"counts", Elsewhere{counts_schema},
        "an AllToAll of different numbers of [rows](experts.md#row-counts) by pair; `shape` is "
        "then a row's",
        input::otherwise("equal shards")},
       {"residual", Elsewhere{residual_schema},
        "values of the [residual](numerics.md#arithmetic-of-sums), with the same keys: the same "
        "tensor "
        "on all ranks",
        input::otherwise("N(0,1), with the next `seed`")}},
      {.rules = R"({"not": {"required": ["shape", "bytes"]}})"}};
  return table.schema();
}

}  // namespace equarx::config
