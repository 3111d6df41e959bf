#pragma once

// A document is JSON text as a tree of values with their positions, which errors name. Numbers keep
// their digits, and objects the order of their members. `//` and `/* */` comments are accepted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/size_limits.h"

namespace orrery {

class Document;
class DocumentWriter;

/// A `DocumentNode` is one value of a document. The node is cheap to copy, and the document must
/// outlive it.
class DocumentNode {
 public:
  enum class Kind : uint8_t { Null, Boolean, Number, Text, List, Object };

  Kind kind() const;
  bool boolean() const;             // requires a Boolean
  std::string_view number() const;  // as written; requires a Number
  const std::string& text() const;  // requires a Text

  /// Returns the number of items or members; 0 for a value that has none.
  size_t size() const;

  /// first() returns the first item or member; next() the one after this in its list or object.
  std::optional<DocumentNode> first() const;
  std::optional<DocumentNode> next() const;

  /// These iterate over the items or members in order.
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  /// Returns the value of the first member of that key.
  std::optional<DocumentNode> find(std::string_view key) const;

  const std::string& key() const;  // requires a member of an object
  Origin origin() const;           // where the value begins
  Origin key_origin() const;       // where its key begins, for a member of an object

  /// Returns whether both are one value of one document.
  friend bool operator==(DocumentNode, DocumentNode) = default;

 private:
  friend class Document;
  friend class DocumentWriter;
  DocumentNode(const Document& document, uint32_t index) : document_(&document), index_(index) {}

  const Document* document_;
  uint32_t index_;
};

class DocumentNode::Iterator {
 public:
  explicit Iterator(std::optional<DocumentNode> at) : at_(at) {}
  DocumentNode operator*() const { return *at_; }
  Iterator& operator++() {
    at_ = at_->next();
    return *this;
  }
  friend bool operator!=(const Iterator& a, const Iterator& b) {
    return a.at_.has_value() != b.at_.has_value();
  }

 private:
  std::optional<DocumentNode> at_;
};

inline DocumentNode::Iterator DocumentNode::begin() const {
  return Iterator(first());
}
inline DocumentNode::Iterator DocumentNode::end() const {
  return Iterator(std::nullopt);
}

/// Says whether strings may have control characters. Only the texts of other programs may, since
/// our messages do not name those texts.
enum class ControlCharacters : uint8_t { Refused, Accepted };

/// Says what messages call the text. In a line they name places by their columns alone.
enum class TextIs : uint8_t { File, Line };

/// Reads `text`, which must outlive the document and have at most Limits::file bytes. Adds errors
/// to the diagnostics. A duplicate key is an error after which the reading goes on; the first one
/// counts. Text that is not JSON, or that exceeds a limit, is an error that ends the reading.
class Document {
 public:
  Document(std::string_view text, Diagnostics& diagnostics, const Limits& limits = {},
           ControlCharacters control = ControlCharacters::Refused, TextIs what = TextIs::File);
  /// Copies a document. For each of its values, `replaces` is asked whether it writes another value
  /// in its place, or nothing, so that the value is left out. Values that it writes have the
  /// position of the one that they replace. More values than the limit, or deeper ones, are an
  /// error, which throws InputError.
  Document(const Document& original,
           FunctionRef<bool(DocumentNode value, DocumentWriter& instead)> replaces,
           Diagnostics& diagnostics, const Limits& limits);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  /// Returns the outermost value. The result is empty if the reading ended early.
  std::optional<DocumentNode> root() const;

 private:
  friend class DocumentNode;
  friend class DocumentWriter;
  class Builder;

  struct Record {
    DocumentNode::Kind kind = DocumentNode::Kind::Null;
    bool boolean = false;
    bool written = false;             // a Number that is not in the text: its digits are a string
    uint32_t begin = 0, end = 0;      // in the text
    uint32_t string = 0;              // a Text's place in strings_
    uint32_t key = 0, key_begin = 0;  // a member's: its place in strings_ and in the text
    uint32_t parent = 0, index = 0;   // index: among its parent's items
    uint32_t first = 0, next = 0;     // 0: none (the root is nobody's item)
    uint32_t last = 0, size = 0;
  };

  std::string pointer(uint32_t index) const;
  void append_pointer(uint32_t index, std::string& text) const;

  std::string_view text_;
  std::shared_ptr<const TextLines> lines_;  // copies share them
  std::vector<Record> records_;             // the root first
  std::vector<std::string> strings_;
  bool complete_ = false;
};

/// A DocumentWriter writes one value into a copy of a document, in the place of another.
class DocumentWriter {
 public:
  void number(int64_t value);
  void boolean(bool value);
  void text(std::string value);
  /// Writes a value of the document that is copied, as it stands there.
  void copy(DocumentNode value);
  void open_list();
  void close_list();

 private:
  friend class Document;
  DocumentWriter(Document& to, Diagnostics& diagnostics, const Limits& limits)
      : to_(to), diagnostics_(diagnostics), limits_(limits) {}

  void copy(const Document& from, uint32_t index,
            FunctionRef<bool(DocumentNode, DocumentWriter&)> replaces);
  uint32_t add(Document::Record record);
  uint32_t keep(std::string text);

  Document& to_;
  Diagnostics& diagnostics_;
  const Limits& limits_;
  std::vector<uint32_t> open_;
  Document::Record at_;  // the value in whose place the next ones are written
};

/// Returns the bytes of the file. Every file is read by this function. Throws InputError if the
/// file cannot be read, or has more than Limits::file bytes; the bytes beyond are not read.
std::string load_text(const std::string& path, const Limits& limits);

}  // namespace orrery
