#include "tools/import/parser_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace orrery {
namespace {

constexpr size_t kLongest = 254;        // MAX_STR_LEN - 1
constexpr size_t kMostAttributes = 16;  // MAX_ATTR_COUNT: further ones are dropped

/// Goes over the text as the parsers do. Each function returns what is wrong, or nothing.
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

  /// A name that white space follows: the parsers take what comes after a space for an attribute
  /// without a name.
  Wrong without_value(std::string_view name) const {
    if (at_ == text_.size() || (text_[at_] == ' ' && is_unread(name)))
      return std::nullopt;
    return text_[at_] == '\t'     ? "a tab before =; expected the = right after the name"
           : is_break(text_[at_]) ? "a line break before =; expected the = right after the name"
                                  : "a space before =; expected the = right after the name";
  }

  /// What is between a = and its double quote.
  Wrong before_value() const {
    if (at_ == text_.size())
      return std::nullopt;
    return text_[at_] == ' '      ? "a space after =; expected a double quote"
           : text_[at_] == '\t'   ? "a tab after =; expected a double quote"
           : is_break(text_[at_]) ? "a line break after =; expected a double quote"
                                  : "single quotes; expected double quotes around a value";
  }

  /// Whether nothing looks at the attribute's value.
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

std::optional<std::string> refused_text(std::string_view text, const TextLines& lines) {
  Scan scan(text);
  if (const Scan::Wrong wrong = scan.all())
    return fmt::format("line {} has {}", lines.at(scan.at()).line, *wrong);
  return std::nullopt;
}

}  // namespace orrery
