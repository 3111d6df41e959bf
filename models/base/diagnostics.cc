#include "models/base/diagnostics.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "models/base/characters.h"

namespace orrery {

namespace {

std::string render(std::string_view file, const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty())
      text += '\n';
    text += file;
    if (diagnostic.origin.at)
      text += fmt::format(":{}:{}", diagnostic.origin.at->line, diagnostic.origin.at->column);
    text += ": ";
    if (!diagnostic.origin.pointer.empty())
      text += diagnostic.origin.pointer + ": ";
    text += diagnostic.message;
  }
  return text;
}

/// Returns the distance of optimal string alignment, in which no letter is edited twice.
size_t edit_distance(std::string_view a, std::string_view b) {
  // The rows have the distances of the first i letters of a to each prefix of b, for this i and the
  // two before.
  std::vector<size_t> row(b.size() + 1), above(b.size() + 1), above_that(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(above_that, above);
    std::swap(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_that[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

InputError::InputError(std::string_view file, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render(file, diagnostics)), diagnostics_(std::move(diagnostics)) {}

TextLines::TextLines(std::string_view text) : begins_{0} {
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      begins_.push_back(i + 1);
}

TextPosition TextLines::at(size_t offset) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), offset);
  const auto line = static_cast<size_t>(after - begins_.begin());
  return {static_cast<uint32_t>(line), static_cast<uint32_t>(offset - begins_[line - 1] + 1)};
}

void Diagnostics::add(Origin origin, std::string message) {
  ++added_;
  std::string note = origin.note.empty() ? note_ : origin.note;
  if (!note.empty()) {
    const auto [known, is_new] =
        with_note_.emplace(std::pair(origin.pointer, message), diagnostics_.size());
    if (!is_new) {
      ++diagnostics_[known->second].again;
      return;
    }
  }
  diagnostics_.push_back({{std::move(origin), std::move(message)}, std::move(note)});
  if (diagnostics_.size() < kMost)
    return;
  diagnostics_.push_back({{diagnostics_.back().error.origin,
                           fmt::format("{} errors so far: there may be more", kMost)},
                          {}});
  throw_if_any();
}

Origin Diagnostics::noted(Origin origin) const {
  if (origin.note.empty())
    origin.note = note_;
  return origin;
}

void Diagnostics::throw_if_any() const {
  if (diagnostics_.empty())
    return;
  // One error may be found and added several times. The user needs it once.
  std::vector<Diagnostic> told;
  for (const Noted& noted : diagnostics_) {
    Diagnostic error = noted.error;
    error.message += noted.note;
    error.origin.note.clear();  // so that it is not repeated where the error is reported anew
    if (noted.again > 0)
      error.message +=
          fmt::format(", and {} {} more", noted.again, noted.again == 1 ? "time" : "times");
    if (std::find(told.begin(), told.end(), error) == told.end())
      told.push_back(std::move(error));
  }
  std::stable_sort(told.begin(), told.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.origin.at < b.origin.at;
  });
  throw InputError(file_, std::move(told));
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 60;
  const bool cut = text.size() > kLongest;
  if (cut) {
    size_t length = kLongest;
    // The cut must not be inside a UTF-8 sequence.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U)
      --length;
    text = text.substr(0, length);
  }
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      result += c;
  }
  result += cut ? "...\"" : "\"";
  return result;
}

std::string_view near_miss(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  const size_t too_many = std::min<size_t>(3, (word.size() + 1) / 2);
  std::pair<size_t, size_t> best_distance(too_many, 0);  // without case; with it
  // This bounds the time, which is quadratic in the word's length and linear in the candidates.
  if (word.size() > 64 || candidates.size() > 4096)
    return best;
  const std::string lower = in_lower_case(word);
  for (std::string_view candidate : candidates) {
    if (candidate.size() > word.size() + best_distance.first)
      continue;  // needs more edits
    const size_t edits = edit_distance(lower, in_lower_case(candidate));
    if (edits > best_distance.first)
      continue;
    const std::pair<size_t, size_t> distance(edits, edit_distance(word, candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace orrery
