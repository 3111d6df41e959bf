#include "models/program/op_request.h"

#include <fmt/format.h>

namespace orrery {

Origin OpRequest::place(std::string_view key) const {
  const auto known = places.find(key);
  if (known != places.end())
    return known->second;
  Origin whole = place_of(name, origin);
  if (!key.empty())
    whole.pointer += fmt::format("/{}", key);
  return whole;
}

Origin OpRequest::result_place(size_t result) const {
  const auto listed = places.find(fmt::format("id/{}", result));
  return listed != places.end() ? listed->second : place("id");
}

Origin place_of(std::string_view name, const std::optional<Origin>& origin) {
  return origin ? *origin : Origin{fmt::format("/{}", name)};
}

}  // namespace orrery
