#include "models/program/op_request.h"

#include <fmt/format.h>

namespace orrery {

Origin OpRequest::key_origin(std::string_view key) const {
  const auto known = key_origins.find(key);
  if (known != key_origins.end())
    return known->second;
  Origin whole = origin_of(name, origin);
  if (!key.empty() && !backward)
    whole.pointer += fmt::format("/{}", key);
  return whole;
}

Origin OpRequest::result_origin(size_t result) const {
  const auto listed = key_origins.find(fmt::format("id/{}", result));
  return listed != key_origins.end() ? listed->second : key_origin("id");
}

Origin origin_of(std::string_view name, const std::optional<Origin>& origin) {
  return origin ? *origin : Origin{fmt::format("/{}", name)};
}

}  // namespace orrery
