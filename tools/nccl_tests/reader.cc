#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "models/base/diagnostics.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/table.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery {
namespace {

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// nccl-tests writes texts of up to 2 KiB, arguments and environment variables.
constexpr int64_t kLongestText = int64_t{1} << 12U;

/// Appends a code point in UTF-8. Halves of a surrogate pair become the replacement character,
/// since tables are ASCII.
void append_code_point(uint32_t point, std::string& text) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  const uint32_t shown = surrogate ? 0xFFFD : point;
  if (shown < 0x80)
    return add(shown);
  if (shown < 0x800) {
    add(0xC0U | shown >> 6U);
  } else {
    add(0xE0U | shown >> 12U);
    add(0x80U | (shown >> 6U & 0x3FU));
  }
  add(0x80U | (shown & 0x3FU));
}

/// Returns UTF-16 text after its byte order mark as UTF-8.
std::string from_utf16(std::string_view units, bool low_byte_first) {
  std::string text;
  for (size_t i = 0; i + 1 < units.size(); i += 2) {
    const auto first = static_cast<unsigned char>(units[i]);
    const auto second = static_cast<unsigned char>(units[i + 1]);
    append_code_point(low_byte_first ? second * 256U + first : first * 256U + second, text);
  }
  return text;
}

/// Returns the text without the codes for colours, "ESC [ 1 ; 32 m" (ECMA-48, 5.4).
std::string without_escapes(std::string_view text) {
  constexpr std::string_view kBegin = "\x1b[";
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const size_t escape = std::min(text.find(kBegin, at), text.size());
    plain += text.substr(at, escape - at);
    at = std::min(escape + kBegin.size(), text.size());
    if (escape == text.size())
      break;
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40)
      ++at;
    at += at < text.size() && text[at] >= 0x40 && text[at] < 0x7F ? 1 : 0;
  }
  return plain;
}

/// Returns the text as nccl-tests printed it. Shells of Windows write UTF-16, editors a byte order
/// mark, and log viewers colours.
std::string as_printed(std::string_view text) {
  if (text.starts_with("\xFF\xFE"))
    return without_escapes(from_utf16(text.substr(2), true));
  if (text.starts_with("\xFE\xFF"))
    return without_escapes(from_utf16(text.substr(2), false));
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  return without_escapes(text);
}

}  // namespace

std::vector<NcclTable> read_nccl_tables(std::string_view text, const std::string& file,
                                        const NcclReadOptions& options) {
  const std::string printed = as_printed(text);
  Diagnostics diagnostics(file);
  Limits limits = options.limits;
  limits.text = std::max(limits.text, kLongestText);
  std::vector<NcclDraft> drafts = is_json(printed) ? read_json_tables(printed, diagnostics, limits)
                                                   : read_text_tables(printed, diagnostics);
  diagnostics.throw_if_any();
  if (drafts.empty())
    diagnostics.add(
        "expected a table of nccl-tests, with a header \"# size count type ..\"; got "
        "none");
  std::vector<NcclTable> tables;
  for (NcclDraft& draft : drafts) {
    draft.table.file = file;
    if (const auto collective = nccl_collective_of_file(file))
      draft.hints.push_back({*collective, "the file's name has it"});
    if (options.collective)
      draft.named.push_back(*options.collective);
    if (options.ranks)
      draft.ranks.push_back(*options.ranks);
    if (std::optional<NcclTable> table = completed(std::move(draft), diagnostics))
      tables.push_back(std::move(*table));
  }
  diagnostics.throw_if_any();
  return tables;
}

}  // namespace orrery
