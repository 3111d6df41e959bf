#pragma once

// For the few functions whose callers are the innermost loops, and where compilers differ in
// whether they inline them: clang 14 gives up on a step and its causes where g++ 12 does not.

#define ORRERY_ALWAYS_INLINE __attribute__((always_inline))
