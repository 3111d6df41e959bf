#include <cstdio>
#include <memory>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns the words that bash offers after `words`, one per line. The last of `words` is being
/// typed.
std::string completed(const std::string& words) {
  const TemporaryFolder folder;
  folder.file("ring.json", "{}");
  const std::string script = folder.file("orrery.bash", ran({"completion", "bash"}).out);
  const std::string command = "cd " + folder.path() + " && bash -c 'source " + script +
                              "; COMP_WORDS=(orrery " + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _orrery; "
                              "printf \"%s\\n\" \"${COMPREPLY[@]}\" | LC_ALL=C sort' 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string text;
  char block[256];
  while (std::fgets(block, sizeof block, pipe.get()) != nullptr)
    text += block;
  return text;
}

TEST_CASE("completion for bash: commands, options, their words, files") {
  CHECK(completed("sh") == "show\n");
  CHECK(completed("show sche") == "schedule\nschema\n");
  CHECK(completed("show schema s") == "scenario\n");
  CHECK(completed("run --form") == "--format\n");
  CHECK(completed("run --format \"\"") == "json\ntext\n");
  CHECK(completed("run --annotate \"\"") == "github\n");
  CHECK(completed("run -o ri") == "ring.json\n");
  CHECK(completed("run ri") == "ring.json\n");
  CHECK(completed("completion \"\"").find("bash\nzsh\n") != std::string::npos);
}

TEST_CASE("completion for zsh: a function for each command, with its options") {
  const std::string script = ran({"completion", "zsh"}).out;
  CHECK(script.compare(0, 16, "#compdef orrery\n") == 0);
  CHECK(script.find("_orrery_show_schema() {") != std::string::npos);
  CHECK(script.find("'--format[The form of the report]:text|json:(text json)'") !=
        std::string::npos);
  CHECK(script.find("'(-o --output)'{-o,--output}'[Write the report to this file]:FILE:_files'") !=
        std::string::npos);
}

TEST_CASE("manual: has every command, with its options and an example") {
  const std::string page = ran({"manual"}).out;
  CHECK(page.compare(0, 12, ".TH ORRERY 1") == 0);
  CHECK(page.find(".SS \\fBorrery run\\fR \\fIFILE\\fR ...\n") != std::string::npos);
  CHECK(page.find("\\fB\\-o, \\-\\-output\\fR \\fIFILE\\fR\nWrite the report to this file") !=
        std::string::npos);
  CHECK(page.find("  orrery show catalog h100\\-sxm\\-8\n") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
