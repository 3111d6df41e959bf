#include "tools/import/msccl_xml.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/base/characters.h"

namespace orrery {
namespace {

bool is_text(pugi::xml_node node) {
  return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
}

/// Returns where a node begins in the text. For an element, pugixml gives the offset of the first
/// letter of its name, and the element begins at the "<" before it. For text, it gives the offset
/// before the white space.
size_t begin_of(pugi::xml_node node) {
  const auto offset = static_cast<size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  if (!is_text(node))
    return offset > 0 ? offset - 1 : 0;
  const size_t space = std::string_view(node.value()).find_first_not_of(" \t\r\n");
  return space == std::string_view::npos ? offset : offset + space;
}

constexpr size_t kLongest = 254;        // MAX_STR_LEN - 1
constexpr size_t kMostAttributes = 16;  // MAX_ATTR_COUNT; parsers drop further ones

/// Goes over the text as the parsers do. Each function returns the first thing that is wrong, if
/// there is one.
class Scan {
 public:
  using Wrong = std::optional<std::string_view>;

  explicit Scan(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }

  Wrong all() {
    if (starts_with("\xEF\xBB\xBF"))
      return "a byte order mark (BOM); expected <";
    while (true) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ == text_.size())
        return std::nullopt;
      if (text_[at_] == '\t')
        return "a tab before an element; expected spaces or line breaks";
      if (text_[at_] != '<')
        return "something other than an element; expected <";
      if (const Wrong wrong = element())
        return wrong;
    }
  }

 private:
  Wrong element() {
    if (starts_with("<!--"))
      return comment();
    if (starts_with("<?") || starts_with("<!"))
      return "a declaration (<? or <!); expected an element";
    const bool closes = starts_with("</");
    at_ += closes ? 2 : 1;
    skip_name();
    if (closes && at_ < text_.size() && text_[at_] != '>')
      return "white space in a closing tag; expected >";
    size_t read = 0;  // attributes, and spaces that are taken for one
    bool extra = false;
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      extra |= at_ < text_.size() && text_[at_] == ' ';
      if (const Wrong wrong = attribute())
        return wrong;
      ++read;
    }
    if (extra && read > kMostAttributes)
      return "spaces that leave no room for attributes; expected one before each";
    if (at_ < text_.size() && text_[at_] == '/')
      ++at_;
    if (at_ < text_.size() && text_[at_] != '>')
      return is_break(text_[at_])
                 ? "a line break within an element; expected a space before each attribute"
             : text_[at_] == '\t'
                 ? "a tab within an element; expected a space before each attribute"
                 : "attributes that are not divided; expected a space before each";
    ++at_;
    return std::nullopt;
  }

  Wrong comment() {
    // The first word of a comment is read as an element's name.
    const size_t begin = at_;
    at_ = text_.find_first_of("= >/\n\r", at_ + 4);
    if (at_ != std::string_view::npos && text_[at_] == '=')
      return "a comment whose first word has a =";
    const size_t word = std::min(at_, text_.size()) - begin - 1;  // with its !--
    if (word > kLongest)
      return "a comment whose first word has more than 251 letters";
    at_ = text_.find("-->", begin + 4);
    at_ = at_ == std::string_view::npos ? text_.size() : at_ + 3;
    return std::nullopt;
  }

  Wrong attribute() {
    const size_t begin = at_;
    skip_name();
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (at_ == text_.size() || text_[at_] != '=')
      return name.empty() ? std::nullopt : without_value(name);
    if (name.size() > kLongest)
      return "a name of more than 254 letters";
    ++at_;
    if (at_ == text_.size() || text_[at_] != '"')
      return before_value();
    const size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    if (end - at_ - 1 > kLongest)
      return "an attribute of more than 254 letters";
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('&') != std::string_view::npos && !is_unread(name))
      return "an entity (&..;), which is not decoded";
    at_ = end + 1;
    return std::nullopt;
  }

  /// Judges a name that white space follows. The parsers take the text after a space for an
  /// attribute without a name.
  Wrong without_value(std::string_view name) const {
    if (at_ == text_.size() || (text_[at_] == ' ' && is_unread(name)))
      return std::nullopt;
    return text_[at_] == '\t'     ? "a tab before =; expected the = right after the name"
           : is_break(text_[at_]) ? "a line break before =; expected the = right after the name"
                                  : "a space before =; expected the = right after the name";
  }

  /// Names the character that stands between a "=" and its double quote.
  Wrong before_value() const {
    if (at_ == text_.size())
      return std::nullopt;
    return text_[at_] == ' '      ? "a space after =; expected a double quote"
           : text_[at_] == '\t'   ? "a tab after =; expected a double quote"
           : is_break(text_[at_]) ? "a line break after =; expected a double quote"
                                  : "single quotes; expected double quotes around a value";
  }

  /// Returns whether no parser looks at the attribute's value.
  static bool is_unread(std::string_view name) { return name == "name"; }
  static bool is_break(char c) { return c == '\n' || c == '\r'; }

  void skip_name() {
    const size_t end = text_.find_first_of("= >/\n\r\t", at_);
    at_ = end == std::string_view::npos ? text_.size() : end;
  }
  bool starts_with(std::string_view begin) const { return text_.substr(at_).starts_with(begin); }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

XmlDocument::XmlDocument(std::string_view text, const TextLines& lines, Diagnostics& diagnostics)
    : lines_(lines), diagnostics_(diagnostics) {
  // The document is parsed as a fragment, so that text beside the element is kept and is an error.
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

std::optional<std::string> refused_text(std::string_view text, const TextLines& lines) {
  Scan scan(text);
  if (const Scan::Wrong wrong = scan.all())
    return fmt::format("line {} has {}", lines.at(scan.at()).line, *wrong);
  return std::nullopt;
}

}  // namespace orrery
