// Parts of a plan are worked out by several processes, which may be on several machines, and may be
// stopped at any time. They write into one folder: plan.json says which plan it is, and each point
// has a file of its own. `orrery merge` answers the plan from them.

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/base/characters.h"
#include "models/base/hash.h"
#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/report/plan.h"
#include "verifier/plan/planner.h"

namespace orrery {
namespace {

/// Returns the text of a file; nothing if there is none. Refuses what cannot be read.
std::optional<std::string> text_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found)
    return std::nullopt;
  if (error)
    refuse(path, fmt::format("cannot be read: {}", error.message()));
  if (type != std::filesystem::file_type::regular)
    refuse(path, "expected a file that `orrery plan --part` has made");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.fail())
    refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text.str();
}

[[noreturn]] void refuse_to_write(const std::string& path, int error) {
  refuse(path, fmt::format("cannot be written: {}", std::strerror(error)));
}

/// Writes all of the text and flushes it to the disk. Returns the error, or 0.
int write_and_flush(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return errno;
    text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
  }
  return fsync(file) == 0 ? 0 : errno;
}

/// Puts the text into the file, all of it or nothing. Returns the text that another process has put
/// there, if one has.
std::optional<std::string> put(const std::string& path, const std::string& text) {
  if (std::optional<std::string> there = text_of(path))
    return there;
  std::string under_way = path + ".XXXXXX";  // no other process has this one
  const int file = mkstemp(under_way.data());
  if (file < 0)
    refuse_to_write(path, errno);
  int error = fchmod(file, 0644) == 0 ? write_and_flush(file, text) : errno;
  if (close(file) != 0 && error == 0)
    error = errno;
  // Unlike a rename, a link does not replace what another process has put there.
  if (error == 0 && link(under_way.c_str(), path.c_str()) != 0)
    error = errno;
  const bool has_links = error != EPERM && error != ENOTSUP;
  if (!has_links)
    error = rename(under_way.c_str(), path.c_str()) == 0 ? 0 : errno;
  unlink(under_way.c_str());
  if (error == EEXIST)
    return text_of(path);
  if (error != 0)
    refuse_to_write(path, error);
  return std::nullopt;
}

/// Refuses what JSON cannot have.
void check_utf8(std::string_view what, const std::string& text) {
  if (const std::optional<size_t> at = not_utf8_at(text))
    refuse("--part",
           fmt::format("expected UTF-8, got another byte in {}, at offset {}", what, *at));
}

/// Makes the folder, and says there which plan it is of. Refuses one of another plan.
void begin_parts(const std::string& folder, const PlanSetup& setup) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    refuse(folder, fmt::format("expected a folder, or none yet: {}", error.message()));
  const std::optional<std::string> text = put(folder + "/plan.json", setup_json(setup));
  if (!text)
    return;
  const std::optional<PlanSetup> there = read_setup(*text);
  if (!there)
    refuse(folder, "expected parts of this plan, but plan.json is damaged");
  if (*there != setup)
    refuse(folder, fmt::format("expected parts of this plan, got those of another one ({})",
                               difference(*there, setup)));
}

/// Returns the plan that the folder is of. Refuses another folder.
PlanSetup plan_of_parts(const std::string& folder) {
  const std::optional<std::string> text = text_of(folder + "/plan.json");
  std::optional<PlanSetup> setup = text ? read_setup(*text) : std::nullopt;
  if (!setup)
    refuse(folder,
           "expected a folder that `orrery plan --part` has made, got one without a whole "
           "plan.json");
  if (setup->version != version_text())
    refuse(folder, fmt::format("expected parts made by {}, got those of {}", version_text(),
                               setup->version));
  return *std::move(setup);
}

/// A PointFiles has each point in a file of the folder, which is whole or not there: it is written
/// under another name, flushed to the disk, and then linked to its name. That is a hash of the unit
/// and the setup. A point that two processes worked out must be the same.
class PointFiles : public PlanStore {
 public:
  enum class Adds : uint8_t { Yes, No };
  PointFiles(std::string folder, const PlanSetup& setup, Adds adds)
      : folder_(std::move(folder)), adds_(adds) {
    Hasher hasher;
    hasher.add(setup_json(setup));
    setup_ = hasher.text();
  }

  std::optional<PlanPoint> find(const std::string& unit) override {
    const std::string path = file_of(unit);
    const std::optional<std::string> text = text_of(path);
    if (!text)
      return std::nullopt;
    std::optional<PlanPoint> point = read_point(*text, name_of(unit));
    if (!point)
      refuse(path, fmt::format("expected the point {}, got a damaged file; remove it and start the "
                               "part again",
                               unit));
    return point;
  }

  void add(const std::string& unit, const PlanPoint& point) override {
    if (adds_ == Adds::No)
      return;
    const std::string path = file_of(unit);
    const std::string text = point_json(name_of(unit), point);
    if (const std::optional<std::string> there = put(path, text); there && *there != text)
      refuse(path, fmt::format("expected the figures that another process found for the point {}, "
                               "got others",
                               unit));
  }

 private:
  std::string name_of(const std::string& unit) const { return setup_ + ", " + unit; }
  std::string file_of(const std::string& unit) const {
    Hasher hasher;
    hasher.add(name_of(unit));
    return fmt::format("{}/{}.json", folder_, hasher.text());
  }

  const std::string folder_;
  const Adds adds_;
  std::string setup_;  // a hash
};

/// Reads "I/N".
PlanPart part_of(const std::string& text) {
  const size_t slash = text.find('/');
  const auto number = [](std::string_view digits) -> std::optional<uint64_t> {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    return error == std::errc() && end == digits.end() ? std::optional(value) : std::nullopt;
  };
  const auto part = number(std::string_view(text).substr(0, slash));
  const auto of =
      slash == std::string::npos ? std::nullopt : number(std::string_view(text).substr(slash + 1));
  if (!part || !of || *part < 1 || *part > *of)
    refuse("--part",
           fmt::format("expected I/N with I from 1 to N, as in 2/8, got {}", in_quotes(text)));
  return {*part, *of};
}

}  // namespace

Outcome work_out_part(const PlanCommand& command, const std::string& text,
                      const Terminal& terminal) {
  const PlanPart part = part_of(*command.part);
  if (!command.output)
    refuse("--part", "expected --output FOLDER beside it");
  if (command.find || command.scenario || command.all_points || command.format != PlanFormat::Text)
    refuse("--part",
           "expected no --find, --scenario, --all or --format beside it; `orrery merge` writes the "
           "answer");
  check_utf8("the plan", text);
  check_utf8("its name", command.file);
  for (const std::string& let : command.let)
    check_utf8("--let", let);
  Plan plan(command.file, text, command.limits);
  let_values(plan, command.let);
  const PlanSetup setup{version_text(), command.file, text,
                        command.let,    command.seed, command.limits};
  begin_parts(*command.output, setup);
  PointFiles files(*command.output, setup, PointFiles::Adds::Yes);
  PlanOptions options;
  options.jobs = command.jobs;
  options.seed = command.seed;
  options.limits = command.limits;
  options.store = &files;
  ProgressLine progress(terminal, command.file, "points");
  options.progress = [&](uint64_t done, uint64_t all) { progress.show(done, all); };
  const PartDone done = work_out(plan, part, options);
  terminal.out << fmt::format("part {} of {}: {} points are in {}, {} of them were there before\n",
                              part.part, part.of, done.points, *command.output, done.were_there);
  return Outcome::Holds;
}

Outcome execute(const MergeCommand& command, const Terminal& terminal) {
  const PlanSetup setup = plan_of_parts(command.folder);
  if (command.output)
    keep_inputs("--output", *command.output, {command.folder + "/plan.json"});
  Plan plan(setup.file, setup.text, setup.limits);
  let_values(plan, setup.let);
  PointFiles files(command.folder, setup, PointFiles::Adds::No);
  if (const std::vector<std::string> missing = missing_points(plan, files); !missing.empty())
    refuse(command.folder,
           fmt::format("expected all points, got all but {}, the first of them {}; start the parts "
                       "again as they were started: `orrery plan {} --part I/N -o {}`, with the "
                       "same --let, --seed and --limit",
                       missing.size(), missing.front(), setup.file, command.folder));
  PlanCommand plan_command;
  plan_command.file = setup.file;
  plan_command.let = setup.let;
  plan_command.seed = setup.seed;
  plan_command.limits = setup.limits;
  plan_command.all_points = command.all_points;
  plan_command.format = command.format;
  plan_command.output = command.output;
  plan_command.jobs = command.jobs;
  return answer_plan(plan_command, setup.text, &files, terminal);
}

}  // namespace orrery
