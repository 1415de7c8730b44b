// Where a path lies: the class that rules judge it by.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/commands.hpp"

namespace tipstaff::gate {

// Ordered from harmless to harmful only within the comments of the rules; a path may be several, as bits.
namespace path_class {
constexpr std::uint32_t kRepository = 1;      // inside the working repository
constexpr std::uint32_t kRepositoryRoot = 2;  // the repository's own root (also kRepository)
constexpr std::uint32_t kVcs = 4;             // its .git
constexpr std::uint32_t kBuild = 8;           // what a build makes again: node_modules, dist, target, caches, .venv
constexpr std::uint32_t kTemporary = 16;      // temporary directories, results of mktemp
constexpr std::uint32_t kSibling = 32;        // beside the repository, or a folder that holds it
constexpr std::uint32_t kHome = 64;           // below a home directory
constexpr std::uint32_t kHomeRoot = 128;      // a home directory itself, or all that is in it (~/*)
constexpr std::uint32_t kSystem = 256;        // /etc, /usr, /boot, /var, C:\Windows ...
constexpr std::uint32_t kRoot = 512;          // the root, or all that is in it (/*), a drive's root
constexpr std::uint32_t kDevice = 1024;       // block devices and the like; not /dev/null and its kin
constexpr std::uint32_t kNullDevice = 2048;   // /dev/null, /dev/stdout ...
constexpr std::uint32_t kWiring = 4096;       // hook settings of every host, this package's own files
constexpr std::uint32_t kSecrets = 8192;      // keys, credential stores, .env
constexpr std::uint32_t kUnknown = 16384;     // cannot be told
constexpr std::uint32_t kOutside = 32768;     // another place that is none of these
constexpr std::uint32_t kDatabase = 65536;    // a database's file (.sqlite, .db, .mdb ...)
constexpr std::uint32_t kGlob = 131072;       // stands for many files
constexpr std::uint32_t kRemote = 262144;     // on another machine or inside a container
}  // namespace path_class

// Returns the classes of a path-like word as the command that carries it would see it.
inline std::uint32_t classify_path(const Surroundings&, const Command&, const Word&) noexcept {
  return path_class::kUnknown;
}

}  // namespace tipstaff::gate
