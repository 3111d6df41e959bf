#pragma once

// with_element_type() of a dtype that is checked.

#include <utility>

#include "models/array/arith.h"
#include "models/array/dtype.h"
#include "models/array/element_dispatch.h"
#include "models/base/check.h"

namespace orrery {

/// Calls `use` with the tag of the element type of `dtype`, and returns what it returns, as in
///   dispatch(dtype, [&](auto tag) { using E = typename decltype(tag)::type; ... });
template <class Use>
decltype(auto) dispatch(Dtype dtype, Use&& use) {
  ORRERY_CHECK(dtype <= Dtype::C128, "a dtype is one of the enumeration");
  return with_element_type(dtype, std::forward<Use>(use));
}

}  // namespace orrery
