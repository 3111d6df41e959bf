#pragma once

// An HloSharding says which tile of an array each device holds, as XLA writes it: without names.
//
// On a mesh of axes a, b, c, d = 2, P(None, (d, b), c) cuts the second of four dimensions in 4 and
// the third in 2. Axis a cuts nothing, so 2 devices hold each tile:
//
//   {devices=[1,4,2,1,2]<=[2,4,2]T(2,1,0) last_tile_dim_replicate}
//
// The numbers after "devices=" are the parts of each dimension, and then the sizes of the subgroups
// (here the 2 devices of a tile). The rest says which devices these are, in row-major order: the
// ids 0 to 15 as an array of shape [2,4,2], transposed. The same as a list (V1) begins 0,8,2,10.
// The transposed ids are never stored. They are an IotaDim (a size and a stride) for each axis in
// the order of the cut: (2, 1) for d, (2, 4) and (2, 2) for b and c, and (2, 8) for a. Neighbours
// whose strides continue each other are joined, as b and c to (4, 2). So each order has one form,
// which is also XLA's text.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/id.h"
#include "models/mesh/mesh.h"

namespace orrery {

/// A text is no sharding, or no cut of a mesh gives a sharding. what() is the message.
class HloShardingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A Subgroup says what the devices of one tile hold: axes that cut nothing lie between them. The
/// order is that of the texts.
enum class Subgroup : uint8_t {
  Manual,      // what the program of each device says
  Unreduced,   // addends of the tile
  Replicated,  // equal copies
};

/// An AxisCut says what each axis of a mesh does to an array, by its position in Mesh::axes(). An
/// axis that is not named here replicates.
struct AxisCut {
  std::vector<std::vector<size_t>> dims;  // the axes that cut each dimension, major to minor
  std::vector<size_t> unreduced;
  std::vector<size_t> manual;
  friend bool operator==(const AxisCut&, const AxisCut&) = default;
};

/// Neighbours along an IotaDim of `size` have ids that differ by `stride`.
struct IotaDim {
  int64_t size = 1;
  int64_t stride = 1;
  friend bool operator==(const IotaDim&, const IotaDim&) = default;
};

class HloSharding {
 public:
  /// Every device holds the whole array.
  HloSharding() = default;

  /// Makes the sharding of an array of rank cut.dims.size(). Axes of size 1 and the orders of
  /// `unreduced` and `manual` make no difference. With `ids` (JAX's logical_device_ids), device
  /// ids[i] stands where device i of the mesh does, and devices are listed. Requires that no axis
  /// is named twice, and that `ids` is empty or has each device of the mesh once.
  HloSharding(const Mesh& mesh, const AxisCut& cut, std::span<const LogicalId> ids = {});

  /// Reads a text of either version as XLA writes it, with spaces between words or not. Throws
  /// HloShardingError with the place in the text: "column 10: expected ..., got ...". Tuples,
  /// maximal and unknown shardings, named meshes and metadata are refused. Takes time and memory by
  /// the length of the text, or for kMostListed devices.
  static HloSharding parse(std::string_view text);

  /// Returns the text (V2). It is a name ("{manual}") if nothing is cut and all axes do the same.
  /// Otherwise the devices are those of a transposed shape, or listed if they were given or read
  /// so.
  std::string text() const;

  /// Returns the text in which all devices are listed (V1). Its length grows with devices().
  std::string text_v1() const;

  /// Returns the number of devices, or nothing for a name, which holds for any number. A text that
  /// tiles by 1 alone is a name here, but it still is of the devices and the rank that it was read
  /// with.
  std::optional<int64_t> devices() const;

  /// Returns the rank of its arrays, or nothing for a name, which holds for any rank.
  std::optional<size_t> rank() const;

  /// Returns the devices in the order of the text. Those that replicate a tile are ascending.
  /// Requires that the sharding is no name.
  std::vector<LogicalId> device_list() const;

  /// Returns the cut for which HloSharding(mesh, cut) is equal to this. It names no axes of size 1.
  /// There is only one, but for the rank: {replicated} and {unreduced} have no dimensions here.
  /// Throws HloShardingError if there is none, if it is of other devices, or if devices are manual.
  AxisCut cut_over(const Mesh& mesh) const;

  /// Returns whether both give each device the same tile, whether they list devices or not. Devices
  /// that replicate a tile are a set, but manual and unreduced ones have an order, as in XLA. A
  /// tiling of one device is the same as {replicated}.
  friend bool operator==(const HloSharding& a, const HloSharding& b);

  /// A text with a shape is turned into a list of devices where a subgroup divides no dimension of
  /// the shape, as the groups of 4 in "{devices=[3,4]<=[6,2]T(1,0) last_tile_dim_replicate}". Such
  /// a list has at most this many devices. No cut gives such a text.
  static constexpr int64_t kMostListed = 65'536;

 private:
  /// Stated is the text that tiles by 1 alone, with its devices and its rank.
  struct Stated {
    std::string text;
    int64_t devices = 0;
    size_t rank = 0;
  };

  /// Returns the ids of an array of this shape in the order of its transposition.
  static std::vector<IotaDim> transposed(std::span<const int64_t> shape,
                                         std::span<const size_t> order);
  /// Makes the sharding of a text, of which the last of `dims` are those of `subgroups`.
  static HloSharding tiled(std::vector<int64_t> dims, std::vector<Subgroup> subgroups,
                           std::vector<IotaDim> iota, std::vector<LogicalId> list);
  int64_t& copies(Subgroup subgroup) { return copies_[static_cast<size_t>(subgroup)]; }
  int64_t copies(Subgroup subgroup) const { return copies_[static_cast<size_t>(subgroup)]; }
  /// Makes it a name if nothing is cut and there is at most one subgroup.
  void name_if_alone();
  int64_t position_of(LogicalId device) const;
  std::string tiled_text(std::span<const LogicalId> list) const;

  std::optional<Subgroup> name_ = Subgroup::Replicated;  // if there is one, no tile is used below
  std::optional<Stated> stated_;                         // beside such a name
  std::vector<int64_t> dims_;                            // the parts of each dimension
  std::array<int64_t, 3> copies_ = {1, 1, 1};            // the size of each subgroup
  std::vector<IotaDim> iota_;                            // major to minor
  std::vector<LogicalId> list_;                          // instead of iota_, unless empty
};

}  // namespace orrery
