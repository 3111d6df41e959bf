#pragma once

// These are short ways to write programs, and to read a builder's errors.

#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/program/builder.h"
#include "models/program/rules.h"
#include "tests/models/program/lists.h"

namespace orrery::test {

/// Returns a request for op `what` of the operands `of`.
inline OpRequest op(std::string name, std::string_view what, std::vector<std::string> of,
                    std::initializer_list<std::pair<std::string, Attribute>> given = {}) {
  OpRequest request;
  request.name = std::move(name);
  const OpName named = op_named(what).value();
  request.kind = named.kind;
  request.issue = named.issue;
  request.operands = std::move(of);
  for (const auto& [key, value] : given)
    request.attributes.set(key, value);
  return request;
}

inline OpRequest at_site(OpRequest request, std::string site) {
  request.site = std::move(site);
  return request;
}

inline OpRequest donating(OpRequest request, std::vector<std::string> donated) {
  request.donated = std::move(donated);
  return request;
}

/// `Lines` are lines of text that a failing test prints.
struct Lines {
  Lines() = default;
  Lines(std::initializer_list<std::string> some) : lines(some) {}
  friend bool operator==(const Lines&, const Lines&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Lines& texts) {
    for (const std::string& line : texts.lines)
      out << "\n  " << line;
    return out;
  }

  std::vector<std::string> lines;
};

/// Returns the devices in [first, last).
inline std::vector<LogicalId> devices(uint32_t first, uint32_t last) {
  std::vector<LogicalId> ids;
  for (uint32_t d = first; d < last; ++d)
    ids.emplace_back(d);
  return ids;
}

/// A `Building` builds a program on the mesh {x: 4} with the argument `a`, f32[4], which varies
/// along x. A test adds the threads.
class Building {
 public:
  explicit Building(Mesh mesh = Mesh({{"x", 4}}), Checks checks = Checks::States)
      : builder(mesh, checks, diagnostics) {
    builder.argument("a", Dtype::F32, {4}, {"x"});
  }

  Building& thread(std::string name, std::vector<LogicalId> ids) {
    builder.thread(std::move(name), std::move(ids));
    return *this;
  }
  Building& add(OpRequest request) {
    builder.op(std::move(request));
    return *this;
  }
  Building& output(std::string name) {
    builder.output(std::move(name));
    return *this;
  }

  /// Finishes the program. Returns "pointer: message" for each error, in file order; empty if there
  /// is none.
  Lines errors() {
    program = builder.finish();
    Lines texts;
    try {
      diagnostics.throw_if_any();
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics())
        texts.lines.push_back(diagnostic.origin.pointer + ": " + diagnostic.message);
    }
    return texts;
  }

  /// Returns the finished program. Throws InputError if it is invalid.
  Program finish() {
    program = builder.finish();
    diagnostics.throw_if_any();
    return program;
  }

  Diagnostics diagnostics = Diagnostics("test.json");
  ProgramBuilder builder;
  Program program;
};

/// An `Spmd` is a Building with a thread "main" on every device of {x: 4}.
class Spmd : public Building {
 public:
  Spmd() { thread("main", devices(0, 4)); }
};

}  // namespace orrery::test
