#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery {
namespace {

using Kind = DocumentNode::Kind;

/// Returns the value of a key. The result is empty if it is absent or null.
std::optional<DocumentNode> given(DocumentNode object, std::string_view key) {
  std::optional<DocumentNode> node = object.find(key);
  if (node && node->kind() == Kind::Null)
    node.reset();
  return node;
}

std::optional<PrintedDecimal> decimal(DocumentNode node, std::string_view what, int decimals,
                                      Diagnostics& diagnostics) {
  std::optional<PrintedDecimal> number;
  if (node.kind() == Kind::Number)
    number = read_decimal(node.number(), decimals);
  if (!number)
    expected(node, what, diagnostics);
  return number;
}

constexpr std::string_view kTimeText = "a time in us";
constexpr std::string_view kBandwidthText = "a bandwidth in GB/s";

std::optional<int64_t> whole_number(DocumentNode node, std::string_view what, int64_t low,
                                    Diagnostics& diagnostics) {
  return read_integer(node, what, {low, int64_t{1} << 62U}, diagnostics);
}

std::optional<uint32_t> ranks_of(DocumentNode node, std::string_view what,
                                 Diagnostics& diagnostics) {
  const auto number = read_integer(node, what, {1, kMostNcclRanks}, diagnostics);
  return number ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

/// Reads the file of one run (-J).
class RunReader {
 public:
  RunReader(DocumentNode root, Diagnostics& diagnostics) : root_(root), diagnostics_(diagnostics) {}

  NcclDraft read(DocumentNode results) {
    draft_.origin = results.origin();
    if (const auto args = given(root_, "args"))
      read_program(*args);
    if (const auto code = given(root_, "nccl_version"))
      if (const auto number = whole_number(*code, "a version of NCCL", 0, diagnostics_))
        draft_.table.nccl_version = version_of_code(*number);
    if (const auto config = given(root_, "config"))
      read_config(*config);
    if (is_list(results, "a list of rows", diagnostics_))
      for (const DocumentNode row : results)
        read_row(row);
    return std::move(draft_);
  }

 private:
  /// Reads the program. It is the first argument, or a later one if another program runs it.
  void read_program(DocumentNode args) {
    if (!is_list(args, "a list of arguments", diagnostics_))
      return;
    for (const DocumentNode arg : args) {
      if (arg.kind() != Kind::Text || arg.text().find("_perf") == std::string::npos)
        continue;
      if (const auto collective = nccl_collective_named(arg.text())) {
        draft_.named.push_back(*collective);
        return;
      }
    }
  }

  void read_config(DocumentNode config) {
    if (!is_object(config, "an object of settings", diagnostics_))
      return;
    NcclSettings settings;
    bool complete = true;
    const auto number = [&](std::string_view key, int64_t& to) {
      if (const auto node = given(config, key)) {
        const auto value = whole_number(*node, "a whole number", 0, diagnostics_);
        complete &= value.has_value();
        to = value.value_or(0);
      }
    };
    const auto ranks = [&](std::string_view key, uint32_t& to) {
      const auto node = given(config, key);
      const auto value = node ? ranks_of(*node, "a whole number", diagnostics_) : std::nullopt;
      complete &= value.has_value();
      to = value.value_or(1);
    };
    ranks("nthreads", settings.threads);
    ranks("ngpus", settings.gpus);
    int64_t least = settings.least.count();
    int64_t most = settings.most.count();
    number("minimum_bytes", least);
    number("maximum_bytes", most);
    settings.least = Bytes(least);
    settings.most = Bytes(most);
    settings.step_is_factor = given(config, "step_factor").has_value();
    number(settings.step_is_factor ? "step_factor" : "step_bytes", settings.step);
    number("warmup_iters", settings.warmup);
    number("iterations", settings.iterations);
    number("aggregated_iterations", settings.aggregated);
    number("validation", settings.checks);
    if (!complete || int64_t{settings.threads} * settings.gpus > kMostNcclRanks)
      return;
    draft_.table.settings = settings;
    if (const auto devices = given(config, "devices"))
      read_devices(*devices);
  }

  /// Reads the list, which has the first device of each process.
  void read_devices(DocumentNode devices) {
    if (!is_list(devices, "a list of devices", diagnostics_))
      return;
    std::optional<int64_t> group;
    std::set<std::string> hosts;
    int64_t processes = 0;
    for (const DocumentNode device : devices) {
      if (!is_object(device, "a device", diagnostics_))
        return;
      const auto own = given(device, "group");
      const auto number = own ? whole_number(*own, "a group", 0, diagnostics_) : 0;
      if (!number)
        return;
      if (*number != group.value_or(*number))
        continue;
      group = *number;
      ++processes;
      if (const auto host = given(device, "hostname"); host && host->kind() == Kind::Text)
        hosts.insert(host->text());
      if (const auto info = given(device, "device_info"); info && info->kind() == Kind::Text)
        name_device(info->text());
    }
    const NcclSettings& settings = *draft_.table.settings;
    const int64_t ranks = processes * settings.threads * settings.gpus;
    if (ranks < 1 || ranks > kMostNcclRanks)
      return;
    draft_.ranks.push_back(static_cast<uint32_t>(ranks));
    draft_.table.hosts = static_cast<uint32_t>(hosts.size());
  }

  void name_device(const std::string& name) {
    std::vector<std::string>& names = draft_.table.device_names;
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }

  void read_row(DocumentNode node) {
    require_room(draft_.rows.size(), node.origin(), diagnostics_);
    if (!is_object(node, "a row", diagnostics_))
      return;
    PrintedRow row;
    row.origin = node.origin();
    const auto size = given(node, "size");
    if (!size) {
      diagnostics_.add(node.origin(), "expected a row with \"size\", got none");
      return;
    }
    row.size = Bytes(whole_number(*size, "a size in bytes", 0, diagnostics_).value_or(0));
    if (const auto count = given(node, "count"))
      row.count = whole_number(*count, "a count of elements", 0, diagnostics_);
    if (const auto type = given(node, "type"))
      row.type = read_text(*type, "a type", diagnostics_).value_or("");
    if (const auto redop = given(node, "redop"))
      row.redop = read_text(*redop, "an operation", diagnostics_);
    if (const auto root = given(node, "root"))
      row.root = read_root(*root);
    if (const auto figures = given(node, "out_of_place"))
      row.out_of_place = read_figures(*figures);
    if (const auto figures = given(node, "in_place"))
      row.in_place = read_figures(*figures);
    draft_.rows.push_back(std::move(row));
  }

  /// Reads the root, which is a text with spaces, as in the table: "    -1".
  std::optional<int64_t> read_root(DocumentNode node) {
    if (node.kind() == Kind::Number)
      return whole_number(node, "a root", -1, diagnostics_);
    if (node.kind() == Kind::Text) {
      const std::vector<std::string_view> words = words_between_spaces(node.text());
      if (words.size() == 1 && words[0] == "-1")
        return -1;
      if (words.size() == 1)
        if (const auto root = read_decimal(words[0], 0))
          return root->value;
    }
    expected(node, "a root", diagnostics_);
    return std::nullopt;
  }

  std::optional<PrintedFigures> read_figures(DocumentNode node) {
    if (!is_object(node, "times and bandwidths", diagnostics_))
      return std::nullopt;
    PrintedFigures figures;
    std::optional<DocumentNode> time = given(node, "time");
    if (!time) {
      time = given(node, "cpu_time");
      draft_.times_are_cpu_times |= time.has_value();
    }
    if (!time) {
      diagnostics_.add(node.origin(), "expected \"time\", got none");
      return std::nullopt;
    }
    const auto took = decimal(*time, kTimeText, kTimeDecimals, diagnostics_);
    if (!took)
      return std::nullopt;
    figures.time = *took;
    figures.algbw = bandwidth(node, "alg_bw");
    figures.busbw = bandwidth(node, "bus_bw");
    if (const auto wrong = given(node, "nwrong"))
      if (const auto number = decimal(*wrong, "a number of wrong elements", 0, diagnostics_))
        figures.wrong = number->value;
    return figures;
  }

  std::optional<PrintedDecimal> bandwidth(DocumentNode figures, std::string_view key) {
    const auto node = given(figures, key);
    if (!node || (node->kind() == Kind::Text && node->text() == "nan"))
      return std::nullopt;
    return decimal(*node, kBandwidthText, kBandwidthDecimals, diagnostics_);
  }

  DocumentNode root_;
  Diagnostics& diagnostics_;
  NcclDraft draft_;
};

/// Reads one published table.
class PublishedReader {
 public:
  PublishedReader(DocumentNode node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics) {}

  std::optional<NcclDraft> read() {
    draft_.origin = node_.origin();
    if (!is_object(node_, "a table", diagnostics_))
      return std::nullopt;
    read_facts();
    const auto columns = given(node_, "columns");
    const auto rows = given(node_, "rows");
    if (!columns || !rows) {
      diagnostics_.add(node_.origin(), "expected a table with \"columns\" and \"rows\"");
      return std::nullopt;
    }
    if (!read_columns(*columns) || !is_list(*rows, "a list of rows", diagnostics_))
      return std::nullopt;
    for (const DocumentNode row : *rows)
      read_row(row);
    return std::move(draft_);
  }

 private:
  enum class Cell : uint8_t { Size, Time, Algbw, Busbw };
  struct PlacedCell {
    Cell cell = Cell::Size;
    bool in_place = false;
  };

  static std::optional<PlacedCell> cell_named(std::string_view name) {
    static const std::map<std::string_view, PlacedCell> kCells = {
        {"size_B", {Cell::Size, false}},          {"oop_time_us", {Cell::Time, false}},
        {"oop_algbw_GBps", {Cell::Algbw, false}}, {"oop_busbw_GBps", {Cell::Busbw, false}},
        {"ip_time_us", {Cell::Time, true}},       {"ip_algbw_GBps", {Cell::Algbw, true}},
        {"ip_busbw_GBps", {Cell::Busbw, true}},
    };
    const auto found = kCells.find(name);
    return found == kCells.end() ? std::nullopt : std::optional(found->second);
  }

  void read_facts() {
    if (const auto name = given(node_, "collective"))
      read_collective(*name);
    if (const auto ranks = given(node_, "nranks"))
      if (const auto number = ranks_of(*ranks, "a number of ranks", diagnostics_))
        draft_.ranks.push_back(*number);
    if (const auto hosts = given(node_, "nhosts"))
      draft_.table.hosts = ranks_of(*hosts, "a number of hosts", diagnostics_);
    if (const auto dtype = given(node_, "dtype"))
      type_ = read_text(*dtype, "a type", diagnostics_).value_or("");
    if (const auto redop = given(node_, "redop"))
      redop_ = read_text(*redop, "an operation", diagnostics_);
    if (const auto file = given(node_, "file"))
      draft_.table.source = read_text(*file, "a file's name", diagnostics_).value_or("");
    if (const auto versions = given(node_, "nccl_version"))
      draft_.table.nccl_version = first_version(*versions);
    for (const std::string_view key : {"device_names", "device"})
      if (const auto names = given(node_, key))
        if (auto read = read_names(*names, "the names of devices", diagnostics_))
          draft_.table.device_names = std::move(*read);
    if (const auto line = given(node_, "nThread_line"))
      if (const auto text = read_text(*line, "the line nThread", diagnostics_))
        draft_.table.settings = read_settings(*text, line->origin(), diagnostics_);
  }

  void read_collective(DocumentNode node) {
    const auto text = read_text(node, "a collective of nccl-tests", diagnostics_);
    if (!text)
      return;
    if (const auto collective = nccl_collective_named(*text))
      draft_.named.push_back(*collective);
    else
      expected(node, "a collective of nccl-tests", diagnostics_);
  }

  /// Returns the first version, without its suffix: "2.26.6" if the list has "2.26.6+cuda12.8".
  std::optional<std::string> first_version(DocumentNode node) {
    const auto names = read_names(node, "versions of NCCL", diagnostics_);
    if (!names || names->empty())
      return std::nullopt;
    return names->front().substr(0, names->front().find('+'));
  }

  bool read_columns(DocumentNode columns) {
    if (!is_list(columns, "a list of columns", diagnostics_))
      return false;
    for (const DocumentNode column : columns) {
      const std::optional<PlacedCell> cell =
          column.kind() == Kind::Text ? cell_named(column.text()) : std::nullopt;
      if (!cell) {
        expected(column, "size_B, or oop_ or ip_ and time_us, algbw_GBps or busbw_GBps",
                 diagnostics_);
        return false;
      }
      cells_.push_back(*cell);
      const auto alike = [&](const PlacedCell& other) {
        return other.cell == cell->cell && other.in_place == cell->in_place;
      };
      if (std::count_if(cells_.begin(), cells_.end(), alike) > 1) {
        diagnostics_.add(column.origin(), fmt::format("expected each column once, got {} again",
                                                      in_quotes(column.text())));
        return false;
      }
    }
    if (!has({Cell::Size, false}) || (!has({Cell::Time, false}) && !has({Cell::Time, true}))) {
      diagnostics_.add(columns.origin(), "expected size_B, and oop_time_us or ip_time_us");
      return false;
    }
    for (const bool in_place : {false, true}) {
      if (has({Cell::Time, in_place}))
        continue;
      if (has({Cell::Algbw, in_place}) || has({Cell::Busbw, in_place})) {
        diagnostics_.add(columns.origin(), fmt::format("expected {}_time_us beside its bandwidths",
                                                       in_place ? "ip" : "oop"));
        return false;
      }
    }
    return true;
  }

  bool has(PlacedCell wanted) const {
    return std::any_of(cells_.begin(), cells_.end(), [&](const PlacedCell& cell) {
      return cell.cell == wanted.cell && cell.in_place == wanted.in_place;
    });
  }

  void read_row(DocumentNode node) {
    require_room(draft_.rows.size(), node.origin(), diagnostics_);
    if (!is_list(node, "a row", diagnostics_))
      return;
    if (node.size() != cells_.size()) {
      diagnostics_.add(node.origin(), fmt::format("expected a row of {} numbers, got {}",
                                                  cells_.size(), node.size()));
      return;
    }
    PrintedRow row;
    row.origin = node.origin();
    row.type = type_;
    row.redop = redop_;
    if (has({Cell::Time, false}))
      row.out_of_place.emplace();
    if (has({Cell::Time, true}))
      row.in_place.emplace();
    bool complete = true;
    size_t at = 0;
    for (const DocumentNode value : node) {
      const PlacedCell& cell = cells_[at++];
      if (cell.cell == Cell::Size) {
        const auto size = whole_number(value, "a size in bytes", 0, diagnostics_);
        row.size = Bytes(size.value_or(0));
        complete &= size.has_value();
        continue;
      }
      PrintedFigures& figures = cell.in_place ? *row.in_place : *row.out_of_place;
      const bool time = cell.cell == Cell::Time;
      const auto number = decimal(value, time ? kTimeText : kBandwidthText,
                                  time ? kTimeDecimals : kBandwidthDecimals, diagnostics_);
      complete &= number.has_value();
      if (time)
        figures.time = number.value_or(PrintedDecimal());
      else
        (cell.cell == Cell::Algbw ? figures.algbw : figures.busbw) = number;
    }
    if (complete)
      draft_.rows.push_back(std::move(row));
  }

  DocumentNode node_;
  Diagnostics& diagnostics_;
  NcclDraft draft_;
  std::string type_;
  std::optional<std::string> redop_;
  std::vector<PlacedCell> cells_;
};

}  // namespace

std::vector<NcclDraft> read_json_tables(std::string_view text, Diagnostics& diagnostics,
                                        const Limits& limits) {
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  const std::optional<DocumentNode> root = document.root();
  std::vector<NcclDraft> drafts;
  if (!root || !is_object(*root, "an object of nccl-tests", diagnostics))
    return drafts;
  if (const auto results = given(*root, "results")) {
    drafts.push_back(RunReader(*root, diagnostics).read(*results));
  } else if (const auto tables = given(*root, "measured")) {
    if (is_list(*tables, "a list of tables", diagnostics))
      for (const DocumentNode table : *tables)
        if (auto draft = PublishedReader(table, diagnostics).read())
          drafts.push_back(std::move(*draft));
  } else {
    diagnostics.add(root->origin(),
                    "expected \"results\" (nccl-tests with -J) or \"measured\" (published tables)");
  }
  return drafts;
}

}  // namespace orrery
