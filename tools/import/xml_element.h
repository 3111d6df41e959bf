#pragma once

// Elements of an XML text with their positions and attributes. Every error is collected.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The bounds of a whole number, both included.
struct WholeRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int32_t>::max();
};

/// The text as XML. Adds an error where it is none.
class XmlDocument {
 public:
  /// `lines` and `diagnostics` must outlive the document.
  XmlDocument(std::string_view text, const TextLines& lines, Diagnostics& diagnostics);

  /// The only element that is not inside another. Adds an error where it is called otherwise, and
  /// for each further element and text beside it. `what` says what was expected.
  pugi::xml_node root(std::string_view name, std::string_view what) const;

 private:
  const TextLines& lines_;
  Diagnostics& diagnostics_;
  pugi::xml_document document_;
};

/// One element of a document that is being read. A getter adds an error and returns an empty
/// optional where the attribute is missing or invalid.
class XmlElement {
 public:
  /// `lines`, `limits` and `diagnostics` must outlive the element; `pointer` is its path:
  /// "/algo/gpu/0".
  XmlElement(pugi::xml_node node, std::string pointer, const TextLines& lines, const Limits& limits,
             Diagnostics& diagnostics)
      : node_(node),
        pointer_(std::move(pointer)),
        lines_(&lines),
        limits_(&limits),
        diagnostics_(&diagnostics) {}

  std::string_view name() const { return node_.name(); }
  bool has(const char* attribute) const { return !node_.attribute(attribute).empty(); }
  /// Where it begins, from 1.
  uint32_t line() const;

  std::optional<std::string> word(const char* attribute) const;
  std::optional<int64_t> whole(const char* attribute, WholeRange range) const;

  /// The children, each of which must be called `name`; others, and text, add an error.
  std::vector<XmlElement> children(const char* name) const;

  bool has_children() const;

  /// Whether it is there among the first 16 attributes: the runtimes' parsers read no more.
  bool among_first(std::string_view attribute) const;

  /// The attributes that are not in `known`. Adds an error for those that are repeated, and for
  /// those that are near misses of a known one that is missing.
  std::vector<std::string_view> unknown(std::span<const std::string_view> known) const;

  /// Adds an error at the element, or at one of its attributes.
  void add_error(std::string message) const { add(pointer_, std::move(message)); }
  void add_error(const char* attribute, std::string message) const {
    add(pointer_ + "/" + attribute, std::move(message));
  }

 private:
  void add(std::string pointer, std::string message) const;

  pugi::xml_node node_;
  std::string pointer_;
  const TextLines* lines_;
  const Limits* limits_;
  Diagnostics* diagnostics_;
};

}  // namespace orrery
