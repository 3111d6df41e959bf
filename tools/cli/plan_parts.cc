// Parts of a plan (parts.h): plan.json says which plan the folder is of, and each point has a file.

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/base/hash.h"
#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/cli/parts.h"
#include "tools/report/plan.h"
#include "verifier/plan/planner.h"

namespace orrery {
namespace {

/// Refuses what JSON cannot have.
void check_utf8(std::string_view what, const std::string& text) {
  if (const std::optional<size_t> at = not_utf8_at(text))
    refuse("--part",
           fmt::format("expected UTF-8, got another byte in {}, at offset {}", what, *at));
}

/// Makes the folder, and says there which plan it is of. Refuses one of another plan.
void begin_parts(const PartsFolder& folder, const PlanSetup& setup) {
  const std::optional<std::string> text = folder.begin(setup_json(setup));
  if (!text)
    return;
  const std::optional<PlanSetup> there = read_setup(*text);
  if (!there)
    refuse(folder.path(), "expected parts of this plan, but plan.json is damaged");
  if (*there != setup)
    refuse(folder.path(), fmt::format("expected parts of this plan, got those of another one ({})",
                                      difference(*there, setup)));
}

/// Returns the plan that the folder is of. Refuses another folder.
PlanSetup plan_of_parts(const PartsFolder& folder) {
  const std::optional<std::string> text = folder.text_of(kPlanFile);
  std::optional<PlanSetup> setup = text ? read_setup(*text) : std::nullopt;
  if (!setup)
    refuse(folder.path(),
           "expected a folder that `orrery plan --part` has made, got one without a whole "
           "plan.json");
  if (setup->version != version_text())
    refuse(folder.path(), fmt::format("expected parts made by {}, got those of {}", version_text(),
                                      setup->version));
  return *std::move(setup);
}

/// A PointFiles has each point in a file of the folder. A point that two processes worked out must
/// be the same.
class PointFiles : public PlanStore {
 public:
  enum class Adds : uint8_t { Yes, No };
  PointFiles(PartsFolder folder, const PlanSetup& setup, Adds adds)
      : folder_(std::move(folder)), adds_(adds) {
    Hasher hasher;
    hasher.add(setup_json(setup));
    setup_ = hasher.text();
  }

  std::optional<PlanPoint> find(const std::string& unit) override {
    const std::string file = file_of(unit);
    const std::optional<std::string> text = folder_.text_of(file);
    if (!text)
      return std::nullopt;
    std::optional<PlanPoint> point = read_point(*text, name_of(unit));
    if (!point)
      refuse(folder_.path_of(file), fmt::format("expected the point {}, got a damaged file; remove "
                                                "it and start the part again",
                                                unit));
    return point;
  }

  void add(const std::string& unit, const PlanPoint& point) override {
    if (adds_ == Adds::No)
      return;
    const std::string file = file_of(unit);
    const std::string text = point_json(name_of(unit), point);
    if (const std::optional<std::string> there = folder_.put(file, text); there && *there != text)
      refuse(folder_.path_of(file),
             fmt::format("expected the figures that another process found for the point {}, got "
                         "others",
                         unit));
  }

 private:
  std::string name_of(const std::string& unit) const { return setup_ + ", " + unit; }
  std::string file_of(const std::string& unit) const {
    Hasher hasher;
    hasher.add(name_of(unit));
    return hasher.text() + ".json";
  }

  const PartsFolder folder_;
  const Adds adds_;
  std::string setup_;  // a hash
};

}  // namespace

Outcome work_out_part(const PlanCommand& command, const std::string& text,
                      const Terminal& terminal) {
  const PartNumber part = part_of(*command.part);
  check_beside_part(
      command.output,
      command.find || command.scenario || command.all_points || command.format != PlanFormat::Text,
      "--find, --scenario, --all or --format");
  check_utf8("the plan", text);
  check_utf8("its name", command.file);
  for (const std::string& let : command.let)
    check_utf8("--let", let);
  Plan plan(command.file, text, command.limits);
  let_values(plan, command.let);
  const PlanSetup setup{version_text(), command.file, text,
                        command.let,    command.seed, command.limits};
  const PartsFolder folder(*command.output, "plan", kPlanFile);
  begin_parts(folder, setup);
  PointFiles files(folder, setup, PointFiles::Adds::Yes);
  PlanOptions options;
  options.jobs = command.jobs;
  options.seed = command.seed;
  options.limits = command.limits;
  options.store = &files;
  ProgressLine progress(terminal, command.file, "points");
  options.progress = [&](uint64_t done, uint64_t all) { progress.show(done, all); };
  const PartDone done = work_out(plan, {part.part, part.of}, options);
  terminal.out << done_text(part, "points", *command.output, {done.points, done.were_there});
  return Outcome::Holds;
}

Outcome merge_plan(const MergeCommand& command, const Terminal& terminal) {
  const PartsFolder folder(command.folder, "plan", kPlanFile);
  const PlanSetup setup = plan_of_parts(folder);
  if (command.output)
    keep_inputs("--output", *command.output, {folder.path_of(kPlanFile)});
  Plan plan(setup.file, setup.text, setup.limits);
  let_values(plan, setup.let);
  PointFiles files(folder, setup, PointFiles::Adds::No);
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
