#include "experiments/config/matrix_products_json.hpp"

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/parameter_json.hpp"

namespace equarx::config {
namespace {

using hardware::MatrixProducts;
using Point = MatrixProducts::Point;

const input::Table<Point>& point_table() {
  constexpr std::string_view kMeaning =
      "2 M N K of one GEMM; share of `matrix_efficiency`, 1e-9 to 1, interpolated by the logarithm "
      "of the operations";
  static const input::Table<Point> table{
      {"operations", &Point::operations, input::Positive{}, kMeaning, input::kRequired},
      {"share", &Point::share, input::Share{}, kMeaning, input::kRequired},
  };
  return table;
}

/// Points in rising order, at least one.
struct Points : input::Objects<Point> {
  Points() : Objects{point_table, 1} {}
  void read(input::ObjectReader& reader, std::string_view key, std::vector<Point>& points) const {
    const input::Json& list = reader.array(key);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string pointer = reader.pointer_to(key, i);
      const Point point = point_table().read_all(input::ObjectReader(list[i], pointer));
      if (!points.empty() && point.operations <= points.back().operations)
        throw input::InputError(input::pointer(pointer, "operations"),
                                "is not above the previous point; give points in rising order");
      points.push_back(point);
    }
    if (points.empty())
      throw input::InputError(reader.pointer_to(key),
                              "is empty; leave matrix_products out if nothing is known");
  }
};

const input::Table<MatrixProducts>& products_table() {
  static const input::Table<MatrixProducts> table{
      {"points", &MatrixProducts::points, Points{}, "list by ascending `operations`",
       input::kRequired},
      {"class", &MatrixProducts::provenance, ProvenanceName{}, "as of parameters",
       input::kRequired},
      {"source", &MatrixProducts::source, input::Text{}, "as of parameters", input::kRequired},
  };
  return table;
}

}  // namespace

hardware::MatrixProducts read_matrix_products(input::ObjectReader reader) {
  return products_table().read_all(std::move(reader));
}

input::Json matrix_products_json(const hardware::MatrixProducts& products) {
  return products_table().write(products);
}

input::Json matrix_products_schema() { return products_table().schema(); }

}  // namespace equarx::config
