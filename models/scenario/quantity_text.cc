#include "models/scenario/quantity_text.h"

#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"

namespace orrery {

namespace {

constexpr int64_t kKilo = 1000;
constexpr int64_t kMega = 1000 * kKilo;
constexpr int64_t kGiga = 1000 * kMega;
constexpr int64_t kTera = 1000 * kGiga;
constexpr int64_t kPeta = 1000 * kTera;
constexpr int64_t kExa = 1000 * kPeta;
constexpr int64_t kKibi = 1024;

// Each family goes from its smallest unit to the largest; the base unit comes first.
constexpr std::array kTimes = {
    QuantityUnit{"ps", "_ps", 1},     QuantityUnit{"ns", "_ns", kKilo},
    QuantityUnit{"us", "_us", kMega}, QuantityUnit{"ms", "_ms", kGiga},
    QuantityUnit{"s", "_s", kTera},
};
constexpr std::array kSizes = {
    QuantityUnit{"B", "_bytes", 1},
    QuantityUnit{"kB", "_kB", kKilo},
    QuantityUnit{"MB", "_MB", kMega},
    QuantityUnit{"GB", "_GB", kGiga},
    QuantityUnit{"TB", "_TB", kTera},
    QuantityUnit{"KiB", "_KiB", kKibi},
    QuantityUnit{"MiB", "_MiB", kKibi* kKibi},
    QuantityUnit{"GiB", "_GiB", kKibi* kKibi* kKibi},
    QuantityUnit{"TiB", "_TiB", kKibi* kKibi* kKibi* kKibi},
};
constexpr std::array kRates = {
    QuantityUnit{"B/s", "_Bps", 1},
    QuantityUnit{"kB/s", "_kBps", kKilo},
    QuantityUnit{"MB/s", "_MBps", kMega},
    QuantityUnit{"GB/s", "_GBps", kGiga},
    QuantityUnit{"TB/s", "_TBps", kTera},
    QuantityUnit{"KiB/s", "_KiBps", kKibi},
    QuantityUnit{"MiB/s", "_MiBps", kKibi* kKibi},
    QuantityUnit{"GiB/s", "_GiBps", kKibi* kKibi* kKibi},
    QuantityUnit{"TiB/s", "_TiBps", kKibi* kKibi* kKibi* kKibi},
    QuantityUnit{"kb/s", "_kbps", kKilo / 8, false},
    QuantityUnit{"Mb/s", "_Mbps", kMega / 8, false},
    QuantityUnit{"Gb/s", "_Gbps", kGiga / 8, false},
    QuantityUnit{"Tb/s", "_Tbps", kTera / 8, false},
};
constexpr std::array kWorks = {
    QuantityUnit{"FLOP", "_FLOP", 1},       QuantityUnit{"kFLOP", "_kFLOP", kKilo},
    QuantityUnit{"MFLOP", "_MFLOP", kMega}, QuantityUnit{"GFLOP", "_GFLOP", kGiga},
    QuantityUnit{"TFLOP", "_TFLOP", kTera}, QuantityUnit{"PFLOP", "_PFLOP", kPeta},
    QuantityUnit{"EFLOP", "_EFLOP", kExa},
};
constexpr std::array kWorkRates = {
    QuantityUnit{"FLOP/s", "_FLOPps", 1},       QuantityUnit{"kFLOP/s", "_kFLOPps", kKilo},
    QuantityUnit{"MFLOP/s", "_MFLOPps", kMega}, QuantityUnit{"GFLOP/s", "_GFLOPps", kGiga},
    QuantityUnit{"TFLOP/s", "_TFLOPps", kTera}, QuantityUnit{"PFLOP/s", "_PFLOPps", kPeta},
    QuantityUnit{"EFLOP/s", "_EFLOPps", kExa},
};

constexpr UInt128 kLargestCount = std::numeric_limits<int64_t>::max();

// More digits cannot matter to an exact result. The limit keeps the product within 128 bits.
constexpr size_t kMostDigits = 19;

std::string_view base_unit(Dimension dimension) {
  return units(dimension).front().name;
}

std::string_view noun(Dimension dimension) {
  switch (dimension) {
    case Dimension::Time:
      return "a time";
    case Dimension::Size:
      return "a size";
    case Dimension::Rate:
      return "a rate";
    case Dimension::Work:
      return "a count of operations";
    case Dimension::WorkRate:
      break;
  }
  return "a compute rate";
}

/// A decimal number. The point stands before the last `places` of its `digits`.
struct Decimal {
  std::string digits;
  size_t places = 0;
};

/// Takes a decimal off the front of `text`, without zeros that do not change the number. The result
/// is empty if no decimal stands there.
std::optional<Decimal> take_decimal(std::string_view& text) {
  size_t whole = 0;
  while (whole < text.size() && is_digit(text[whole]))
    ++whole;
  if (whole == 0)
    return std::nullopt;
  Decimal decimal{std::string(text.substr(0, whole)), 0};
  text.remove_prefix(whole);
  if (text.size() >= 2 && text[0] == '.' && is_digit(text[1])) {
    size_t fraction = 1;
    while (fraction < text.size() && is_digit(text[fraction]))
      ++fraction;
    decimal.digits += text.substr(1, fraction - 1);
    decimal.places = fraction - 1;
    text.remove_prefix(fraction);
  }
  while (decimal.places > 0 && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    --decimal.places;
  }
  decimal.digits.erase(0, std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size()));
  return decimal;
}

UInt128 power_of_ten(size_t exponent) {
  UInt128 power = 1;
  for (size_t i = 0; i < exponent; ++i)
    power *= 10;
  return power;
}

QuantityReading scaled(const Decimal& decimal, int64_t scale, Dimension dimension,
                       std::string_view got) {
  const auto too_large = [&] {
    return QuantityReading{
        std::nullopt, fmt::format("expected less than 2^63 {}, got {}", base_unit(dimension), got)};
  };
  const auto not_whole = [&] {
    return QuantityReading{std::nullopt, fmt::format("expected a whole number of {}, got {}",
                                                     base_unit(dimension), got)};
  };
  if (decimal.places > kMostDigits)
    return not_whole();
  if (decimal.digits.size() > kMostDigits)
    return decimal.digits.size() - decimal.places > kMostDigits ? too_large() : not_whole();
  UInt128 mantissa = 0;
  for (const char digit : decimal.digits)
    mantissa = mantissa * 10 + static_cast<unsigned>(digit - '0');
  const UInt128 amount = mantissa * static_cast<UInt128>(scale);
  const UInt128 divisor = power_of_ten(decimal.places);
  if (amount % divisor != 0)
    return not_whole();
  if (amount / divisor > kLargestCount)
    return too_large();
  return {static_cast<int64_t>(amount / divisor), ""};
}

}  // namespace

std::span<const QuantityUnit> units(Dimension dimension) {
  switch (dimension) {
    case Dimension::Time:
      return kTimes;
    case Dimension::Size:
      return kSizes;
    case Dimension::Rate:
      return kRates;
    case Dimension::Work:
      return kWorks;
    case Dimension::WorkRate:
      break;
  }
  return kWorkRates;
}

std::string_view without_suffix(std::string_view key, Dimension dimension) {
  for (const QuantityUnit& unit : units(dimension))
    if (key.size() > unit.suffix.size() && key.ends_with(unit.suffix))
      return key.substr(0, key.size() - unit.suffix.size());
  return key;
}

std::string suffix_hint(std::string_view key, std::string_view quantity, Dimension dimension) {
  if (!key.starts_with(quantity) || key.substr(quantity.size(), 1) != "_")
    return "";
  const std::string_view given = key.substr(quantity.size() + 1);
  std::vector<std::string_view> suffixes;  // without "_"
  for (const QuantityUnit& unit : units(dimension)) {
    if (unit.suffix.empty())
      continue;
    suffixes.push_back(unit.suffix.substr(1));
    if (unit.name == given || in_lower_case(suffixes.back()) == in_lower_case(given))
      return fmt::format("; did you mean \"{}{}\"?", quantity, unit.suffix);
  }
  if (const std::string_view near = near_miss(given, suffixes); !near.empty())
    return fmt::format("; did you mean \"{}_{}\"?", quantity, near);
  const std::string_view last = suffixes.back();
  suffixes.pop_back();
  return fmt::format("; the suffix of {} is \"_{}\" or \"_{}\"", noun(dimension),
                     fmt::join(suffixes, "\", \"_"), last);
}

std::string example(Dimension dimension) {
  const auto such_as = [&]() -> std::string_view {
    switch (dimension) {
      case Dimension::Time:
        return "1 us";
      case Dimension::Size:
        return "80 GiB";
      case Dimension::Rate:
        return "50 GB/s";
      case Dimension::Work:
        return "2 TFLOP";
      case Dimension::WorkRate:
        break;
    }
    return "989 TFLOP/s";
  };
  return fmt::format("{} such as \"{}\"", noun(dimension), such_as());
}

QuantityReading read_quantity(std::string_view text, Dimension dimension) {
  std::string_view rest = text;
  const std::optional<Decimal> decimal = take_decimal(rest);
  if (!rest.empty() && rest.front() == ' ')
    rest.remove_prefix(1);
  if (decimal) {
    for (const QuantityUnit& unit : units(dimension)) {
      if (unit.name == rest)
        return scaled(*decimal, unit.scale, dimension, in_quotes(text));
    }
  }
  return {std::nullopt, fmt::format("expected {}, got {}", example(dimension), in_quotes(text))};
}

QuantityReading read_count(std::string_view digits, const QuantityUnit& unit, Dimension dimension) {
  std::string_view rest = digits;
  const std::optional<Decimal> decimal = take_decimal(rest);
  if (!decimal || decimal->places > 0 || !rest.empty())
    return {std::nullopt, fmt::format("expected a whole number of {}, got {}", unit.name, digits)};
  return scaled(*decimal, unit.scale, dimension, digits);
}

std::optional<int64_t> read_millionths(std::string_view digits) {
  std::string_view rest = digits;
  const std::optional<Decimal> decimal = take_decimal(rest);
  if (!decimal || !rest.empty())
    return std::nullopt;
  return scaled(*decimal, kMega, Dimension::Time, digits).count;
}

std::string quantity_text(int64_t count, Dimension dimension) {
  ORRERY_CHECK(count >= 0, "a quantity that is written is not negative");
  std::string best = fmt::format("{} {}", count, base_unit(dimension));
  for (const QuantityUnit& unit : units(dimension)) {
    if (!unit.written || count < unit.scale)
      continue;
    std::string digits = fmt::format("{}", count / unit.scale);
    // The remainder is written as decimals, until the text is no shorter than the best so far.
    auto rest = static_cast<UInt128>(count % unit.scale);
    if (rest != 0)
      digits += '.';
    while (rest != 0 && digits.size() <= best.size()) {
      rest *= 10;
      digits += static_cast<char>('0' + static_cast<int>(rest / static_cast<UInt128>(unit.scale)));
      rest %= static_cast<UInt128>(unit.scale);
    }
    std::string text = fmt::format("{} {}", digits, unit.name);
    // Among texts of one length the one with the larger unit is easier to read.
    if (rest == 0 && text.size() <= best.size())
      best = std::move(text);
  }
  return best;
}

}  // namespace orrery
