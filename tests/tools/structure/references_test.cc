// Comments and documents name files that are there: a file that is moved or renamed takes what is
// said of it along.

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/structure/source_tree.h"

namespace orrery::test {
namespace {

/// Files of others (CUDA, NCCL, MSCCL), and names in examples.
const std::set<std::string> kNotOurs = {"NAME_command.cc",
                                        "a.cc",
                                        "all_gather.h",
                                        "b.h",
                                        "cublasLt.h",
                                        "cuda.h",
                                        "device.h",
                                        "l.h",
                                        "layers.h",
                                        "models/said.h",
                                        "msccl_kernel_impl.h",
                                        "msccl_parser.cc",
                                        "prims_simple.h",
                                        "reduce_scatter.h"};

bool is_below_our_folders(const std::string& path) {
  const std::vector<std::string> top = subdirs("meson.build");
  return std::any_of(top.begin(), top.end(),
                     [&](const std::string& folder) { return path.starts_with(folder + "/"); });
}

/// Whether the text names a file that is there, or one of others.
bool is_right(const std::string& named, const std::set<std::string>& base_names) {
  if (kNotOurs.contains(named))
    return true;
  if (named.find('/') != named.npos)
    return !is_below_our_folders(named) || exists(named);
  return base_names.contains(named);
}

/// Returns "FILE: NAME" for each name of a file in `text` that is wrong.
std::string wrong_names(const std::string& file, const std::string& text,
                        const std::set<std::string>& base_names) {
  static const std::regex name("[A-Za-z0-9_/]*[A-Za-z0-9_]\\.(h|cc|cu|py)\\b");
  std::string wrong;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
    if (!is_right(it->str(), base_names))
      wrong += file + ": " + it->str() + "\n";
  return wrong;
}

std::string comments(const std::string& text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find("//"); at != line.npos)
      all += line.substr(at) + "\n";
  return all;
}

TEST_CASE("references: a file that a comment or a README names is there") {
  std::set<std::string> base_names;
  for (const SourceFile& file : source_files({".h", ".cc", ".cu", ".py"}))
    base_names.insert(file.path.substr(file.path.rfind('/') + 1));
  std::string wrong;
  for (const SourceFile& file : source_files({".h", ".cc"}))
    if (file.path != "tests/tools/structure/references_test.cc")
      wrong += wrong_names(file.path, comments(file.text), base_names);
  for (const SourceFile& file : source_files({".md"}))
    // These say where tables of others are from, and of which tree a list is.
    if (!file.path.starts_with("tests/data/") && !file.path.starts_with("tests/mutation/"))
      wrong += wrong_names(file.path, file.text, base_names);
  CHECK(wrong == "");
}

TEST_CASE("references: a wrong name is found") {
  const std::set<std::string> base_names = {"sweep.h"};
  CHECK(wrong_names("f", "sweep.h, tests/tools/structure/source_tree.h, cuda.h, src/any.cc",
                    base_names) == "");
  CHECK(wrong_names("f", "(swept.h); simulator/time/swept.cc", base_names) ==
        "f: swept.h\nf: simulator/time/swept.cc\n");
}

}  // namespace
}  // namespace orrery::test
