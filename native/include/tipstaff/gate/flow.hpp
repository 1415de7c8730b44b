// What the calls of one run did so far, as far as later calls are judged by it: fixed in size, without pointers,
// so that it may lie in a file between two starts of the hook program.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"

namespace tipstaff::gate {

struct FlowState {
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::uint32_t kFiles = 64;
  struct File {
    std::uint64_t path = 0;      // hash of the path as it was written
    std::uint32_t decision = 0;  // what its text would do when it runs
    std::uint32_t order = 0;     // 0: free; the oldest one gives way
  };

  char magic[8] = {'T', 'I', 'P', 'S', 'F', 'L', 'O', 'W'};
  std::uint32_t version = kVersion;
  std::uint32_t marks = 0;  // bits of tipstaff::gate::mark
  std::uint32_t changed_lines = 0;
  std::uint32_t order = 0;
  File files[kFiles];

  // Bytes from a file: anything but a state of this version is ignored.
  bool valid() const noexcept { return std::memcmp(magic, "TIPSFLOW", 8) == 0 && version == kVersion; }

  static std::uint64_t hash(std::string_view path) noexcept {
    while (path.size() > 2 && path.substr(0, 2) == "./") path.remove_prefix(2);
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (char letter : path) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    return sum;
  }
  const File* find(std::string_view path) const noexcept {
    const std::uint64_t wanted = hash(path);
    for (const File& file : files)
      if (file.order != 0 && file.path == wanted) return &file;
    return nullptr;
  }
  void remember(std::string_view path, Decision decision) noexcept {
    const std::uint64_t wanted = hash(path);
    File* place = &files[0];
    for (File& file : files) {
      if (file.order != 0 && file.path == wanted) {
        place = &file;
        break;
      }
      if (file.order < place->order) place = &file;
    }
    place->path = wanted;
    place->decision = static_cast<std::uint32_t>(decision);
    place->order = ++order == 0 ? ++order : order;
  }
};

static_assert(sizeof(FlowState) == 24 + 16 * FlowState::kFiles, "a flow state lies in files as it is");

}  // namespace tipstaff::gate
