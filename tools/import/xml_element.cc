#include "tools/import/xml_element.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/base/characters.h"

namespace orrery {
namespace {

bool is_text(pugi::xml_node node) {
  return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
}

/// Where a node begins in the text. pugixml's offset of an element is that of the first letter of
/// its name; the element begins at the "<" before it. That of text is before its white space.
size_t begin_of(pugi::xml_node node) {
  const auto offset = static_cast<size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  if (!is_text(node))
    return offset > 0 ? offset - 1 : 0;
  const size_t space = std::string_view(node.value()).find_first_not_of(" \t\r\n");
  return space == std::string_view::npos ? offset : offset + space;
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, const TextLines& lines, Diagnostics& diagnostics)
    : lines_(lines), diagnostics_(diagnostics) {
  // As a fragment, so that text beside the element is kept, and is an error.
  const pugi::xml_parse_result parsed = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (parsed)
    return;
  const size_t at = std::min(static_cast<size_t>(parsed.offset), text.size());
  const bool ends_within = text.find('>', at) == std::string_view::npos;
  diagnostics.add({"", lines.at(at)},
                  ends_within ? "the file ends within this element"
                              : fmt::format("this is no XML: {}", parsed.description()));
}

pugi::xml_node XmlDocument::root(std::string_view name, std::string_view what) const {
  pugi::xml_node found;
  for (const pugi::xml_node node : document_.children()) {
    const TextPosition at = lines_.at(begin_of(node));
    if (is_text(node)) {
      diagnostics_.add({"", at},
                       fmt::format("expected {}, <{}>, and nothing else, got text", what, name));
    } else if (node.type() == pugi::node_element) {
      if (found)
        diagnostics_.add({"", at},
                         node.name() == name
                             ? fmt::format("expected one <{}> in a file, got a second one", name)
                             : fmt::format("expected one <{}> in a file and nothing else, got <{}>",
                                           name, node.name()));
      else if (node.name() != name)
        diagnostics_.add({"", at},
                         fmt::format("expected {}, <{}>, got <{}>", what, name, node.name()));
      if (!found)
        found = node;
    }
  }
  if (!found && diagnostics_.empty())
    diagnostics_.add({"", TextPosition{1, 1}},
                     fmt::format("expected {}, <{}>, got no element", what, name));
  return found;
}

uint32_t XmlElement::line() const {
  return lines_->at(begin_of(node_)).line;
}

std::optional<std::string> XmlElement::word(const char* attribute) const {
  const pugi::xml_attribute found = node_.attribute(attribute);
  if (!found) {
    add_error(fmt::format("attribute \"{}\" is missing", attribute));
    return std::nullopt;
  }
  std::string value = found.value();
  if (value.size() > static_cast<size_t>(limits_->text)) {
    add_error(attribute, beyond(*limits_, &Limits::text, static_cast<int64_t>(value.size())));
    return std::nullopt;
  }
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
  const size_t digits = text->starts_with('-') ? 1 : 0;
  if (digits + 1 < text->size() && (*text)[digits] == '0' && read.ptr == end) {
    add_error(attribute, fmt::format("expected a whole number without a leading 0, which the "
                                     "runtimes read as octal, got \"{}\"",
                                     *text));
    return std::nullopt;
  }
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
    if (is_text(child))
      diagnostics_->add({pointer_, lines_->at(begin_of(child))},
                        fmt::format("expected <{}>, got text", name));
    if (child.type() != pugi::node_element)
      continue;
    XmlElement element(child, fmt::format("{}/{}/{}", pointer_, child.name(), found.size()),
                       *lines_, *limits_, *diagnostics_);
    if (std::string_view(child.name()) == name)
      found.push_back(std::move(element));
    else
      element.add_error(fmt::format("expected <{}>, got <{}>", name, child.name()));
  }
  return found;
}

bool XmlElement::has_children() const {
  const auto is_element = [](const pugi::xml_node& child) {
    return child.type() == pugi::node_element;
  };
  return std::ranges::any_of(node_.children(), is_element);
}

bool XmlElement::among_first(std::string_view attribute) const {
  size_t left = 16;  // MAX_ATTR_COUNT
  for (const pugi::xml_attribute each : node_.attributes()) {
    if (left-- == 0)
      return false;
    if (each.name() == attribute)
      return true;
  }
  return false;
}

std::vector<std::string_view> XmlElement::unknown(std::span<const std::string_view> known) const {
  std::vector<std::string_view> result;
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const std::string_view name = attribute.name();
    if (node_.attribute(attribute.name()) != attribute) {
      add_error(attribute.name(), "expected the attribute once, got it again");
      continue;
    }
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    const std::string_view near = near_miss(name, {known.begin(), known.end()});
    if (!near.empty() && !has(std::string(near).c_str()))
      add_error(attribute.name(), fmt::format("unknown attribute; did you mean \"{}\"?", near));
    else
      result.push_back(name);
  }
  return result;
}

void XmlElement::add(std::string pointer, std::string message) const {
  diagnostics_->add({std::move(pointer), lines_->at(begin_of(node_))}, std::move(message));
}

}  // namespace orrery
