// Does what GitHub does with tools/ci/action.yml, and pre-commit with .pre-commit-hooks.yaml, with
// the program of this build in place of a download.

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

std::string in_project(const std::string& path) {
  return std::string(ORRERY_SOURCE_ROOT) + "/" + path;
}

/// Returns `text` with `to` in place of the only occurrence of `from`.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
  REQUIRE(text.find(from) == std::string::npos);
  return text;
}

/// Returns the action's only step as a script: its variables and its text. `inputs` has the value
/// of each expression: "inputs.version".
std::string script_of_action(const std::map<std::string, std::string>& inputs) {
  std::string action = text_of(in_project("tools/ci/action.yml"));
  for (const auto& [name, value] : inputs)
    action = with(std::move(action), "${{ " + name + " }}", value);
  REQUIRE(action.find("${{") == std::string::npos);
  const std::string begin_of_text = "      run: |\n";
  const size_t text = action.find(begin_of_text);
  REQUIRE(text != std::string::npos);
  REQUIRE(action.find(begin_of_text, text + 1) == std::string::npos);
  const size_t variables = action.find("      env:\n");
  REQUIRE(variables < text);
  const std::regex variable("        (\\w+): (.*)\n");
  std::string script;
  const std::string env = action.substr(variables, text - variables);
  for (std::sregex_iterator it(env.begin(), env.end(), variable), end; it != end; ++it)
    script += "export " + (*it)[1].str() + "='" + (*it)[2].str() + "'\n";
  return script + std::regex_replace(action.substr(text + begin_of_text.size()),
                                     std::regex("(^|\n) {8}"), "$1");
}

/// Runs the action in `folder` as GitHub does.
Launched act(const TemporaryFolder& folder, const std::string& scenarios,
             const std::string& arguments, const std::string& command = "run") {
  const std::string script =
      folder.file("step.sh", script_of_action({{"github.server_url", "https://github.invalid"},
                                               {"github.action_repository", "owner/orrery"},
                                               {"inputs.version", ""},
                                               {"inputs.command", command},
                                               {"inputs.arguments", arguments},
                                               {"inputs.scenarios", scenarios}}));
  return shell("cd " + folder.path() + " && GITHUB_ACTION_PATH=" + in_project("tools/ci") +
               " ORRERY=" ORRERY_BINARY " bash --noprofile --norc -eo pipefail " + script);
}

const char* const kBounded = R"({"orrery": 1, "name": "small",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB"},
  "mesh": {"x": 2},
  "arrays": {"a": {"shape": [4], "dtype": "s32", "spec": ["x"], "init": "iota"}},
  "program": [{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}],
  "outputs": ["r"], "expect": [{"makespan": {"at_most": "BOUND"}}]}
)";

std::string bounded_scenario(const std::string& bound) {
  return with(kBounded, "BOUND", bound);
}

TEST_CASE("the action: runs patterns of scenarios, and annotates the one that does not hold") {
  const TemporaryFolder folder;
  folder.file("jobs/good.json", bounded_scenario("1 s"));
  CHECK(act(folder, "jobs/*.json", "").status == 0);
  folder.file("jobs/late.json", bounded_scenario("1 ns"));
  const Launched late = act(folder, "jobs/*.json", "");
  CHECK(late.status == 1);
  CHECK(late.said.find("\n::error file=jobs/late.json,line=6,col=") != std::string::npos);
  CHECK(late.said.find("file=jobs/good.json") == std::string::npos);
}

TEST_CASE("the action: arguments may be in quotes") {
  const TemporaryFolder folder;
  folder.file("good.json", bounded_scenario("1 s"));
  const std::string slow = "--cluster-figure \"latency=2 s\" --junit \"the verdicts.xml\"";
  CHECK(act(folder, "good.json", slow).status == 1);
  CHECK(text_of(folder.path() + "/the verdicts.xml").find("<failure ") != std::string::npos);
}

TEST_CASE("the action: a quote that is not closed fails before anything is run") {
  const TemporaryFolder folder;
  folder.file("good.json", bounded_scenario("1 s"));
  const Launched open = act(folder, "good.json", "--junit \"verdicts.xml");
  CHECK(open.status == 1);
  CHECK(open.said.find("HOLDS") == std::string::npos);
}

const char* const kLaw = R"({"orrery": 1, "name": "two sums",
  "forall": {"n": {"from": 1, "to": 4}}, "mesh": {"x": "${n}"}, "check_types": false,
  "arrays": {"a": {"shape": ["${n}"], "dtype": "f32", "spec": ["x"]}},
  "program": [{"id": "s", "op": "psum", "of": "a", "axis_name": "x"},
    {"id": "t", "op": "OTHER", "of": "a", "axis_name": "x"}],
  "expect": [{"close": ["s", "t"]}]}
)";

TEST_CASE("the action: verifies laws, and annotates the one that does not hold") {
  const TemporaryFolder folder;
  folder.file("laws/good.json", with(kLaw, "OTHER", "psum"));
  const Launched good = act(folder, "laws", "--cases 5", "verify");
  CHECK(good.status == 0);
  CHECK(good.said.find("\n1 law holds, 5 cases") != std::string::npos);
  folder.file("laws/mean.json", with(kLaw, "OTHER", "pmean"));
  const Launched mean = act(folder, "laws", "", "verify");
  CHECK(mean.status == 1);
  CHECK(mean.said.find("\n::error file=laws/mean.json,line=6,col=") != std::string::npos);
}

TEST_CASE("the action: a command that is neither of the two") {
  const TemporaryFolder folder;
  folder.file("good.json", bounded_scenario("1 s"));
  const Launched refused = act(folder, "good.json", "", "prove");
  CHECK(refused.status == 2);
  CHECK(refused.said == "command: expected run or verify, got \"prove\"\n");
}

/// A hook of .pre-commit-hooks.yaml.
struct Hook {
  std::string entry;
  std::regex exclude;
};

Hook hook_of(const std::string& id) {
  const std::string hooks = text_of(in_project(".pre-commit-hooks.yaml"));
  const size_t begin = hooks.find("- id: " + id + "\n");
  REQUIRE(begin != std::string::npos);
  const std::string own = hooks.substr(begin, hooks.find("\n- id: ", begin) - begin);
  const auto value = [&](const std::string& key) {
    std::smatch found;
    REQUIRE(std::regex_search(own, found, std::regex("\n  " + key + ": (.*)(\n|$)")));
    return found[1].str();
  };
  // For a hook of the language script, the entry is a path in the hook's own repository.
  REQUIRE(value("language") == "script");
  return {in_project(value("entry")), std::regex(value("exclude"))};
}

/// Runs the hook for files that a commit in `folder` changes, without those that it excludes.
Launched commit(const TemporaryFolder& folder, const Hook& hook,
                const std::vector<std::string>& files) {
  std::string command = "cd " + folder.path() + " && ORRERY=" ORRERY_BINARY " " + hook.entry;
  for (const std::string& file : files)
    if (!std::regex_search(file, hook.exclude))
      command += " " + file;
  return shell(command);
}

TEST_CASE("the hooks: each runs the files of its kind that pre-commit names") {
  const TemporaryFolder folder;
  folder.file("good.json", bounded_scenario("1 s"));
  folder.file("late.json", bounded_scenario("1 ns"));
  folder.file("law.json", with(kLaw, "OTHER", "psum"));
  folder.file("mean.json", with(kLaw, "OTHER", "pmean"));
  const Hook run = hook_of("orrery-run");
  CHECK(commit(folder, run, {"good.json"}).status == 0);
  CHECK(commit(folder, run, {"good.json", "mean.json"}).status == 0);
  CHECK(commit(folder, run, {"mean.json"}).status == 0);
  const Launched late = commit(folder, run, {"good.json", "late.json"});
  CHECK(late.status == 1);
  CHECK(late.said.find("TIME.MAKESPAN") != std::string::npos);
  const Hook verify = hook_of("orrery-verify");
  CHECK(commit(folder, verify, {"law.json"}).status == 0);
  CHECK(commit(folder, verify, {"law.json", "late.json"}).status == 0);
  CHECK(commit(folder, verify, {"late.json"}).status == 0);
  const Launched mean = commit(folder, verify, {"law.json", "mean.json"});
  CHECK(mean.status == 1);
  CHECK(mean.said.find("VALUES.CLOSE") != std::string::npos);
}

TEST_CASE("the hooks: counterexamples and schemas are left out") {
  for (const char* const id : {"orrery-run", "orrery-verify"}) {
    const Hook hook = hook_of(id);
    for (const char* const file : {"a.failed.json", "laws/a.failed-12.json", "law.schema.json"})
      CHECK(std::regex_search(file, hook.exclude));
    for (const char* const file : {"a.json", "failed.json", "a.failed.json.json", "schema.json"})
      CHECK_FALSE(std::regex_search(file, hook.exclude));
  }
}

/// A `Download` is a tree with tools/ci/orrery, a cache, and a curl that notes its last argument
/// and gives the program of this build.
class Download {
 public:
  Download() {
    for (const char* const path : {"tools/ci/orrery", "meson.build"}) {
      folder_.file(path, "");
      std::filesystem::copy(in_project(path), folder_.path() + "/" + path,
                            std::filesystem::copy_options::overwrite_existing);
    }
    const std::string curl =
        folder_.file("bin/curl", "#!/bin/bash\necho \"${@: -1}\" >>" + folder_.path() +
                                     "/urls\nwhile [ \"$1\" != --output ]; do shift; done\n"
                                     "cp " ORRERY_BINARY " \"$2\"\n");
    std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  }

  Launched run(const std::string& variables) const {
    return shell("PATH=" + folder_.path() + "/bin:$PATH XDG_CACHE_HOME=" + folder_.path() +
                 "/cache " + variables + " " + folder_.path() + "/tools/ci/orrery --version");
  }
  std::string urls() const { return text_of(folder_.path() + "/urls"); }
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// Returns the name that a release gives its executable on this machine, after its version.
std::string file_of_release(const std::string& version) {
  return "/download/v" + version + "/orrery-linux-" + shell("uname -m").said;
}

/// Returns the version of the program: "0.1.0".
std::string own_version() {
  const std::string said = shell(ORRERY_BINARY " --version").said;  // "orrery 0.1.0 (commit ...)"
  return said.substr(7, said.find(' ', 7) - 7);
}

TEST_CASE("download: once, of the release of the tree") {
  const Download download;
  const Launched first = download.run("ORRERY_RELEASES=https://a.invalid/releases");
  CHECK(first == shell(ORRERY_BINARY " --version"));
  CHECK(download.run("ORRERY_RELEASES=https://a.invalid/releases") == first);
  CHECK(download.urls() == "https://a.invalid/releases" + file_of_release(own_version()));
}

TEST_CASE("download: another version, and from where the tree was cloned") {
  const Download download;
  REQUIRE(shell("cd " + download.path() +
                " && git init -q && git remote add origin git@github.com:owner/orrery.git")
              .status == 0);
  CHECK(download.run("ORRERY_VERSION=7.8.9").status == 0);
  CHECK(download.urls() == "https://github.com/owner/orrery/releases" + file_of_release("7.8.9"));
}

}  // namespace
}  // namespace orrery::test
