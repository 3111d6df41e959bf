#pragma once

// The project's own sources, for the tests of its structure.

#include <string>
#include <vector>

namespace orrery::test {

struct SourceFile {
  std::string path;  // from the root: "models/base/id.h"
  std::string text;
};

/// Every file below the root's code folders whose name has one of the endings, sorted by path; read
/// once.
const std::vector<SourceFile>& source_files(const std::vector<std::string>& endings);

/// `text` without what stands in comments and in string and character literals.
std::string code_only(const std::string& text);

/// The texts of the string literals in `text`, without their escapes. Those with nothing but space
/// between them are one.
std::vector<std::string> string_literals(const std::string& text);

/// The folders that a meson.build enters, in order: what subdir('...') names.
std::vector<std::string> subdirs(const std::string& meson_path);

bool exists(const std::string& path);

}  // namespace orrery::test
