#include "knurl/algorithms/typed_json.h"

#include <nlohmann/json.hpp>

namespace knurl {

using Json = nlohmann::ordered_json;

std::string typed_json(const Result& result) {
  Json out = Json::object();
  for (const Result::Entry& entry : result.entries()) {
    out[entry.name] = std::visit(
        []<class T>(const T& value) {
          if constexpr (std::same_as<T, Result::Nothing>) {
            return Json{{"nothing", value.why}};
          } else {
            return Json(value);
          }
        },
        entry.value);
  }
  return out.dump();
}

Result result_of_typed_json(const std::string& text) {
  Result out;
  const Json json = Json::parse(text);
  for (const auto& [name, value] : json.items()) {
    if (value.is_object()) out.set(name, Result::Nothing{value.at("nothing")});
    if (value.is_boolean()) out.set(name, value.get<bool>());
    if (value.is_number_integer()) out.set(name, value.get<std::int64_t>());
    if (value.is_number_float()) out.set(name, value.get<double>());
    if (value.is_string()) out.set(name, Result::Value(value.get<std::string>()));
    if (value.is_array()) out.set(name, value.get<std::vector<double>>());
  }
  return out;
}

}  // namespace knurl
