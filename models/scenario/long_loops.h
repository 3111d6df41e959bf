#pragma once

#include <cstdint>

namespace orrery {

/// Whether iterations of long loops may be left out of the program (loop.h).
enum class LongLoops : uint8_t { LeftOut, WrittenOut };

}  // namespace orrery
