#pragma once

// The casts between states of values along mesh axes, JAX's: each keeps the elements, and moves
// nothing.

#include <array>
#include <optional>
#include <string_view>

#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

struct StateCast {
  OpKind kind;
  std::string_view name;
  AxisState from;
  AxisState to;
};

inline constexpr std::array<StateCast, 4> kStateCasts = {{
    {OpKind::Pvary, "pvary", AxisState::Invarying, AxisState::Varying},
    {OpKind::Preduced, "preduced", AxisState::Invarying, AxisState::Reduced},
    {OpKind::VaryUnreducedCast, "vary_unreduced_cast", AxisState::Varying, AxisState::Unreduced},
    {OpKind::ReducedVaryCast, "reduced_vary_cast", AxisState::Reduced, AxisState::Varying},
}};

}  // namespace orrery
