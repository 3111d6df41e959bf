#include <set>

#include <fmt/format.h>

#include "models/mesh/named_sharding.h"
#include "models/mesh/partition_spec.h"

namespace orrery {

std::string SdyArray::text() const {
  std::string text = "SdyArray([";
  for (size_t d = 0; d < dims.size(); ++d) {
    std::string axes;
    for (const std::string& axis : dims[d].axes)
      axes += fmt::format("{}'{}'", axes.empty() ? "" : ", ", axis);  // as it is, unlike in a set
    if (dims[d].open)
      axes += axes.empty() ? "?" : ", ?";
    text += fmt::format("{}{{{}}}", d > 0 ? ", " : "", axes);
  }
  text += "]";
  if (device_ids)
    text += ", device_ids=" + python_tuple(*device_ids);
  std::string replicated;
  for (const std::string& axis :
       std::set<std::string>(replicated_axes.begin(), replicated_axes.end()))
    replicated += (replicated.empty() ? "" : ", ") + python_text(axis);
  if (!replicated.empty())
    text += fmt::format(", replicated_axes=frozenset({{{}}})", replicated);
  return text + ")";
}

SdyArray open_array(size_t rank) {
  return {std::vector<SdyDim>(rank, {{}, true})};
}

}  // namespace orrery
