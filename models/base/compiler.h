#pragma once

// This file gives each extension of the compilers one name. It is freestanding.

namespace orrery {

// 128-bit integers under names that -Wpedantic accepts.
// NOLINTBEGIN(modernize-use-using): __extension__ goes with typedef only
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
// NOLINTEND(modernize-use-using)

}  // namespace orrery

// ORRERY_ALWAYS_INLINE is for the few functions whose callers are the innermost loops. clang 14
// gives up on inlining a step and its causes. g++ 12 inlines them by itself, after it has
// specialized the loop for the kinds of rows; if it is forced to inline earlier, it runs three
// times as many instructions a message.
#ifdef __clang__
#define ORRERY_ALWAYS_INLINE __attribute__((always_inline))
#else
#define ORRERY_ALWAYS_INLINE
#endif
