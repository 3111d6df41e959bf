#pragma once

// For the few functions whose callers are the innermost loops. clang 14 gives up on inlining a step
// and its causes. g++ 12 inlines them by itself, after it has specialized the loop for the kinds of
// rows; forced to do it earlier, it runs three times as many instructions a message.

#ifdef __clang__
#define ORRERY_ALWAYS_INLINE __attribute__((always_inline))
#else
#define ORRERY_ALWAYS_INLINE
#endif
