// Parts of a plan are worked out by several processes, which may be on several machines, and may be
// stopped at any time. They write into one folder: plan.json says which plan it is, and each point
// has a file of its own. `orrery merge` answers the plan from them.

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "models/base/hash.h"
#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "verifier/plan/planner.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

/// All that the points of a plan depend on.
struct PlanSetup {
  std::string file;  // as it was given
  std::string text;
  std::vector<std::string> let;
  uint64_t seed = 0;
  Limits limits;
};

std::optional<std::string> text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

[[noreturn]] void refuse_to_write(const std::string& path) {
  refuse(path, fmt::format("cannot be written: {}", std::strerror(errno)));
}

/// Writes the file and flushes it to the disk.
void write_and_flush(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    refuse_to_write(path);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      close(file);
      refuse_to_write(path);
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  const bool flushed = fsync(file) == 0;
  if (close(file) != 0 || !flushed)
    refuse_to_write(path);
}

/// Puts the text into the file, all of it or nothing. Returns the text that another process has put
/// there, if one has.
std::optional<std::string> put(const std::string& path, const std::string& text) {
  if (std::optional<std::string> there = text_of(path))
    return there;
  char host[256] = {};
  (void)gethostname(host, sizeof host - 1);
  const std::string under_way = fmt::format("{}.{}.{}", path, host, getpid());
  write_and_flush(under_way, text);
  // Unlike a rename, a link does not replace what another process has put there.
  std::error_code error;
  std::filesystem::create_hard_link(under_way, path, error);
  const bool is_there = error == std::errc::file_exists;
  if (error && !is_there)
    std::filesystem::rename(under_way, path, error = {});
  else
    std::filesystem::remove(under_way);
  if (is_there)
    return text_of(path);
  if (error)
    refuse(path, fmt::format("cannot be written: {}", error.message()));
  return std::nullopt;
}

Json setup_json(const PlanSetup& setup) {
  Json limits;
  for (const LimitInfo& limit : all_limits())
    limits[std::string(limit.name)] = setup.limits.*limit.value;
  return {{"orrery_plan_parts", 1}, {"version", version_text()}, {"file", setup.file},
          {"plan", setup.text},     {"let", setup.let},          {"seed", setup.seed},
          {"limits", limits}};
}

/// Returns the first key in which two setups differ, with the values if they are short.
std::string difference(const Json& there, const Json& here) {
  for (const auto& [key, value] : here.items())
    if (!there.contains(key) || there[key] != value)
      return key == "plan" ? "the plan's text"
                           : fmt::format("{}: {} there, {} here", key,
                                         there.value(key, Json()).dump(), value.dump());
  return "a key that this version does not know";
}

Json times_json(const PointTimes& times) {
  Json json = {{"makespan_ps", times.makespan.count()},
               {"compute_ps", times.parts.compute.count()},
               {"launch_ps", times.parts.launch.count()},
               {"exposed_ps", times.parts.exposed.count()},
               {"idle_ps", times.parts.idle.count()}};
  if (times.mfu)
    json["mfu"] = *times.mfu;
  if (times.hfu)
    json["hfu"] = *times.hfu;
  return json;
}

PointTimes times_from(const Json& json) {
  const auto duration = [&](const char* key) { return Duration(json.at(key).get<int64_t>()); };
  PointTimes times{
      duration("makespan_ps"),
      {duration("compute_ps"), duration("launch_ps"), duration("exposed_ps"), duration("idle_ps")},
      {},
      {}};
  if (json.contains("mfu"))
    times.mfu = json.at("mfu").get<double>();
  if (json.contains("hfu"))
    times.hfu = json.at("hfu").get<double>();
  return times;
}

Json figures_json(const PointFigures& figures) {
  Json memory = Json::array();
  for (const MemoryOfKind& kind : figures.memory)
    memory.push_back({kind.kind, kind.bytes.count()});
  Json json = {{"devices", figures.devices},
               {"peak_bytes", figures.peak.count()},
               {"memory", memory},
               {"labels", figures.labels}};
  if (figures.capacity)
    json["capacity_bytes"] = figures.capacity->count();
  if (figures.times)
    json["times"] = times_json(*figures.times);
  return json;
}

PointFigures figures_from(const Json& json) {
  PointFigures figures;
  figures.devices = json.at("devices").get<uint32_t>();
  figures.peak = Bytes(json.at("peak_bytes").get<int64_t>());
  for (const Json& kind : json.at("memory"))
    figures.memory.push_back({kind.at(0).get<std::string>(), Bytes(kind.at(1).get<int64_t>())});
  figures.labels = json.at("labels").get<std::vector<std::string>>();
  if (json.contains("capacity_bytes"))
    figures.capacity = Bytes(json.at("capacity_bytes").get<int64_t>());
  if (json.contains("times"))
    figures.times = times_from(json.at("times"));
  return figures;
}

std::string point_text(const std::string& unit, const PlanPoint& point) {
  Json json = {{"unit", unit},
               {"status", static_cast<int>(point.status)},
               {"because", point.because},
               {"devices", point.devices},
               {"beyond", point.beyond}};
  if (point.figures)
    json["figures"] = figures_json(*point.figures);
  return json.dump(1) + "\n";
}

/// Makes the folder, and says there which plan it is of. Refuses one of another plan.
void begin_parts(const std::string& folder, const PlanSetup& setup) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    refuse(folder, fmt::format("expected a folder, or none yet: {}", error.message()));
  const Json here = setup_json(setup);
  const std::string path = folder + "/plan.json";
  const std::optional<std::string> text = put(path, here.dump(1) + "\n");
  if (!text)
    return;
  const Json there = Json::parse(*text, nullptr, false);
  if (there.is_discarded() || there != here)
    refuse(folder, there.is_object() ? fmt::format("expected parts of this plan, got those of "
                                                   "another one ({})",
                                                   difference(there, here))
                                     : "expected parts of this plan, but plan.json is damaged");
}

/// Returns the plan that the folder is of. Refuses another folder.
PlanSetup plan_of_parts(const std::string& folder) {
  const std::optional<std::string> text = text_of(folder + "/plan.json");
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  try {
    PlanSetup setup;
    setup.file = json.at("file").get<std::string>();
    setup.text = json.at("plan").get<std::string>();
    setup.let = json.at("let").get<std::vector<std::string>>();
    setup.seed = json.at("seed").get<uint64_t>();
    for (const LimitInfo& limit : all_limits())
      setup.limits.*limit.value = json.at("limits").at(std::string(limit.name)).get<int64_t>();
    if (json != setup_json(setup))
      refuse(folder, fmt::format("expected parts made by this program, got those of another one "
                                 "({})",
                                 difference(json, setup_json(setup))));
    return setup;
  } catch (const Json::exception&) {
    refuse(folder,
           "expected a folder that `orrery plan --part` has made, got one without a whole "
           "plan.json");
  }
}

/// A PointFiles has each point in a file of the folder, which is whole or not there: it is written
/// under another name, flushed to the disk and renamed. Files are named by a hash of the unit. A
/// point that two processes worked out must be the same.
class PointFiles : public PlanStore {
 public:
  explicit PointFiles(std::string folder) : folder_(std::move(folder)) {}

  std::optional<PlanPoint> find(const std::string& unit) override;
  void add(const std::string& unit, const PlanPoint& point) override;

 private:
  std::string file_of(const std::string& unit) const;

  const std::string folder_;
};

std::string PointFiles::file_of(const std::string& unit) const {
  Hasher hasher;
  hasher.add(unit);
  return fmt::format("{}/{}.json", folder_, hasher.text());
}

std::optional<PlanPoint> PointFiles::find(const std::string& unit) {
  const std::string path = file_of(unit);
  const std::optional<std::string> text = text_of(path);
  if (!text)
    return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  try {
    if (json.at("unit") != unit)
      refuse(path, fmt::format("expected the point {}, got {}", unit, json.at("unit").dump()));
    PlanPoint point;
    point.status = static_cast<PointStatus>(json.at("status").get<int>());
    point.because = json.at("because").get<std::string>();
    point.devices = json.at("devices").get<uint32_t>();
    point.beyond = json.at("beyond").get<double>();
    if (json.contains("figures"))
      point.figures = figures_from(json.at("figures"));
    return point;
  } catch (const Json::exception&) {
    refuse(path, fmt::format("expected the point {}, got a damaged file; it may be removed", unit));
  }
}

void PointFiles::add(const std::string& unit, const PlanPoint& point) {
  const std::string path = file_of(unit);
  const std::string text = point_text(unit, point);
  if (const std::optional<std::string> there = put(path, text); there && *there != text)
    refuse(path,
           fmt::format("expected what another process found for {}, got other figures", unit));
}

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
  Plan plan(command.file, text, command.limits);
  let_values(plan, command.let);
  begin_parts(*command.output, {command.file, text, command.let, command.seed, command.limits});
  PointFiles files(*command.output);
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
  Plan plan(setup.file, setup.text, setup.limits);
  let_values(plan, setup.let);
  PointFiles files(command.folder);
  if (const std::vector<std::string> missing = missing_points(plan, files); !missing.empty())
    refuse(command.folder,
           fmt::format("expected all points, got all but {}, the first of them {}; `orrery plan {} "
                       "--part I/N -o {}` works them out",
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
