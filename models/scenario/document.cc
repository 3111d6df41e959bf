#include "models/scenario/document.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/characters.h"
#include "models/base/check.h"
#include "models/scenario/syntax.h"

namespace orrery {

namespace {

/// It counts the characters that the parser has read, since the parser's events have no positions.
class TrackingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator() = default;
  TrackingIterator(const char* at, size_t* consumed) : at_(at), consumed_(consumed) {}

  reference operator*() const { return *at_; }
  TrackingIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  TrackingIterator operator++(int) {
    TrackingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const TrackingIterator& a, const TrackingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_ = nullptr;
  size_t* consumed_ = nullptr;
};

bool in_number(char c) {
  return is_digit(c) || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
}

}  // namespace

/// It makes records of the parser's events, in the order of the text.
class Document::Builder {
 public:
  Builder(Document& document, Diagnostics& diagnostics, const Limits& limits,
          ControlCharacters control, TextIs what)
      : document_(document),
        diagnostics_(diagnostics),
        limits_(limits),
        control_(control),
        what_(what),
        text_(document.text_) {}

  size_t* consumed() { return &consumed_; }

  bool null() { return scalar(DocumentNode::Kind::Null, consumed_ - 4); }
  bool boolean(bool value) {
    if (!scalar(DocumentNode::Kind::Boolean, consumed_ - (value ? 4 : 5)))
      return false;
    document_.records_.back().boolean = value;
    return true;
  }
  bool number_integer(int64_t) { return number(); }
  bool number_unsigned(uint64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
  bool binary(const std::vector<uint8_t>&) {
    ORRERY_CHECK(false, "JSON text has no binary values");
    return false;
  }
  bool string(const std::string& value) {
    if (too_long(value) || !scalar(DocumentNode::Kind::Text, string_begin()))
      return false;
    document_.records_.back().string = keep(value);
    if (control_ == ControlCharacters::Refused && has_control_character(value)) {
      const auto index = static_cast<uint32_t>(document_.records_.size() - 1);
      diagnostics_.add({document_.pointer(index), document_.lines_->at(string_begin())},
                       "expected printable characters, got a control character");
    }
    return true;
  }
  bool start_object(size_t) {
    keys_.emplace_back();
    return open(DocumentNode::Kind::Object);
  }
  bool key(const std::string& name) {
    if (too_long(name))
      return false;
    const size_t begin = string_begin();
    key_ = keep(name);
    key_begin_ = static_cast<uint32_t>(begin);
    after_ = SyntaxAfter::Key;
    seen_ = consumed_;
    if (control_ == ControlCharacters::Refused && has_control_character(name))
      diagnostics_.add({document_.pointer(open_.back()), document_.lines_->at(key_begin_)},
                       "expected a key of printable characters, got a control character");
    const auto [earlier, is_new] = keys_.back().emplace(name, key_begin_);
    duplicate_ = !is_new;
    if (duplicate_) {
      std::string pointer = document_.pointer(open_.back()) + '/';
      append_pointer_part(name, pointer);
      diagnostics_.add({std::move(pointer), document_.lines_->at(key_begin_)},
                       fmt::format("duplicate key {}; the first is at {}", in_quotes(name),
                                   place(earlier->second)));
    }
    return true;
  }
  bool end_object() {
    keys_.pop_back();
    return close();
  }
  bool start_array(size_t) { return open(DocumentNode::Kind::List); }
  bool end_array() { return close(); }

  template <class Exception>
  bool parse_error(size_t, const std::string&, const Exception& exception) {
    constexpr int kNumberOverflow = 406;  // nlohmann's code for a number too large for a double
    const SyntaxContext context{
        .after = after_,
        .enclosed = !open_.empty(),
        .in_object = !open_.empty() && record(open_.back()).kind == DocumentNode::Kind::Object,
        .seen = seen_,
        .consumed = consumed_,
        .number_overflow = exception.id == kNumberOverflow,
        .whole = what_ == TextIs::Line ? "line" : "file",
    };
    SyntaxError error = explain_syntax(text_, context);
    std::string opened;
    if (error.at_end && !open_.empty()) {
      opened =
          fmt::format(" (the {} begun at {} is not closed)", context.in_object ? "object" : "list",
                      place(record(open_.back()).begin));
    }
    Origin at{open_.empty() ? "" : document_.pointer(open_.back()),
              document_.lines_->at(error.offset)};
    if (error.at_value && context.in_object) {
      at.pointer += '/';
      append_pointer_part(document_.strings_[key_], at.pointer);
    } else if (error.at_value && context.enclosed) {
      at.pointer += fmt::format("/{}", record(open_.back()).size);
    }
    diagnostics_.add(at, error.message + opened);
    return false;
  }

 private:
  Record& record(uint32_t index) { return document_.records_[index]; }

  /// Returns the place of a byte as messages name it: "1:22", or "column 22".
  std::string place(size_t offset) const {
    const TextPosition at = document_.lines_->at(offset);
    return what_ == TextIs::Line ? fmt::format("column {}", at.column)
                                 : fmt::format("{}:{}", at.line, at.column);
  }

  static void append_pointer_part(std::string_view key, std::string& text);
  friend class Document;

  uint32_t keep(const std::string& value) {
    document_.strings_.push_back(value);
    return static_cast<uint32_t>(document_.strings_.size() - 1);
  }

  void refuse(size_t offset, std::string message) {
    diagnostics_.add(
        {open_.empty() ? "" : document_.pointer(open_.back()), document_.lines_->at(offset)},
        std::move(message));
  }

  // Texts are limited, since names are repeated in many messages and reports.
  bool too_long(const std::string& text) {
    const auto size = static_cast<int64_t>(text.size());
    if (size <= limits_.text)
      return false;
    refuse(string_begin(), beyond(limits_, &Limits::text, size));
    return true;
  }

  // Searches back for the opening quote. A quote in the string follows an odd number of
  // backslashes.
  size_t string_begin() const {
    size_t at = consumed_ - 1;
    while (true) {
      --at;
      if (text_[at] != '"')
        continue;
      size_t slashes = 0;
      while (slashes < at && text_[at - 1 - slashes] == '\\')
        ++slashes;
      if (slashes % 2 == 0)
        return at;
    }
  }

  // The parser has read one character past a number, except at the end of the text. That character
  // may look like more of the number (01), so the grammar decides where the number ends.
  bool number() {
    size_t begin = consumed_ - 1;
    if (!in_number(text_[begin]))
      --begin;
    while (begin > 0 && in_number(text_[begin - 1]))
      --begin;
    return add(DocumentNode::Kind::Number, begin, begin + number_length(text_.substr(begin)));
  }

  bool scalar(DocumentNode::Kind kind, size_t begin) { return add(kind, begin, consumed_); }

  bool open(DocumentNode::Kind kind) {
    if (open_.size() >= static_cast<size_t>(limits_.nesting)) {
      refuse(consumed_ - 1, beyond(limits_, &Limits::nesting, "more"));
      return false;
    }
    if (!add(kind, consumed_ - 1, consumed_))
      return false;
    open_.push_back(static_cast<uint32_t>(document_.records_.size() - 1));
    after_ = SyntaxAfter::Open;
    return true;
  }

  bool close() {
    open_.pop_back();
    after_ = SyntaxAfter::Value;
    seen_ = consumed_;
    return true;
  }

  bool add(DocumentNode::Kind kind, size_t begin, size_t end) {
    if (document_.records_.size() >= static_cast<size_t>(limits_.values)) {
      refuse(begin, beyond(limits_, &Limits::values, "more"));
      return false;
    }
    const auto index = static_cast<uint32_t>(document_.records_.size());
    Record made;
    made.kind = kind;
    made.begin = static_cast<uint32_t>(begin);
    made.end = static_cast<uint32_t>(end);
    if (!open_.empty()) {
      Record& parent = record(open_.back());
      made.parent = open_.back();
      made.index = parent.size;
      const bool member = parent.kind == DocumentNode::Kind::Object;
      if (member) {
        made.key = key_;
        made.key_begin = key_begin_;
      }
      // The value of a duplicate key is read but not added to its object.
      if (!member || !duplicate_) {
        ++parent.size;
        if (parent.first == 0)
          parent.first = index;
        else
          record(parent.last).next = index;
        parent.last = index;
      }
    }
    document_.records_.push_back(made);
    after_ = SyntaxAfter::Value;
    seen_ = end;
    return true;
  }

  Document& document_;
  Diagnostics& diagnostics_;
  const Limits& limits_;
  const ControlCharacters control_;
  const TextIs what_;
  std::string_view text_;
  size_t consumed_ = 0;
  size_t seen_ = 0;  // where the last event's text ends
  SyntaxAfter after_ = SyntaxAfter::Nothing;
  std::vector<uint32_t> open_;
  std::vector<std::map<std::string, uint32_t>> keys_;  // where the keys of each open object begin
  uint32_t key_ = 0;
  uint32_t key_begin_ = 0;
  bool duplicate_ = false;
};

/// Appends the key escaped as in RFC 6901. Control characters are escaped as in JSON, so that
/// messages stay on one line.
void Document::Builder::append_pointer_part(std::string_view key, std::string& text) {
  const auto as_it_is = [](char c) { return c >= ' ' && c != 0x7f && c != '~' && c != '/'; };
  if (std::all_of(key.begin(), key.end(), as_it_is)) {
    text += key;
    return;
  }
  for (const char c : key) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      text += c;
  }
}

Document::Document(std::string_view text, Diagnostics& diagnostics, const Limits& limits,
                   ControlCharacters control, TextIs what)
    : text_(text), lines_(std::make_shared<const TextLines>(text)) {
  // The parser would take a byte of 0 for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    diagnostics.add({"", lines_->at(nul)}, "expected text, got a byte of 0");
    return;
  }
  // A value follows a comma or is the first of a list or an object. So records are never moved.
  const auto values =
      1 + std::ranges::count_if(text, [](char c) { return c == ',' || c == '[' || c == '{'; });
  records_.reserve(static_cast<size_t>(std::min<int64_t>(values, limits.values)));
  constexpr size_t kFew = 128;
  strings_.reserve(kFew);
  Builder builder(*this, diagnostics, limits, control, what);
  const TrackingIterator begin(text.data(), builder.consumed());
  const TrackingIterator end(text.data() + text.size(), builder.consumed());
  complete_ = nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json,
                                        /*strict=*/true, /*ignore_comments=*/true);
}

std::optional<DocumentNode> Document::root() const {
  if (!complete_)
    return std::nullopt;
  return DocumentNode(*this, 0);
}

std::string Document::pointer(uint32_t index) const {
  std::string text;
  append_pointer(index, text);
  return text;
}

void Document::append_pointer(uint32_t index, std::string& text) const {
  if (index == 0)
    return;
  const Record& record = records_[index];
  append_pointer(record.parent, text);
  text += '/';
  if (records_[record.parent].kind == DocumentNode::Kind::Object) {
    Builder::append_pointer_part(strings_[record.key], text);
    return;
  }
  std::array<char, 10> digits{};  // of 32 bits
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), record.index).ptr;
  text.append(digits.data(), end);
}

DocumentNode::Kind DocumentNode::kind() const {
  return document_->records_[index_].kind;
}

bool DocumentNode::boolean() const {
  ORRERY_CHECK(kind() == Kind::Boolean, "the value is a boolean");
  return document_->records_[index_].boolean;
}

std::string_view DocumentNode::number() const {
  ORRERY_CHECK(kind() == Kind::Number, "the value is a number");
  const Document::Record& record = document_->records_[index_];
  if (record.written)
    return document_->strings_[record.string];
  return document_->text_.substr(record.begin, record.end - record.begin);
}

const std::string& DocumentNode::text() const {
  ORRERY_CHECK(kind() == Kind::Text, "the value is a string");
  return document_->strings_[document_->records_[index_].string];
}

size_t DocumentNode::size() const {
  return document_->records_[index_].size;
}

std::optional<DocumentNode> DocumentNode::first() const {
  const uint32_t first = document_->records_[index_].first;
  if (first == 0)
    return std::nullopt;
  return DocumentNode(*document_, first);
}

std::optional<DocumentNode> DocumentNode::next() const {
  const uint32_t next = document_->records_[index_].next;
  if (next == 0)
    return std::nullopt;
  return DocumentNode(*document_, next);
}

std::optional<DocumentNode> DocumentNode::find(std::string_view key) const {
  if (kind() != Kind::Object)
    return std::nullopt;
  const std::vector<Document::Record>& records = document_->records_;
  for (uint32_t at = records[index_].first; at != 0; at = records[at].next)
    if (document_->strings_[records[at].key] == key)
      return DocumentNode(*document_, at);
  return std::nullopt;
}

const std::string& DocumentNode::key() const {
  return document_->strings_[document_->records_[index_].key];
}

Origin DocumentNode::origin() const {
  return {document_->pointer(index_), document_->lines_->at(document_->records_[index_].begin)};
}

Origin DocumentNode::key_origin() const {
  return {document_->pointer(index_), document_->lines_->at(document_->records_[index_].key_begin)};
}

std::string load_text(const std::string& path, const Limits& limits) {
  const auto refuse = [&](const std::string& why) { throw InputError(path, {{{}, why}}); };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "rb"), &std::fclose);
  if (file == nullptr)
    refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  // One byte more than the limit tells that the file is too large.
  const size_t most = static_cast<size_t>(limits.file) + 1;
  std::string text;
  std::string block(size_t{1} << 16U, '\0');
  while (text.size() < most) {
    const size_t count =
        std::fread(block.data(), 1, std::min(block.size(), most - text.size()), file.get());
    text.append(block, 0, count);
    if (count == 0)
      break;
  }
  if (std::ferror(file.get()) != 0)
    refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (text.size() == most)
    refuse(beyond(limits, &Limits::file, "more"));
  return text;
}

}  // namespace orrery
