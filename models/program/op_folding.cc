#include "models/program/op_folding.h"

#include "models/program/rules.h"

namespace orrery {

Folding op_folding(const Program& program, const Op& op, WorkType type) {
  const bool alone = program.mesh.devices() == 1 && exchanged_as(op.kind) != OpKind::PsumScatter;
  const bool left_away = alone || over_no_axes(op.attributes);
  return folding(type, rules(op.kind).form.combine, left_away ? Numerics::Ieee : program.numerics);
}

}  // namespace orrery
