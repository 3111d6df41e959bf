#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/scenario/document.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery {
namespace {

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end)
    return std::nullopt;
  return value;
}

std::string_view without(std::string_view text, char last) {
  if (!text.empty() && text.back() == last)
    text.remove_suffix(1);
  return text;
}

/// Returns the digits and points at the beginning of `text`.
std::string version_at(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && (is_digit(text[length]) || text[length] == '.'))
    ++length;
  return std::string(text.substr(0, length));
}

/// Reads "word number" pairs of the line "# nThread ..".
class SettingsReader {
 public:
  SettingsReader(std::string_view line, const Origin& origin, Diagnostics& diagnostics)
      : words_(words_between_spaces(line)), origin_(origin), diagnostics_(diagnostics) {}

  std::optional<NcclSettings> read() {
    NcclSettings settings;
    for (size_t w = 0; w + 1 < words_.size(); ++w) {
      const std::string_view word = without(words_[w], ':');
      const std::string_view before = w == 0 ? std::string_view() : words_[w - 1];
      if (word == "nThread")
        settings.threads = ranks(words_[w + 1]);
      else if (word == "nGpus")
        settings.gpus = ranks(words_[w + 1]);
      else if (word == "minBytes")
        settings.least = Bytes(number(words_[w + 1]));
      else if (word == "maxBytes")
        settings.most = Bytes(number(words_[w + 1]));
      else if (word == "step")
        read_step(words_[w + 1], settings);
      else if (word == "iters")
        (before == "warmup" ? settings.warmup
         : before == "agg"  ? settings.aggregated
                            : settings.iterations) = number(words_[w + 1]);
      else if (word == "validation")
        settings.checks = number(words_[w + 1]);
    }
    if (int64_t{settings.threads} * settings.gpus > kMostNcclRanks)
      refuse(fmt::format("expected at most {} threads times gpus, got {} times {}", kMostNcclRanks,
                         settings.threads, settings.gpus));
    return wrong_ ? std::nullopt : std::optional(settings);
  }

 private:
  void refuse(std::string message) {
    wrong_ = true;
    diagnostics_.add(origin_, std::move(message));
  }

  int64_t number(std::string_view text) {
    const std::optional<int64_t> value = whole(text);
    if (value && *value >= 0)
      return *value;
    refuse(fmt::format("expected a whole number, got {}", in_quotes(text)));
    return 0;
  }

  uint32_t ranks(std::string_view text) {
    const std::optional<int64_t> value = whole(text);
    if (value && *value >= 1 && *value <= kMostNcclRanks)
      return static_cast<uint32_t>(*value);
    refuse(fmt::format("expected a whole number from 1 to {}, got {}", kMostNcclRanks,
                       in_quotes(text)));
    return 1;
  }

  /// Reads a step such as "2(factor)" or "1048576(bytes)".
  void read_step(std::string_view text, NcclSettings& settings) {
    const size_t open = text.find('(');
    settings.step = number(text.substr(0, open));
    settings.step_is_factor = open != std::string_view::npos && text.substr(open) == "(factor)";
  }

  std::vector<std::string_view> words_;
  const Origin& origin_;
  Diagnostics& diagnostics_;
  bool wrong_ = false;
};

}  // namespace

std::vector<std::string_view> words_between_spaces(std::string_view line) {
  constexpr std::string_view kSpaces = " \t";
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(kSpaces); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kSpaces, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpaces, end);
  }
  return words;
}

std::optional<NcclSettings> read_settings(std::string_view line, const Origin& origin,
                                          Diagnostics& diagnostics) {
  return SettingsReader(line, origin, diagnostics).read();
}

std::optional<std::string> version_of_code(int64_t code) {
  if (code <= 0)
    return std::nullopt;
  // NCCL_VERSION(X, Y, Z) is X * 1000 + Y * 100 + Z up to 2.8, and X * 10000 + .. afterwards.
  const int64_t major = code < 10'000 ? 1000 : 10'000;
  return fmt::format("{}.{}.{}", code / major, code % major / 100, code % 100);
}

bool NcclContext::begins_run(std::string_view comment) {
  const std::vector<std::string_view> words = words_between_spaces(comment);
  return !words.empty() &&
         (without(words[0], ':') == "nThread" ||
          (words.size() == 2 && words[0] == "Using" && words[1] == "devices") ||
          (words.size() > 2 && words[0] == "nccl-tests" && words[1] == "version") ||
          (words.size() > 3 && words[0] == "Collective" && words[2] == "starting:"));
}

void NcclContext::read_comment(std::string_view comment, const Origin& origin,
                               Diagnostics& diagnostics) {
  const std::vector<std::string_view> words = words_between_spaces(comment);
  if (words.empty())
    return;
  if (without(words[0], ':') == "nThread") {
    settings_ = read_settings(comment, origin, diagnostics);
  } else if (words[0] == "nccl-tests") {
    read_versions(words);
  } else if (words.size() == 4 && words[0] == "Collective" && words[2] == "starting:") {
    const std::optional<NcclCollective> collective = nccl_collective_named(words[3]);
    if (collective)
      named_.push_back(*collective);
    else
      diagnostics.add(origin,
                      fmt::format("expected a program of nccl-tests, got {}", in_quotes(words[3])));
  } else if (words[0] == "Rank") {
    std::optional<RankLine> rank = read_rank(words, comment);
    ranks_cut_ |= !rank || words.back().find("...") != std::string_view::npos;
    if (rank)
      ranks_.push_back(std::move(*rank));
  }
}

bool NcclContext::read_log(std::string_view line) {
  constexpr std::string_view kSays = "NCCL version ";
  const size_t at = line.find(kSays);
  if (at == std::string_view::npos || nccl_version_)
    return false;
  std::string version = version_at(line.substr(at + kSays.size()));
  if (version.empty())
    return false;
  nccl_version_ = std::move(version);
  return true;
}

std::optional<NcclContext::RankLine> NcclContext::read_rank(
    const std::vector<std::string_view>& words, std::string_view line) {
  // The words are: Rank R [Group G] Pid P on HOST device D [ADDRESS] NAME OF THE DEVICE.
  const size_t grouped = words.size() > 2 && words[2] == "Group" ? 2 : 0;
  if (words.size() < 10 + grouped || words[4 + grouped] != "on" || words[6 + grouped] != "device" ||
      words[8 + grouped].front() != '[')
    return std::nullopt;
  const std::optional<int64_t> rank = whole(words[1]);
  const std::optional<int64_t> group = grouped == 0 ? std::optional<int64_t>(0) : whole(words[3]);
  if (!rank || !group)
    return std::nullopt;
  const auto begin = static_cast<size_t>(words[9 + grouped].data() - line.data());
  return RankLine{*rank, *group, std::string(words[5 + grouped]),
                  std::string(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin))};
}

void NcclContext::read_versions(const std::vector<std::string_view>& words) {
  for (size_t w = 1; w < words.size(); ++w) {
    if (words[w - 1] == "version")
      nccl_tests_version_ = std::string(words[w]);
    constexpr std::string_view kLibrary = "nccl-library=";
    if (words[w].substr(0, kLibrary.size()) == kLibrary)
      if (const auto code = whole(words[w].substr(kLibrary.size())))
        nccl_version_ = version_of_code(*code);
  }
}

NcclDraft NcclContext::draft(const Origin& origin) const {
  NcclDraft draft;
  draft.origin = origin;
  draft.named = named_;
  draft.table.settings = settings_;
  draft.table.nccl_version = nccl_version_;
  draft.table.nccl_tests_version = nccl_tests_version_;
  if (ranks_.empty())
    return draft;
  std::set<std::pair<int64_t, int64_t>> group;  // of the first rank, by number
  std::set<int64_t> all;
  std::set<std::string> hosts;
  for (const RankLine& line : ranks_) {
    all.insert(line.rank);
    if (line.group != ranks_.front().group)
      continue;
    group.emplace(line.group, line.rank);
    hosts.insert(line.host);
    std::vector<std::string>& names = draft.table.device_names;
    if (std::find(names.begin(), names.end(), line.device) == names.end())
      names.push_back(line.device);
  }
  const int64_t unit = settings_ ? int64_t{settings_->threads} * settings_->gpus : 1;
  const auto ranks = static_cast<int64_t>(group.size());
  const bool every_rank =
      *all.begin() == 0 && *all.rbegin() + 1 == static_cast<int64_t>(all.size());
  if (ranks_cut_ || !every_rank || ranks % unit != 0 || ranks > kMostNcclRanks)
    return draft;
  draft.ranks.push_back(static_cast<uint32_t>(ranks));
  draft.table.hosts = static_cast<uint32_t>(hosts.size());
  return draft;
}

}  // namespace orrery
