#include "experiments/config/matrix_products_json.hpp"

#include "experiments/config/parameter_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/pointer.hpp"

namespace equarx::config {
hardware::MatrixProducts read_matrix_products(input::ObjectReader reader) {
  hardware::MatrixProducts products;
  const input::Json& points = reader.array("points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string pointer = reader.pointer_to("points", i);
    input::ObjectReader point(points[i], pointer);
    const double operations = point.positive_number("operations");
    const double share = point.share("share");
    point.finish();
    if (!products.points.empty() && operations <= products.points.back().operations)
      throw input::InputError(input::pointer(pointer, "operations"),
                              "is not above the previous point; give points in rising order");
    products.points.push_back({operations, share});
  }
  if (products.points.empty())
    throw input::InputError(reader.pointer_to("points"),
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
