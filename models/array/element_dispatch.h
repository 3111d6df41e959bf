#pragma once

// From a dtype known at run time to an element type known at compile time: the only table of the
// two. Freestanding. On the host, dispatch.h checks the dtype first.

#include "models/array/dtype_enum.h"
#include "models/array/element_types.h"
#include "models/array/host_device.h"

namespace orrery {

template <class E>
struct ElementTag {
  using type = E;
};

/// Calls `use` with the tag of the element type of `dtype`, and returns what it returns. Requires
/// an enumerator.
template <class Use>
ORRERY_HOST_DEVICE constexpr decltype(auto) with_element_type(Dtype dtype, Use&& use) {
  switch (dtype) {
    case Dtype::Pred:
      return use(ElementTag<arith::Pred>{});
    case Dtype::S8:
      return use(ElementTag<arith::S8>{});
    case Dtype::S16:
      return use(ElementTag<arith::S16>{});
    case Dtype::S32:
      return use(ElementTag<arith::S32>{});
    case Dtype::S64:
      return use(ElementTag<arith::S64>{});
    case Dtype::U8:
      return use(ElementTag<arith::U8>{});
    case Dtype::U16:
      return use(ElementTag<arith::U16>{});
    case Dtype::U32:
      return use(ElementTag<arith::U32>{});
    case Dtype::U64:
      return use(ElementTag<arith::U64>{});
    case Dtype::F16:
      return use(ElementTag<arith::F16>{});
    case Dtype::BF16:
      return use(ElementTag<arith::BF16>{});
    case Dtype::F32:
      return use(ElementTag<arith::F32>{});
    case Dtype::F64:
      return use(ElementTag<arith::F64>{});
    case Dtype::F8E4M3FN:
      return use(ElementTag<arith::F8E4M3FN>{});
    case Dtype::F8E5M2:
      return use(ElementTag<arith::F8E5M2>{});
    case Dtype::C64:
      return use(ElementTag<arith::C64>{});
    case Dtype::C128:
      return use(ElementTag<arith::C128>{});
  }
  __builtin_unreachable();
}

}  // namespace orrery
