#pragma once

// 128-bit integers under one name that -Wpedantic accepts.

namespace orrery {

// NOLINTBEGIN(modernize-use-using): __extension__ goes with typedef only
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
// NOLINTEND(modernize-use-using)

}  // namespace orrery
