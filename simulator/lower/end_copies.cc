#include "simulator/lower/end_copies.h"

#include "models/program/rules.h"

namespace orrery {

EndCopies end_copies(OpKind kind, const Extent& extent, WorkType work, Dtype operand,
                     const View& input, Dtype result, const View& output) {
  const bool packs = !input.contiguous() || work != WorkType{operand, false};
  const bool unpacks = !output.contiguous() || rules(kind).form.leaving != Leaving::Same ||
                       work != WorkType{result, false};
  const Bytes item = itemsize(work);
  EndCopies copies;
  if (packs)
    copies.packed = item * extent.input;
  if (unpacks)
    copies.unpacked = item * (extent.in_place ? extent.input : extent.output);
  return copies;
}

}  // namespace orrery
