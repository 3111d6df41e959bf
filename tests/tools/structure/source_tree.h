#pragma once

// Reads the project's own sources, for the tests of its structure.

#include <string>
#include <vector>

namespace orrery::test {

struct SourceFile {
  std::string path;  // from the root: "models/base/id.h"
  std::string text;
};

/// Returns every file below the root's code folders whose name has one of the endings, sorted by
/// path. Each file is read once.
const std::vector<SourceFile>& source_files(const std::vector<std::string>& endings);

/// Returns `text` without comments and without the contents of string and character literals.
std::string code_only(const std::string& text);

/// Returns the texts of the string literals in `text`, without their escapes. Literals with only
/// white space between them are one.
std::vector<std::string> string_literals(const std::string& text);

/// Returns the folders that a meson.build enters by subdir('...'), in order.
std::vector<std::string> subdirs(const std::string& meson_path);

bool exists(const std::string& path);

}  // namespace orrery::test
