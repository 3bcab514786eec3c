#include "experiments/config/matrix_products_json.hpp"

#include <fmt/format.h>

#include "experiments/config/parameter_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"

namespace equarx::config {
namespace {

double read_number(input::ObjectReader& reader, std::string_view key, double most,
                   const char* expected) {
  const input::Json& value = reader.required(key, expected);
  if (!value.is_number() || value.get<double>() <= 0.0 || value.get<double>() > most)
    throw input::InputError(reader.place_of(key),
                            fmt::format("{} is not {}", value.dump(), expected));
  return value.get<double>();
}

}  // namespace

hardware::MatrixProducts read_matrix_products(input::ObjectReader reader) {
  constexpr double kMostOperations = 1e30;
  hardware::MatrixProducts products;
  const input::Json& points = reader.array("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string place = fmt::format("{}/{}", reader.place_of("points"), i);
    input::ObjectReader point(points[i], place);
    const double operations =
        read_number(point, "operations", kMostOperations, "a number above 0: 2 M N K");
    const double share = read_number(point, "share", 1.0, "a number above 0 and up to 1");
    point.finish();
    if (!products.points.empty() && operations <= products.points.back().operations)
      throw input::InputError(
          place + "/operations",
          "is not above that of the point before it; give points in rising order");
    products.points.push_back({operations, share});
  }
  if (products.points.empty())
    throw input::InputError(reader.place_of("points"),
                            "is empty; leave matrix_products out if nothing is known");
  products.provenance = read_provenance(reader);
  products.source = reader.text("source");
  reader.finish();
  return products;
}

input::Json matrix_products_json(const hardware::MatrixProducts& products) {
  input::Json points = input::Json::array();
  for (const hardware::MatrixProducts::Point& point : products.points)
    points.push_back({{"operations", point.operations}, {"share", point.share}});
  return {{"points", points},
          {"class", hardware::name(products.provenance)},
          {"source", products.source}};
}

}  // namespace equarx::config
