#pragma once

// Reads the inputs of commands: files, folders, names. Every error is an InputError.

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// Throws InputError with one error about an argument or a file as a whole.
[[noreturn]] void refuse(std::string_view what, std::string message);

/// Writes to the file what `write` puts into the stream. Throws InputError with the reason if the
/// file cannot be written; then no part of it stays.
void write_file(const std::string& path, FunctionRef<void(std::ostream&)> write);
/// Writes the text to the file, in the same way.
void write_file(const std::string& path, std::string_view text);

/// Refuses to write `option`'s file if it is one of `inputs`.
void keep_inputs(std::string_view option, const std::string& path,
                 const std::vector<std::string>& inputs);

/// Returns whether both name one file, which need not exist. A device such as /dev/null is none.
bool is_same_file(const std::string& a, const std::string& b);

/// Refuses to write the files of two options if both are given and are one file.
void keep_apart(std::string_view option, const std::optional<std::string>& path,
                std::string_view other_option, const std::optional<std::string>& other);

/// Returns the files as given, and for each folder all wanted files below it, sorted. Refuses a
/// folder without one; `none` says what is missing.
std::vector<std::string> files_given(const std::vector<std::string>& paths,
                                     FunctionRef<bool(const std::string&)> wanted,
                                     std::string_view none);

/// Returns the files as given, and from folders all *.json except schemas (*.schema.json). `wanted`
/// says what a folder without them lacks: "law".
std::vector<std::string> json_files(const std::vector<std::string>& paths, std::string_view wanted);

/// Returns a cluster of the catalog. `option` is where the user named it.
Cluster cluster_named(std::string_view option, const std::string& name);

/// Returns a cluster of the catalog, of a file in the catalog's format, or of a JSON text as a
/// scenario has it: an object, or a name in quotes.
Cluster cluster_given(std::string_view option, const std::string& name_or_file,
                      const Limits& limits);

/// Facts about tables of nccl-tests that do not state them.
struct TableFacts {
  std::optional<std::string> collective;
  std::optional<uint32_t> ranks;
};

/// Returns the tables in a file's text. Each note on what was inferred or not read, and each table
/// of several hosts, is a line of `err`.
std::vector<NcclTable> tables_given(const std::string& file, const std::string& text,
                                    const TableFacts& facts, const Limits& limits,
                                    std::ostream& err);

/// Returns the size that `option` was given: "4 MiB", or a whole number of bytes. It must be
/// positive.
Bytes size_named(std::string_view option, std::string_view text);

/// Sets one limit from NAME=VALUE. The names are those of all_limits().
void set_limit(Limits& limits, const std::string& setting);

/// Returns the date of fitted figures: the one asked for, or the day of the run in UTC. Refuses a
/// date that a file cannot hold.
std::string calibration_date(const std::optional<std::string>& asked);

/// Refuses a text that the written file cannot hold.
void require_label(std::string_view option, const std::string& text);

/// Refuses a file that cannot be written, before work that takes minutes.
void require_writable(const std::string& path);

}  // namespace orrery
