#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/base/diagnostics.h"
#include "models/mesh/hlo_sharding.h"
namespace orrery {

namespace {

constexpr std::array<std::string_view, 3> kSubgroupNames = {"manual", "unreduced", "replicated"};

/// A mesh has at most this many devices, and so has a sharding.
constexpr int64_t kMostDevices = std::numeric_limits<uint32_t>::max();

/// A Written is a text as it was read: a name, or sizes and what follows them.
struct Written {
  std::optional<Subgroup> name;
  int64_t devices = 0;
  std::vector<int64_t> dims;   // their product is `devices`
  std::vector<int64_t> shape;  // of the ids that are transposed into `order`
  std::vector<size_t> order;
  std::vector<LogicalId> list;  // instead of the shape
  std::vector<Subgroup> subgroups;
};

/// Reads a text from left to right.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Written parse() {
    Written written;
    expect("{");
    if (take("devices")) {
      expect("=");
      written.devices = read_sizes(written.dims);
      read_devices(written, written.devices);
      read_subgroups(written);
    } else {
      written.name = subgroup("\"devices\", \"manual\", \"unreduced\" or \"replicated\"");
    }
    expect("}");
    if (!next().empty())
      fail(at_, "the end", got());
    return written;
  }

 private:
  struct Number {
    int64_t value;
    size_t at;
  };

  [[noreturn]] static void fail(size_t at, const std::string& expected, const std::string& got) {
    throw HloShardingError(fmt::format("column {}: expected {}, got {}", at + 1, expected, got));
  }

  /// Skips spaces, and returns the word, number or sign that follows. It is empty at the end.
  std::string_view next() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
    if (at_ == text_.size())
      return {};
    const char first = text_[at_];
    const auto in_word = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    // A sign is no part of a character, since messages name it.
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    size_t end = at_ + (text_.substr(at_, 2) == "<=" ? 2 : 1);
    while (end < text_.size() && (is_digit(first)  ? is_digit(text_[end])
                                  : in_word(first) ? in_word(text_[end])
                                                   : continues(text_[end])))
      ++end;
    return text_.substr(at_, end - at_);
  }
  std::string got() {
    const std::string_view token = next();
    return token.empty() ? "the end" : in_quotes(token);
  }

  bool take(std::string_view token) {
    if (next() != token)
      return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token))
      fail(at_, in_quotes(token), got());
  }

  /// Reads numbers with commas between them.
  std::vector<Number> numbers() {
    std::vector<Number> read;
    do {
      const std::string_view digits = next();
      uint32_t value = 0;
      const char* const end = digits.data() + digits.size();
      const auto [stop, error] = std::from_chars(digits.data(), end, value);
      if (digits.empty() || stop != end || error != std::errc())
        fail(at_, fmt::format("a number of 0 to {}", kMostDevices), got());
      read.push_back({int64_t{value}, at_});
      at_ += digits.size();
    } while (take(","));
    return read;
  }

  /// Reads sizes in brackets. Returns their product.
  int64_t read_sizes(std::vector<int64_t>& sizes) {
    expect("[");
    int64_t devices = 1;
    for (const auto [size, at] : numbers()) {
      if (size == 0)
        fail(at, "a size of at least 1", "0");
      if (size > kMostDevices / devices)
        fail(at, fmt::format("sizes of at most {} devices", kMostDevices),
             fmt::format("{} times {}", devices, size));
      devices *= size;
      sizes.push_back(size);
    }
    expect("]");
    return devices;
  }

  /// Reads each of 0 to count - 1 once, in any order. Memory is for the numbers that are written.
  std::vector<int64_t> permutation(int64_t count, const char* of) {
    const std::vector<Number> read = numbers();
    if (std::ssize(read) != count)
      fail(read.front().at, fmt::format("{} {}", count, of), std::to_string(read.size()));
    std::vector<bool> seen(read.size());
    std::vector<int64_t> permutation;
    for (const auto [value, at] : read) {
      if (value >= count || seen[static_cast<size_t>(value)])
        fail(at, fmt::format("each of 0 to {} once", count - 1), std::to_string(value));
      seen[static_cast<size_t>(value)] = true;
      permutation.push_back(value);
    }
    return permutation;
  }

  void read_devices(Written& written, int64_t devices) {
    if (!take("<=")) {
      for (const int64_t id : permutation(devices, "devices"))
        written.list.emplace_back(static_cast<size_t>(id));
      return;
    }
    const size_t begin = at_;
    const int64_t shaped = read_sizes(written.shape);
    if (shaped != devices)
      fail(begin, fmt::format("a shape of {} devices", devices), std::to_string(shaped));
    if (written.shape.size() == 1) {
      written.order = {0};
      return;
    }
    expect("T");
    expect("(");
    for (const int64_t i : permutation(std::ssize(written.shape), "dimensions"))
      written.order.push_back(static_cast<size_t>(i));
    expect(")");
  }

  Subgroup subgroup(const char* expected) {
    const auto* const found = std::find(kSubgroupNames.begin(), kSubgroupNames.end(), next());
    if (found == kSubgroupNames.end())
      fail(at_, expected, got());
    at_ += found->size();
    return static_cast<Subgroup>(found - kSubgroupNames.begin());
  }

  void read_subgroups(Written& written) {
    if (take("last_tile_dim_replicate")) {
      written.subgroups = {Subgroup::Replicated};
      return;
    }
    if (!take("last_tile_dims"))
      return;
    expect("=");
    const size_t begin = at_;
    expect("{");
    do
      written.subgroups.push_back(subgroup("\"manual\", \"unreduced\" or \"replicated\""));
    while (take(","));
    expect("}");
    if (written.subgroups.size() > written.dims.size())
      fail(begin, fmt::format("at most {} subgroups", written.dims.size()),
           std::to_string(written.subgroups.size()));
  }

  std::string_view text_;
  size_t at_ = 0;
};

/// Appends a number, after a comma if another one is before it.
void append_number(std::string& text, int64_t number) {
  if (is_digit(text.back()))
    text += ',';
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

/// Appends "<=[2,4]T(1,0)".
void append_iota(std::string& text, std::span<const IotaDim> iota) {
  std::vector<size_t> shape(iota.size());  // the dimensions of the ids before they are transposed
  std::iota(shape.begin(), shape.end(), size_t{0});
  std::sort(shape.begin(), shape.end(),
            [&](size_t a, size_t b) { return iota[a].stride > iota[b].stride; });
  text += "<=[";
  for (const size_t i : shape)
    append_number(text, iota[i].size);
  text += ']';
  if (iota.size() < 2)
    return;
  text += "T(";
  for (size_t i = 0; i < iota.size(); ++i)
    append_number(text, std::find(shape.begin(), shape.end(), i) - shape.begin());
  text += ')';
}

}  // namespace

HloSharding HloSharding::parse(std::string_view text) {
  Written written = Parser(text).parse();
  HloSharding made;
  if (written.name) {
    made.name_ = written.name;
    return made;
  }
  const size_t rank = written.dims.size() - written.subgroups.size();
  made = tiled(std::move(written.dims), std::move(written.subgroups),
               transposed(written.shape, written.order), std::move(written.list));
  if (made.name_)
    made.stated_ = {std::string(text), written.devices, rank};
  return made;
}

std::string HloSharding::text() const {
  return name_ ? fmt::format("{{{}}}", kSubgroupNames[static_cast<size_t>(*name_)])
               : tiled_text(list_);
}

std::string HloSharding::text_v1() const {
  return name_ ? text() : tiled_text(device_list());
}

std::string HloSharding::tiled_text(std::span<const LogicalId> list) const {
  std::string text = "{devices=[";
  for (const int64_t parts : dims_)
    append_number(text, parts);
  for (const int64_t size : copies_)
    if (size > 1)
      append_number(text, size);
  text += ']';
  if (list.empty()) {
    append_iota(text, iota_);
  } else {
    for (const LogicalId id : list)
      append_number(text, id.index());
  }
  const bool only_replicated = copies(Subgroup::Manual) * copies(Subgroup::Unreduced) == 1;
  if (only_replicated && copies(Subgroup::Replicated) > 1) {
    text += " last_tile_dim_replicate";
  } else if (!only_replicated) {
    const char* before = " last_tile_dims={";
    for (size_t i = 0; i < copies_.size(); ++i)
      if (copies_[i] > 1)
        text.append(std::exchange(before, ", ")).append(kSubgroupNames[i]);
    text += '}';
  }
  return text + '}';
}

}  // namespace orrery
