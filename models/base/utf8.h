#pragma once

// What text from a file may hold, since it goes to terminals and tables as it is.

#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

/// Where the first byte is that no UTF-8 text has there (RFC 3629); empty where all is UTF-8.
std::optional<size_t> not_utf8_at(std::string_view text);

/// Whether UTF-8 text has a control character (C0, DEL or C1): it may steer or tear what shows it.
bool has_control_character(std::string_view text);

}  // namespace orrery
