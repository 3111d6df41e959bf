#include "tools/cli/parts.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/base/diagnostics.h"
#include "models/base/hash.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

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

std::string hash_of(std::string_view text) {
  Hasher hasher;
  hasher.add(text);
  return hasher.text();
}

/// Writes texts one after the other, each with its length before it, and a hash of them all.
std::string record_text(const UnitFiles::Texts& texts) {
  std::string record;
  for (const std::string& text : texts)
    record += fmt::format("{}:{}\n", text.size(), text);
  return record + hash_of(record) + "\n";
}

/// Reads what record_text() has written; nothing if the text is anything else.
std::optional<UnitFiles::Texts> read_record(std::string_view record) {
  const size_t of_hash = hash_of("").size() + 1;
  if (record.size() < of_hash)
    return std::nullopt;
  std::string_view rest = record.substr(0, record.size() - of_hash);
  if (record.substr(rest.size()) != hash_of(rest) + "\n")
    return std::nullopt;
  UnitFiles::Texts texts;
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::optional<uint64_t> size = whole_number_in(rest.substr(0, colon));
    if (!size || rest.size() - colon < 2 || *size > rest.size() - colon - 2)
      return std::nullopt;
    texts.emplace_back(rest.substr(colon + 1, *size));
    rest.remove_prefix(colon + *size + 2);
  }
  return texts;
}

// The places of a setup's texts. The words of the command follow.
constexpr size_t kVersion = 0;
constexpr size_t kInputs = 1;
constexpr size_t kWords = 2;

std::string command_text(const UnitFiles::Texts& setup) {
  return Replay({setup.begin() + kWords, setup.end()}).text();
}

/// Refuses options of `orrery merge` that are not of the command.
void check_options(const MergeCommand& merge, std::string_view kind) {
  const auto refuse_for = [&](std::string_view option, std::string_view expected) {
    refuse(option, fmt::format("expected {} for parts of `orrery {}`", expected, kind));
  };
  if (kind != "plan" && (merge.format == PlanFormat::Csv || merge.format == PlanFormat::Html))
    refuse_for("--format", "text or json");
  if (kind != "plan" && merge.all_points)
    refuse_for("--all", "none");
  if (kind != "verify" && merge.counterexamples)
    refuse_for("--out", "none");
  if (kind == "plan" && merge.undecided == OnUndecided::Allow)
    refuse_for("--allow-undecided", "none");
}

/// Carries out the command of a folder, where `command` is as its words say.
template <class FilesCommand>
Outcome merge_files(const MergeCommand& merging, FilesCommand command,
                    const UnitFiles::Texts& setup, const Terminal& terminal) {
  const UnitFiles units = units_of(command, merging.folder);
  units.check(setup);
  if (merging.output)
    keep_inputs("--output", *merging.output, {merging.folder + "/" + kCommandFile});
  command.format = merging.format == PlanFormat::Json ? Format::Json : Format::Text;
  command.output = merging.output;
  command.undecided = merging.undecided;
  if constexpr (std::is_same_v<FilesCommand, VerifyCommand>) {
    command.folder = merging.counterexamples;
    command.jobs = merging.jobs;
  }
  return merge(command, units, terminal);
}

}  // namespace

std::optional<uint64_t> whole_number_in(std::string_view digits) {
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, value);
  return error == std::errc() && read == end ? std::optional(value) : std::nullopt;
}

PartNumber part_of(const std::string& text) {
  const size_t slash = text.find('/');
  const auto part = whole_number_in(std::string_view(text).substr(0, slash));
  const auto of = slash == std::string::npos
                      ? std::nullopt
                      : whole_number_in(std::string_view(text).substr(slash + 1));
  if (!part || !of || *part < 1 || *part > *of)
    refuse("--part",
           fmt::format("expected I/N with I from 1 to N, as in 2/8, got {}", in_quotes(text)));
  return {*part, *of};
}

std::string done_text(const PartNumber& part, std::string_view units, const std::string& folder,
                      const UnitsDone& done) {
  return fmt::format("part {} of {}: {} {} are in {}, {} of them were there before\n", part.part,
                     part.of, done.units, units, folder, done.were_there);
}

void check_beside_part(const std::optional<std::string>& output, bool given,
                       std::string_view names) {
  if (!output)
    refuse("--part", "expected --output FOLDER beside it");
  if (given)
    refuse("--part",
           fmt::format("expected no {} beside it; `orrery merge` writes the answer", names));
}

void check_paths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths)
    if (path == "-")
      refuse("--part", "expected files or folders, got -, which other parts cannot read");
}

std::string input_hash(const std::optional<std::string>& file) {
  if (!file || file->starts_with('{') || !std::filesystem::is_regular_file(*file))
    return "";
  std::ostringstream text;
  text << std::ifstream(*file, std::ios::binary).rdbuf();
  return hash_of(text.str());
}

std::optional<std::string> PartsFolder::text_of(const std::string& name) const {
  const std::string path = path_of(name);
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found)
    return std::nullopt;
  if (error)
    refuse(path, fmt::format("cannot be read: {}", error.message()));
  if (type != std::filesystem::file_type::regular)
    refuse(path, fmt::format("expected a file that `orrery {} --part` has made", command_));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.fail())
    refuse(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text.str();
}

std::optional<std::string> PartsFolder::put(const std::string& name,
                                            const std::string& text) const {
  if (std::optional<std::string> there = text_of(name))
    return there;
  const std::string path = path_of(name);
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
    return text_of(name);
  if (error != 0)
    refuse_to_write(path, error);
  return std::nullopt;
}

std::optional<std::string> PartsFolder::begin(const std::string& setup) const {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error)
    refuse(path_, fmt::format("expected a folder, or none yet: {}", error.message()));
  for (const char* const other : {kPlanFile, kCommandFile})
    if (other != setup_file_ && text_of(other))
      refuse(path_, fmt::format("expected parts of `orrery {}`, got those of another command, as "
                                "its file {} says",
                                command_, other));
  return put(setup_file_, setup);
}

UnitFiles::UnitFiles(const std::string& folder, Replay command, std::string inputs)
    : folder_(folder, command.words().at(1), kCommandFile),
      command_(std::move(command)),
      setup_({version_text(), std::move(inputs)}) {
  setup_.insert(setup_.end(), command_.words().begin(), command_.words().end());
}

void UnitFiles::begin() const {
  const std::optional<std::string> text = folder_.begin(record_text(setup_));
  if (!text)
    return;
  const std::optional<Texts> there = read_record(*text);
  if (!there || there->size() <= kWords)
    refuse(folder_.path(), fmt::format("expected parts of `{}`, but its file {} is damaged",
                                       command_text(setup_), kCommandFile));
  check(*there);
}

void UnitFiles::check(const Texts& there) const {
  if (there[kVersion] != setup_[kVersion])
    refuse(folder_.path(), fmt::format("expected parts made by {}, got those of {}",
                                       setup_[kVersion], there[kVersion]));
  if (!std::equal(setup_.begin() + kWords, setup_.end(), there.begin() + kWords, there.end()))
    refuse(folder_.path(), fmt::format("expected parts of `{}`, got those of `{}`",
                                       command_text(setup_), command_text(there)));
  if (there[kInputs] != setup_[kInputs])
    refuse(folder_.path(), "expected parts with this file of --cluster, got those with another");
}

std::optional<UnitFiles::Texts> UnitFiles::find(const Unit& unit) const {
  const std::optional<std::string> text = folder_.text_of(file_of(unit));
  if (!text)
    return std::nullopt;
  std::optional<Texts> texts = read_record(*text);
  if (!texts || texts->empty() || texts->front() != name_of(unit))
    refuse_damaged(unit);
  texts->erase(texts->begin());
  return texts;
}

void UnitFiles::add(const Unit& unit, Texts texts) const {
  texts.insert(texts.begin(), name_of(unit));
  const std::string text = record_text(texts);
  const std::string file = file_of(unit);
  if (const std::optional<std::string> there = folder_.put(file, text); there && *there != text)
    refuse(
        folder_.path_of(file),
        fmt::format("expected what another process found for {}, got something else", unit.name));
}

void UnitFiles::refuse_damaged(const Unit& unit) const {
  refuse(folder_.path_of(file_of(unit)),
         fmt::format("expected {}, got a damaged file; remove it and start the part again",
                     unit.name));
}

std::string UnitFiles::part_command() const {
  Replay part = command_;
  part.option("--part", "I/N");
  part.option("-o", folder_.path());
  return part.text();
}

std::string UnitFiles::name_of(const Unit& unit) const {
  return fmt::format("{}, {}, {}", hash_of(record_text(setup_)), hash_of(unit.text), unit.name);
}

std::string UnitFiles::file_of(const Unit& unit) const {
  return hash_of(name_of(unit)) + ".unit";
}

Outcome execute(const MergeCommand& command, const Terminal& terminal) {
  const PartsFolder folder(command.folder, "verify", kCommandFile);
  const std::optional<std::string> text = folder.text_of(kCommandFile);
  if (!text) {
    check_options(command, "plan");
    return merge_plan(command, terminal);
  }
  const std::optional<UnitFiles::Texts> setup = read_record(*text);
  if (!setup || setup->size() <= kWords + 1)
    refuse(command.folder,
           fmt::format("expected a folder that --part has made, but its file {} is damaged",
                       kCommandFile));
  if (setup->at(kVersion) != version_text())
    refuse(command.folder, fmt::format("expected parts made by {}, got those of {}", version_text(),
                                       setup->at(kVersion)));
  check_options(command, setup->at(kWords + 1));
  const Command parts = parse_command_line({setup->begin() + kWords + 1, setup->end()});
  if (const auto* const verify = std::get_if<VerifyCommand>(&parts))
    return merge_files(command, *verify, *setup, terminal);
  if (const auto* const run = std::get_if<RunCommand>(&parts))
    return merge_files(command, *run, *setup, terminal);
  refuse(command.folder, fmt::format("expected parts of `orrery verify` or `orrery run`, got `{}`",
                                     command_text(*setup)));
}

}  // namespace orrery
