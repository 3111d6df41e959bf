#pragma once

// Tests state by these helpers that an input is refused: with the whole message on stderr, nothing
// on stdout, and exit code 2. Each input is tried in a folder with valid small.json, small.xml and
// empty/.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tests/tools/import/xml.h"

namespace orrery::test {

/// A `Wrong` is a file and the message that refuses it.
struct Wrong {
  const char* kind;
  std::string text;
  std::string message;
};

struct WrongCommand {
  const char* kind;
  std::vector<std::string> arguments;
  std::string message;
};

/// A `Place` is the folder of the valid inputs. Commands name the files by their names alone.
class Place {
 public:
  Place() {
    folder_.file("small.json", Small{}.text());
    folder_.file("small.xml", two_gather().text());
    folder_.file("empty/readme.txt", "");
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
  }
  ~Place() { std::filesystem::current_path(before_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void refuse(const char* kind, const std::vector<std::string>& arguments,
              const std::string& message) const {
    CAPTURE(kind);
    const Ran wrong = ran(arguments);
    CHECK(wrong.outcome == Outcome::WrongInput);
    CHECK(wrong.out == "");
    CHECK(wrong.err == message + "\n");
  }
  void file(const std::string& name, const std::string& text) const { folder_.file(name, text); }

 private:
  TemporaryFolder folder_;
  std::filesystem::path before_;
};

/// Checks that `command` refuses each text, as `file`.
inline void refuse_all(std::span<const Wrong> all, const std::string& command,
                       const std::string& file) {
  const Place place;
  for (const Wrong& wrong : all) {
    place.file(file, wrong.text);
    place.refuse(wrong.kind, {command, file}, wrong.message);
  }
}

inline void refuse_all(std::span<const WrongCommand> all) {
  const Place place;
  for (const WrongCommand& wrong : all)
    place.refuse(wrong.kind, wrong.arguments, wrong.message);
}

}  // namespace orrery::test
