#pragma once

// The XML that the parsers of RCCL and MSCCL read (mscclXmlGetNode, xmlGetNode): less than XML. No
// byte order mark, tabs and declarations; within an element no line breaks, a space before each
// attribute, none around =, and double quotes.

#include <optional>
#include <string>
#include <string_view>

#include "models/base/diagnostics.h"

namespace orrery {

/// What the parsers refuse first in a text that is XML, where, and what they expect there: "line 2
/// has a tab before an element; expected spaces or line breaks".
std::optional<std::string> refused_text(std::string_view text, const TextLines& lines);

}  // namespace orrery
