#pragma once

// Reads the XML of MSCCL's files: elements with their positions and attributes. It also finds what
// the runtimes' own parsers refuse.
//
// The parsers of RCCL and MSCCL (mscclXmlGetNode, xmlGetNode) accept less than XML. They accept no
// byte order mark, tabs or declarations. Within an element they accept no line breaks, and need a
// space before each attribute, none around "=", and double quotes. We read any XML with pugixml, so
// that errors have positions, and refused_text() finds what those parsers would refuse.
//
// Every error is collected in Diagnostics. A getter that has added one returns an empty optional.

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

namespace orrery {

/// The bounds of a whole number, both included.
struct WholeRange {
  int64_t least = 0;
  int64_t most = std::numeric_limits<int32_t>::max();
};

/// This is a text that is parsed as XML. The constructor adds an error if it is not XML.
class XmlDocument {
 public:
  /// `lines` and `diagnostics` must outlive the document.
  XmlDocument(std::string_view text, const TextLines& lines, Diagnostics& diagnostics);

  /// Returns the outermost element. Adds an error if it is not called `name`, and for each further
  /// element and text beside it. `what` is the expected thing in words.
  pugi::xml_node root(std::string_view name, std::string_view what) const;

 private:
  const TextLines& lines_;
  Diagnostics& diagnostics_;
  pugi::xml_document document_;
};

/// This is one element of a document that is being read. A getter adds an error and returns an
/// empty optional if the attribute is missing or invalid.
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
  /// Returns the line on which it begins, counted from 1.
  uint32_t line() const;

  std::optional<std::string> word(const char* attribute) const;
  std::optional<int64_t> whole(const char* attribute, WholeRange range) const;

  /// Returns the children that are called `name`. Adds an error for each other child and for text.
  std::vector<XmlElement> children(const char* name) const;

  bool has_children() const;

  /// Returns whether the attribute is among the first 16. The runtimes' parsers read no more.
  bool among_first(std::string_view attribute) const;

  /// Returns the attributes that are not in `known`. Adds an error for each that is repeated, and
  /// for each that looks like a misspelling of a known one that is missing.
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

/// Returns the first thing in an XML text that the runtimes' parsers refuse: "line 2 has a tab
/// before an element; expected spaces or line breaks". The result is empty if there is none.
std::optional<std::string> refused_text(std::string_view text, const TextLines& lines);

}  // namespace orrery
