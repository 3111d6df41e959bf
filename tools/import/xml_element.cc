#include "tools/import/xml_element.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/base/utf8.h"

namespace orrery {

std::optional<std::string> XmlElement::word(const char* attribute) const {
  const pugi::xml_attribute found = node_.attribute(attribute);
  if (!found) {
    add_error(fmt::format("attribute \"{}\" is missing", attribute));
    return std::nullopt;
  }
  std::string value = found.value();
  if (has_control_character(value)) {
    add_error(attribute, "expected printable characters, got a control character");
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> XmlElement::whole(const char* attribute, WholeRange range) const {
  const std::optional<std::string> text = word(attribute);
  if (!text)
    return std::nullopt;
  int64_t value = 0;
  const char* const end = text->data() + text->size();
  const std::from_chars_result read = std::from_chars(text->data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < range.least || value > range.most) {
    add_error(attribute, fmt::format("expected a whole number from {} to {}, got \"{}\"",
                                     range.least, range.most, *text));
    return std::nullopt;
  }
  return value;
}

std::vector<XmlElement> XmlElement::children(const char* name) const {
  std::vector<XmlElement> found;
  for (const pugi::xml_node child : node_.children()) {
    if (child.type() != pugi::node_element)
      continue;
    XmlElement element(child, fmt::format("{}/{}/{}", pointer_, child.name(), found.size()),
                       *lines_, *diagnostics_);
    if (std::string_view(child.name()) == name)
      found.push_back(std::move(element));
    else
      element.add_error(fmt::format("expected <{}>, got <{}>", name, child.name()));
  }
  return found;
}

void XmlElement::allow(const std::vector<std::string_view>& known) const {
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const std::string_view name = attribute.name();
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    const std::string_view near = near_miss(name, known);
    add_error(attribute.name(), near.empty()
                                    ? std::string("unknown attribute")
                                    : fmt::format("unknown attribute; did you mean \"{}\"?", near));
  }
}

void XmlElement::add(std::string pointer, std::string message) const {
  // pugixml's offset is that of the first letter of the name; the element begins at the "<" before
  // it.
  const std::ptrdiff_t offset = node_.offset_debug();
  const size_t begin = offset > 0 ? static_cast<size_t>(offset) - 1 : 0;
  diagnostics_->add({std::move(pointer), lines_->at(begin)}, std::move(message));
}

}  // namespace orrery
