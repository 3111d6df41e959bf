#pragma once

// The type rules of the collectives in which a member sends to one other at most, by "perm".

#include "models/program/rules.h"

namespace orrery {

TypeOutcome ppermute_type(const TypeContext& context);
TypeOutcome pshuffle_type(const TypeContext& context);
TypeOutcome psend_type(const TypeContext& context);
TypeOutcome precv_type(const TypeContext& context);

}  // namespace orrery
