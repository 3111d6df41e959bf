#pragma once

// Finds parts of a proof that several tests check.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tools/import/prove.h"

namespace orrery::test {

inline const Check& named(const AlgorithmProof& proof, const std::string& name) {
  for (const Check& each : proof.checks)
    if (each.name == name)
      return each;
  FAIL("no check " << name);
  return proof.checks.front();
}

inline bool has_note(const AlgorithmProof& proof, const std::string& text) {
  return std::any_of(proof.notes.begin(), proof.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace orrery::test
