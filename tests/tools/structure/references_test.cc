// Comments and documents name files that are there: a file that is moved or renamed takes what is
// said of it along.

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
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

/// The ends of the paths of all files, at slashes: "time/sweep.h" and "sweep.h" among them.
std::set<std::string> ends_of_paths(const std::vector<std::string>& paths) {
  std::set<std::string> ends;
  for (const std::string& path : paths)
    for (size_t at = 0; at != path.npos; at = path.find('/', at + 1))
      ends.insert(path.substr(at == 0 ? 0 : at + 1));
  return ends;
}

/// Returns whether the text names a file that is there, or one of others. NCCL's begin with "src/".
bool is_right(const std::string& named, const std::set<std::string>& known) {
  return known.contains(named) || kNotOurs.contains(named) || named.starts_with("src/");
}

/// Returns "FILE: NAME" for each name of a file in `text` that is wrong.
std::string wrong_names(const std::string& file, const std::string& text,
                        const std::set<std::string>& known) {
  static const std::regex name("[A-Za-z0-9][A-Za-z0-9_/]*\\.(h|cc|cu|py)\\b");
  std::string wrong;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it)
    if (!is_right(it->str(), known))
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

TEST_CASE("references: a file that a comment, a README or ARCHITECTURE.md names is there") {
  std::vector<std::string> paths = {"orrery.h"};
  for (const SourceFile& file : source_files({".h", ".cc", ".cu", ".py"}))
    paths.push_back(file.path);
  const std::set<std::string> known = ends_of_paths(paths);
  std::string wrong;
  for (const SourceFile& file : source_files({".h", ".cc"}))
    if (file.path != "tests/tools/structure/references_test.cc")
      wrong += wrong_names(file.path, comments(file.text), known);
  for (const SourceFile& file : source_files({".md"}))
    // These say where tables of others are from, and of which tree a list is.
    if (!file.path.starts_with("tests/data/") && !file.path.starts_with("tests/mutation/"))
      wrong += wrong_names(file.path, file.text, known);
  for (const std::string name : {"ARCHITECTURE.md", "README.md"})
    wrong += wrong_names(name, text_of(std::string(ORRERY_SOURCE_ROOT) + "/" + name), known);
  CHECK(wrong == "");
}

TEST_CASE("references: a wrong name is found") {
  const std::set<std::string> known = ends_of_paths({"simulator/time/sweep.h"});
  CHECK(wrong_names("f", "sweep.h, time/sweep.h, simulator/time/sweep.h, cuda.h, src/any.cc",
                    known) == "");
  CHECK(wrong_names("f", "(swept.h); space/sweep.h, imulator/time/sweep.h", known) ==
        "f: swept.h\nf: space/sweep.h\nf: imulator/time/sweep.h\n");
}

}  // namespace
}  // namespace orrery::test
