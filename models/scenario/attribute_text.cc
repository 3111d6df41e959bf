#include "models/scenario/attribute_text.h"

#include <cmath>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/program/core_map.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

JsonText integer_text(int64_t value) {
  return JsonText::raw(fmt::format("{}", value));
}

JsonText number_text(double value) {
  if (std::isnan(value))
    return JsonText::text("NaN");
  if (std::isinf(value))
    return JsonText::text(value > 0 ? "Infinity" : "-Infinity");
  return JsonText::raw(fmt::format("{}", value));
}

JsonText number_text(const NumberOrPair& value) {
  return value.im ? JsonText::list({number_text(value.re), number_text(*value.im)})
                  : number_text(value.re);
}

JsonText names_text(const std::vector<std::string>& names) {
  return list_text(names, [](const std::string& name) { return JsonText::text(name); });
}

/// Writes a single name by itself, and several as a list.
JsonText name_or_names_text(const std::vector<std::string>& names) {
  return names.size() == 1 ? JsonText::text(names.front()) : names_text(names);
}

JsonText integers_text(std::span<const int64_t> values) {
  return list_text(values, integer_text);
}

JsonText lists_text(std::span<const std::vector<int64_t>> lists) {
  return list_text(lists, [](const std::vector<int64_t>& list) { return integers_text(list); });
}

JsonText attribute_text(const Attribute& attribute, ParameterKind kind) {
  return std::visit(
      Overloaded{
          [](bool value) { return JsonText::raw(value ? "true" : "false"); },
          [](int64_t value) { return integer_text(value); },
          [](const NumberOrPair& value) { return number_text(value); },
          [](const std::string& value) { return JsonText::text(value); },
          [](const std::vector<std::string>& value) { return name_or_names_text(value); },
          [](const std::vector<int64_t>& value) { return integers_text(value); },
          [&](const std::vector<std::vector<int64_t>>& value) {
            if (kind != ParameterKind::DimensionNumbers)
              return lists_text(value);
            const std::span lists(value);
            return JsonText::list({lists_text(lists.first(2)), lists_text(lists.subspan(2))});
          },
          [](Dtype value) { return JsonText::text(name(value)); },
          [](Flops value) { return JsonText::text(quantity_text(value)); },
          [](Bytes value) { return JsonText::text(quantity_text(value)); },
          [](const Work& value) {
            return JsonText::object({{"flops", JsonText::text(quantity_text(value.flops))},
                                     {"bytes", JsonText::text(quantity_text(value.bytes))}});
          },
          [](const SharedCoreMap& map) { return JsonText::object(core_map_members(*map)); },
      },
      attribute);
}

}  // namespace orrery
