#include "tools/cli/inputs.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "models/scenario/quantity_text.h"
#include "tools/nccl_tests/table.h"

namespace orrery {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Returns whether the file is read where its folder is named.
bool is_read(const std::string& path) {
  return ends_with(path, ".json") && !ends_with(path, ".schema.json");
}

}  // namespace

void refuse(std::string_view what, std::string message) {
  throw InputError(what, {{{}, std::move(message)}});
}

void write_file(const std::string& path, FunctionRef<void(std::ostream&)> write) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) {
    write(file);
    file.flush();
  }
  if (file)
    return;
  const std::string reason = std::strerror(errno);
  if (std::error_code error; file.is_open() && std::filesystem::is_regular_file(path, error))
    std::filesystem::remove(path, error);
  refuse(path, fmt::format("cannot be written: {}", reason));
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, [&](std::ostream& file) { file << text; });
}

void keep_inputs(std::string_view option, const std::string& path,
                 const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(path, input, error))
      refuse(option, fmt::format("would overwrite the input {}", input));
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error))
    return std::filesystem::is_regular_file(a, error);
  // A file that does not exist yet may have several names too: "a" and "./a".
  const auto whole = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  const std::filesystem::path one = whole(a);
  return !error && one == whole(b) && !std::filesystem::exists(one, error);
}

void keep_apart(std::string_view option, const std::optional<std::string>& path,
                std::string_view other_option, const std::optional<std::string>& other) {
  if (path && other && is_same_file(*path, *other))
    refuse(option, fmt::format("is the file of {}", other_option));
}

std::vector<std::string> files_given(const std::vector<std::string>& paths,
                                     FunctionRef<bool(const std::string&)> wanted,
                                     std::string_view none) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    for (const std::filesystem::directory_entry& entry :
         std::filesystem::recursive_directory_iterator(
             path, std::filesystem::directory_options::skip_permission_denied))
      if (entry.is_regular_file() && wanted(entry.path().string()))
        below.push_back(entry.path().string());
    if (below.empty())
      refuse(path, std::string(none));
    std::sort(below.begin(), below.end());
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

std::vector<std::string> json_files(const std::vector<std::string>& paths,
                                    std::string_view wanted) {
  return files_given(
      paths, [](const std::string& path) { return is_read(path); },
      fmt::format("no {} (*.json) lies below this folder", wanted));
}

Cluster cluster_named(std::string_view option, const std::string& name) {
  if (std::optional<Cluster> cluster = catalog_cluster(name))
    return std::move(*cluster);
  if (std::string error = slice_error(name); !error.empty())
    refuse(option, std::move(error));
  std::vector<std::string_view> names;
  for (const CatalogFile& entry : catalog())
    names.push_back(entry.name);
  const std::string_view near = near_miss(name, names);
  refuse(option, near.empty()
                     ? fmt::format("the catalog has no \"{}\"; `orrery show catalog` "
                                   "lists what it has",
                                   name)
                     : fmt::format("the catalog has no \"{}\"; did you mean \"{}\"?", name, near));
}

Cluster cluster_given(std::string_view option, const std::string& name_or_file,
                      const Limits& limits) {
  const bool is_json = name_or_file.starts_with('{') || name_or_file.starts_with('"');
  std::error_code error;
  if (!is_json && (catalog_cluster(name_or_file) ||
                   (name_or_file != "-" && !std::filesystem::exists(name_or_file, error))))
    return cluster_named(option, name_or_file);
  const std::string text = is_json ? name_or_file : load_text(name_or_file, limits);
  Diagnostics diagnostics(is_json ? std::string(option) : name_or_file);
  const Document document(text, diagnostics, limits);
  std::optional<ClusterReading> read;
  if (const std::optional<DocumentNode> root = document.root()) {
    const bool is_scenario = root->kind() == DocumentNode::Kind::Object && root->find("cluster");
    read = read_cluster(is_scenario ? *root->find("cluster") : *root, limits, diagnostics);
  }
  diagnostics.throw_if_any();
  return std::move(read->cluster);
}

std::vector<NcclTable> tables_given(const std::string& file, const std::string& text,
                                    const TableFacts& facts, const Limits& limits,
                                    std::ostream& err) {
  NcclReadOptions options;
  if (facts.collective) {
    options.collective = nccl_collective_named(*facts.collective);
    if (!options.collective)
      refuse("--collective",
             fmt::format("expected a collective of nccl-tests, got \"{}\"", *facts.collective));
  }
  options.ranks = facts.ranks;
  options.limits = limits;
  std::vector<NcclTable> tables = read_nccl_tables(text, file, options);
  for (const NcclTable& table : tables) {
    for (const std::string& note : table.notes)
      err << "orrery: " << file << ": " << note << "\n";
    if (table.hosts.value_or(1) > 1)
      err << "orrery: " << file
          << fmt::format(
                 ": line {}: {} on {} hosts are taken as the first devices of the cluster\n",
                 table.line, counted(table.ranks, "rank"), *table.hosts);
  }
  return tables;
}

Bytes size_named(std::string_view option, std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  const QuantityReading reading =
      read_quantity(fmt::format("{}{}", text, digits ? " B" : ""), Dimension::Size);
  if (!reading.count)
    refuse(option, reading.error);
  if (*reading.count == 0)
    refuse(option, "expected more than 0 bytes");
  return Bytes(*reading.count);
}

void set_limit(Limits& limits, const std::string& setting) {
  const size_t equals = setting.find('=');
  const std::string_view name = std::string_view(setting).substr(0, equals);
  std::vector<std::string_view> names;
  const LimitInfo* named = nullptr;
  for (const LimitInfo& limit : all_limits()) {
    names.push_back(limit.name);
    if (limit.name == name)
      named = &limit;
  }
  if (named == nullptr)
    refuse("--limit", fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "), name,
                                  did_you_mean(name, names)));
  if (equals == std::string::npos)
    refuse("--limit", fmt::format("expected {0}=VALUE, got \"{0}\"", name));
  const std::string text = setting.substr(equals + 1);
  int64_t value = 0;
  if (named->bytes) {
    value = size_named("--limit " + std::string(name), text).count();
  } else {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end)
      value = 0;
  }
  if (value < 1 || value > named->most)
    refuse("--limit", fmt::format("expected {} from 1 to {}, got \"{}\"", name, named->most, text));
  limits.*named->value = value;
}

}  // namespace orrery
