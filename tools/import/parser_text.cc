#include "tools/import/parser_text.h"

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
    while (true) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ == text_.size())
        return std::nullopt;
      if (text_[at_] == '\t')
        return "a tab before an element";
      if (text_[at_] != '<')
        return "something other than an element";
      if (const Wrong wrong = element())
        return wrong;
    }
  }

 private:
  Wrong element() {
    if (starts_with("<!--"))
      return comment();
    if (starts_with("<?") || starts_with("<!"))
      return "a declaration";
    const bool closes = starts_with("</");
    at_ += closes ? 2 : 1;
    skip_name();
    if (closes && at_ < text_.size() && text_[at_] != '>')
      return "a space in a closing tag";
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
      return "spaces that leave no room for attributes";
    if (at_ < text_.size() && text_[at_] == '/')
      ++at_;
    if (at_ < text_.size() && text_[at_] == '\t')
      return "a tab within an element";
    if (at_ < text_.size() && text_[at_] != '>')
      return "attributes that are not divided by a space";
    ++at_;
    return std::nullopt;
  }

  Wrong comment() {
    // The first word of a comment is read as an element's name.
    const size_t begin = at_;
    at_ = text_.find_first_of("= >/\n\r", at_ + 4);
    if (at_ != std::string_view::npos && text_[at_] == '=')
      return "a comment whose first word has a =";
    at_ = text_.find("-->", begin + 4);
    at_ = at_ == std::string_view::npos ? text_.size() : at_ + 3;
    return std::nullopt;
  }

  Wrong attribute() {
    const size_t begin = at_;
    skip_name();
    if (at_ == text_.size() || text_[at_] != '=')
      return std::nullopt;  // a further space, or what element() refuses
    if (at_ - begin > kLongest)
      return "a name of more than 254 letters";
    ++at_;
    if (at_ == text_.size() || text_[at_] != '"')
      return "an attribute without double quotes";
    const size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    if (end - at_ - 1 > kLongest)
      return "an attribute of more than 254 letters";
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    if (value.find('&') != std::string_view::npos && text_.substr(begin, at_ - 1 - begin) != "name")
      return "an entity (&..;), which is not decoded";
    at_ = end + 1;
    return std::nullopt;
  }

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
