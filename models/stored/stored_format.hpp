// A number format of a stored tensor, such as quantized weights: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/formats/block_format.hpp"

namespace equarx::stored {

/// Kind of element codes.
enum class ElementKind : std::uint8_t { integer, minifloat, table, k_means };

/// Codes of a minifloat without a finite value.
enum class Specials : std::uint8_t {
  none,  ///< every code is finite
  nan,   ///< the largest magnitude is NaN
  ieee   ///< the largest exponent is Inf and NaN
};

/// Rounding of values halfway between two codes; tables take the lower value.
enum class Ties : std::uint8_t { even, away, up };

/// Codes and the numbers they represent, in units of the scale.
struct Elements {
  ElementKind kind = ElementKind::integer;
  int bits = 4;               ///< 1..8, of a stored code
  std::uint32_t levels = 15;  ///< integer: number of codes, at most 2^bits
  int exponent_bits = 2;      ///< minifloat
  int mantissa_bits = 1;
  int bias = 1;
  Specials specials = Specials::none;
  std::vector<float> table = {};  ///< ascending, at most 2^bits values
  numerics::ScaleFormat table_type = numerics::ScaleFormat::fp16;  ///< of fitted tables
  bool weighted = false;  ///< k-means: weights are the importance of the elements

  bool operator==(const Elements&) const = default;
};

/// Direction of the groups that share a scale, zero point or fitted table.
enum class Along : std::uint8_t {
  tensor,   ///< consecutive elements in row-major order; the last group may be short
  row,      ///< consecutive elements of a row
  column,   ///< consecutive elements of a column
  strided,  ///< element e belongs to group e mod length
  block     ///< elements of a block of `rows` and `length` columns; those at the edges may be small
};

/// Groups of elements.
struct Groups {
  Along along = Along::tensor;
  std::size_t length = 0;  ///< 0: the whole tensor, row or column
  std::size_t rows = 1;    ///< of a block

  bool operator==(const Groups&) const = default;
};

enum class RangeRule : std::uint8_t {
  abs_max,
  min_max,
  power_of_two_up,    ///< smallest power of two that clips nothing
  power_of_two_down,  ///< OCP MX v1.0: exponent of the abs-max minus exponent of the largest element
  search,             ///< shrunk range of least error
  quantile,
  given
};

enum class ZeroPoint : std::uint8_t {
  none,
  rounded,  ///< a code
  real      ///< the lower end of the range, in the type of the scale
};

/// Scale of a group.
struct Scale {
  RangeRule rule = RangeRule::abs_max;
  numerics::ScaleFormat type = numerics::ScaleFormat::fp32;
  ZeroPoint zero_point = ZeroPoint::none;
  double at_least = 0.0;     ///< 0: smallest number of the type, FP32 and BF16 normal
  double largest = 0.0;      ///< element of the abs-max; 0: the largest element
  bool with_zero = false;    ///< extends ranges with a zero point to 0
  bool of_tensor = false;    ///< relative to an FP32 scale of the tensor, as in NVFP4
  double quantile = 0.99;    ///< share inside the range
  double value = 1.0;        ///< given end of the range
  double shrink_to = 0.5;    ///< search: least factor on the range
  std::uint32_t steps = 50;  ///< search: number of factors
  double norm = 2.0;         ///< search: exponent of the error

  bool operator==(const Scale&) const = default;
};

/// Elements stored with full values in addition to their codes.
struct Apart {
  double largest = 0.0;    ///< share of largest magnitudes
  double important = 0.0;  ///< share of most important elements, among the rest
  numerics::ScaleFormat type = numerics::ScaleFormat::fp16;
  std::uint32_t index_bits = 32;

  bool operator==(const Apart&) const = default;
};

/// Transform of the tensor before encoding, reversed after decoding.
struct Before {
  std::size_t hadamard = 0;  ///< block of the orthonormal rotation along a row; 0: none
  std::vector<double> column_factors = {};  ///< multiplied with the columns; empty: none
  std::uint32_t factor_steps = 0;           ///< exponents of a search of column factors; 0: none

  bool operator==(const Before&) const = default;
};

/// Order in which error feedback rounds the columns.
enum class FeedbackOrder : std::uint8_t {
  none,     ///< no feedback
  columns,  ///< first to last; scales fit the weights of a group when it begins
  largest   ///< by mean squared input; all groups keep the scales of the original weights
};

/// Feedback of rounding errors into later columns: GPTQ, arXiv 2210.17323.
struct Feedback {
  FeedbackOrder order = FeedbackOrder::none;
  double damping = 0.01;  ///< added to the diagonal of the Hessian, in units of its mean

  bool operator==(const Feedback&) const = default;
};

/// Bits of integer codes by group of columns: SliM-LLM, arXiv 2405.14917.
struct Widths {
  bool by_salience = false;    ///< finds `bits` from the inputs
  std::vector<int> bits = {};  ///< of each group of columns; empty: equal

  bool operator==(const Widths&) const = default;
};

/// A number format of a stored tensor.
struct StoredFormat {
  std::string source = {};
  Elements elements = {};
  Groups groups = {};
  Scale scale = {};
  Apart apart = {};
  Before before = {};
  Feedback feedback = {};
  Widths widths = {};
  Ties ties = Ties::even;

  bool operator==(const StoredFormat&) const = default;
};

/// Rows and columns of a tensor.
struct Shape {
  std::size_t rows = 1;
  std::size_t columns = 0;

  std::size_t elements() const { return rows * columns; }
};

/// Elements first, first + stride, ... of a tensor, in runs of `run` whose beginnings are `jump`
/// apart.
struct Group {
  std::size_t first;
  std::size_t stride;
  std::size_t count;
  std::size_t run = SIZE_MAX;
  std::size_t jump = 0;

  /// Index of element n in the tensor.
  std::size_t index(std::size_t n) const { return first + n / run * jump + n % run * stride; }
};

/// Bits of a stored tensor.
struct StoredBits {
  std::uint64_t codes = 0;
  std::uint64_t scales = 0;
  std::uint64_t zero_points = 0;
  std::uint64_t tables = 0;
  std::uint64_t apart = 0;
  std::uint64_t before = 0;  ///< column factors
  std::uint64_t widths = 0;  ///< bits of groups

  std::uint64_t total() const {
    return codes + scales + zero_points + tables + apart + before + widths;
  }
};

/// Named table: nf2, nf3, nf4, fp4; std::nullopt for other names.
std::optional<std::vector<float>> named_table(const std::string& name);

/// Largest code of an integer, largest value of a minifloat, largest magnitude of a table.
float largest_element(const Elements& elements);

/// Values of the non-negative codes of a minifloat, finite ones only.
std::vector<float> magnitudes(const Elements& elements);

/// True if the format has scales: all but fitted tables.
bool has_scales(const StoredFormat& format);

/// True if values need the importance of each element.
bool needs_importance(const StoredFormat& format);

/// True if codes depend on the inputs of the layer.
bool needs_inputs(const StoredFormat& format);

/// Length of groups that lie within rows. @throws std::invalid_argument for other groups
std::size_t row_group_length(const Groups& groups, const Shape& shape);

/// All groups of a tensor. @throws std::invalid_argument if they do not divide it
std::vector<Group> groups_of(const Groups& groups, const Shape& shape);

/// Number of groups of a tensor. @throws std::invalid_argument as groups_of()
std::size_t group_count(const Groups& groups, const Shape& shape);

/// Number of elements stored apart: largest, and important.
std::size_t largest_count(const StoredFormat& format, const Shape& shape);
std::size_t important_count(const StoredFormat& format, const Shape& shape);

/// @throws std::invalid_argument unless each group of columns has a width
void check_widths(const StoredFormat& format, const Shape& shape);

/// Exact bits of a tensor of this shape. @throws std::invalid_argument as groups_of()
StoredBits stored_bits(const StoredFormat& format, const Shape& shape);

/// Check one part of a format. @throws std::invalid_argument for contradictory properties
/// @{
void check_elements(const Elements& elements);
void check_scale(const StoredFormat& format);
void check_apart(const Apart& apart);
void check_before(const Before& before);
void check_widths(const StoredFormat& format);
/// @}

/// Checks all parts.
void check(const StoredFormat& format);

}  // namespace equarx::stored
