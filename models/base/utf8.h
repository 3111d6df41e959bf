#pragma once

// Checks of text from files, which is printed to terminals unchanged.

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

/// The offset of the first byte that is not valid UTF-8 (RFC 3629); empty where all is.
std::optional<size_t> not_utf8_at(std::string_view text);

/// Whether UTF-8 text has a control character (C0, DEL or C1), which could control the terminal.
bool has_control_character(std::string_view text);

}  // namespace orrery
