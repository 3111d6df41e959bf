// Tests ./orrery on a small project: a current build starts at once, and a stale one never starts.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

/// A `Project` has the launcher, and the parts of this project that the launcher names. Its program
/// prints the text of models/said.h and its commit, and exits with the number of its arguments.
class Project {
 public:
  Project() {
    folder_.file("meson.build",
                 "project('small', 'cpp', version: '1')\nsubdir('models')\nsubdir('tools')\n");
    folder_.file(
        "meson_options.txt",
        "option('tests', type: 'boolean')\noption('loud', type: 'boolean', value: false)\n");
    folder_.file("models/meson.build", "said = static_library('said', 'said.cc')\n");
    folder_.file("models/said.cc", "#include \"said.h\"\nconst char* said() { return kSaid; }\n");
    says("first");
    folder_.file("simulator/meson.build", "");
    folder_.file("verifier/meson.build", "");
    folder_.file("tools/meson.build",
                 "version = vcs_tag(command: ['git', 'rev-parse', 'HEAD'], fallback: 'unknown',\n"
                 "  input: 'version.cc.in', output: 'version.cc')\n"
                 "executable('orrery', 'main.cc', version, link_with: said,\n"
                 "  cpp_args: get_option('loud') ? ['-DLOUD'] : [])\n");
    folder_.file("tools/version.cc.in", "const char* version() { return \"@VCS_TAG@\"; }\n");
    folder_.file("tools/main.cc",
                 "#include <cstdio>\nconst char* said();\nconst char* version();\n"
                 "int main(int n, char**) {\n#ifdef LOUD\n  std::puts(\"loud\");\n#endif\n"
                 "  std::printf(\"%s %s\\n\", said(), version());\n  return n - 1;\n}\n");
    folder_.file("off/ninja", "#!/bin/sh\nexit 1\n");
    std::filesystem::permissions(path("off/ninja"), std::filesystem::perms::owner_all);
    std::filesystem::copy(std::string(ORRERY_SOURCE_ROOT) + "/orrery", path("orrery"));
    REQUIRE(
        shell("cd " + path("") + " && git init -q && " + git() + "commit -q --allow-empty -m first")
            .status == 0);
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  void file(const std::string& name, const std::string& text) const { folder_.file(name, text); }
  void says(const std::string& text) const {
    file("models/said.h", "#pragma once\ninline const char* kSaid = \"" + text + "\";\n");
  }
  static std::string git() { return "git -c user.name=a -c user.email=a@b "; }

  std::string line(const std::string& said) const {
    return said + " " + shell("git -C " + path("") + " rev-parse HEAD").said;
  }
  Launched launch(const std::string& arguments = "") const {
    return shell(path("orrery") + " " + arguments);
  }
  /// Launches where nothing can be built.
  Launched launch_without_ninja(const std::string& arguments = "") const {
    return shell("PATH=" + path("off") + ":$PATH " + path("orrery") + " " + arguments);
  }

 private:
  TemporaryFolder folder_;
};

/// Returns the project, which is built once for all tests. Each test leaves it current.
const Project& project() {
  static const Project built;
  return built;
}

TEST_CASE("launcher: the first run builds, the second starts the program without ninja") {
  CHECK(project().launch("one two") == Launched{2, project().line("first")});
  CHECK(project().launch_without_ninja("one") == Launched{1, project().line("first")});
}

TEST_CASE("launcher: after a header changed, it builds") {
  project().says("second");
  CHECK(project().launch() == Launched{0, project().line("second")});
  project().says("first");
  CHECK(project().launch() == Launched{0, project().line("first")});
}

TEST_CASE("launcher: a file replaced by one with an older time is noticed") {
  project().launch();
  shell("cd " + project().path("models") + " && cp -p said.h new.h && mv new.h said.h");
  CHECK(project().launch_without_ninja().status == 3);
  project().launch();
}

TEST_CASE("launcher: a file changed during a build is built the next time") {
  project().launch();
  const std::string ninja = shell("command -v ninja").said;
  project().file("late/ninja", "#!/bin/sh\n" + ninja.substr(0, ninja.size() - 1) +
                                   " \"$@\"; status=$?\nsed -i s/third/fourth/ " +
                                   project().path("models/said.h") + "\nexit $status\n");
  std::filesystem::permissions(project().path("late/ninja"), std::filesystem::perms::owner_all);
  project().says("third");
  CHECK(shell("PATH=" + project().path("late") + ":$PATH " + project().path("orrery")) ==
        Launched{0, project().line("third")});
  CHECK(project().launch() == Launched{0, project().line("fourth")});
  project().says("first");
  project().launch();
}

TEST_CASE("launcher: a build description that changed is used") {
  const std::string before = text_of(project().path("models/meson.build"));
  project().launch();
  project().file("models/meson.build", "said = static_library('said', 'other.cc')\n");
  project().file("models/other.cc", "const char* said() { return \"other\"; }\n");
  CHECK(project().launch() == Launched{0, project().line("other")});
  project().file("models/meson.build", before);
  CHECK(project().launch() == Launched{0, project().line("first")});
}

TEST_CASE("launcher: a changed option of the build is used") {
  project().launch();
  shell("meson configure -Dloud=true " + project().path("build/release"));
  CHECK(project().launch() == Launched{0, "loud\n" + project().line("first")});
  shell("meson configure -Dloud=false " + project().path("build/release"));
  CHECK(project().launch() == Launched{0, project().line("first")});
}

TEST_CASE("launcher: asks ninja after a file was added, and again after it was removed") {
  project().launch();
  project().file("models/more.h", "");
  CHECK(project().launch_without_ninja().status == 3);
  project().launch();
  CHECK(project().launch_without_ninja().status == 0);
  std::filesystem::remove(project().path("models/more.h"));
  CHECK(project().launch_without_ninja().status == 3);
  project().launch();
}

TEST_CASE("launcher: a failed build is not run, however often it is tried") {
  project().launch();
  project().file("models/said.h", "this is no C++\n");
  for (int i = 0; i < 2; ++i) {
    const Launched launched = project().launch();
    CHECK(launched.status == 3);
    CHECK(launched.said.find("orrery: the build failed (above: what the compiler said)\n") !=
          std::string::npos);
  }
  project().says("first");
  CHECK(project().launch() == Launched{0, project().line("first")});
}

TEST_CASE("launcher: the version names a new commit") {
  project().launch();
  shell("cd " + project().path("") + " && " + Project::git() + "commit -q --allow-empty -m second");
  CHECK(project().launch() == Launched{0, project().line("first")});
}

TEST_CASE("launcher: a changed system header is noticed") {
  project().launch();
  // The list has the files that the compiler read. One more stands for a header outside the tree.
  const std::string header = project().path("off/system.h");
  shell("printf '%s\\0' " + header + " >>" + project().path("build/release/launcher.inputs"));
  CHECK(project().launch_without_ninja().status == 3);  // it is not there
  CHECK(text_of(project().path("build/release/launcher.inputs")).find("/cstdio") !=
        std::string::npos);
  project().launch();
}

TEST_CASE("launcher: two started at once after a change both run the new program") {
  project().launch();
  project().says("fifth");
  const std::string launcher = project().path("orrery");
  const std::string line = project().line("fifth");
  CHECK(shell(launcher + " & " + launcher + "; wait").said == line + line);
  project().says("first");
  project().launch();
}

TEST_CASE("launcher: works through a link and from any folder") {
  project().launch();
  std::filesystem::create_symlink(project().path("orrery"), project().path("off/link"));
  for (const std::string& command : std::vector<std::string>{
           "cd " + project().path("") + " && bash orrery",
           "cd " + project().path("") + " && ./orrery",
           "cd " + project().path("models") + " && ../orrery",
           "cd / && " + project().path("off/link"),
           "cd " + project().path("") + "/.. && ./$(basename " + project().path("") + ")/orrery"}) {
    CAPTURE(command);
    CHECK(shell(command) == Launched{0, project().line("first")});
  }
}

}  // namespace
}  // namespace orrery::test
