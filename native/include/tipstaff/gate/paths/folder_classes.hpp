// The classes of paths, and which of them a folder has by where it is alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/paths/installed.hpp"
#include "tipstaff/gate/paths/parts.hpp"

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
constexpr std::uint32_t kDevice = 1024;       // block devices and the like; not /dev/null and the like
constexpr std::uint32_t kNullDevice = 2048;   // /dev/null, /dev/stdout ...
constexpr std::uint32_t kWiring = 4096;       // hook settings of every host, this package's own files
constexpr std::uint32_t kSecrets = 8192;      // keys, credential stores, .env
constexpr std::uint32_t kUnknown = 16384;     // not known
constexpr std::uint32_t kOutside = 32768;     // any other path
constexpr std::uint32_t kDatabase = 65536;    // a database's file (.sqlite, .db, .mdb ...)
constexpr std::uint32_t kGlob = 131072;       // stands for many files
constexpr std::uint32_t kRemote = 262144;     // on another machine or inside a container
constexpr std::uint32_t kCredential = 524288;  // no path: the value of a variable that is named as a credential is
constexpr std::uint32_t kMade = 1048576;       // made by the same line before: see rules/made.hpp
constexpr std::uint32_t kRefilled = 4194304;   // filled again by the same line, if that succeeds: see rules/made.hpp
constexpr std::uint32_t kEcosystem = 8388608;  // made by the tools of an ecosystem that the line shows: see rules/made.hpp
constexpr std::uint32_t kFile = 2097152;       // one file by its ending, which folders do not have: x.tar.gz, x.json
constexpr std::uint32_t kReadOnly = 16777216;  // what would be kWiring, and is mounted read-only: writing there fails
}  // namespace path_class

// Notes on some bits:
//  - a temporary directory itself, or all that is in it (/tmp, /tmp/*), is kTemporary | kOutside;
//  - caches below a home (~/.cache/x) are kHome | kBuild; else kBuild is only said inside the repository;
//  - what is only known when it runs is kUnknown, with kSecrets, kWiring, kVcs or kDatabase where a name in it tells;
//  - where an unknown part may be empty, the classes of what is left without it are added ("$UNSET"/* is kRoot too).

namespace path_detail {

constexpr std::string_view kNullDevices =
    "null zero full random urandom stdout stderr stdin tty fd pts ptmx console ptyp0 stdnull";
constexpr std::string_view kSystemNames =
    "bin boot dev etc lib lib32 lib64 libx32 opt proc run sbin srv sys usr var nix snap lost+found system library "
    "applications private cores network windows winnt programdata recovery perflogs $recycle.bin efi msocache gnu";

inline bool is_block_device(const PathParts& path) noexcept {
  if (path.names_one_of(1, "mapper disk block mem kmem port sda sdb sdc vda vdb xvda hda nvme0n1 nvme0 mmcblk0")) return true;
  const std::string_view name = path.part[1];
  for (const std::string_view prefix : {"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "md", "nbd",
                                        "zd", "sr", "ram", "zram", "nst", "st", "ada", "da", "vg", "bcache", "drbd", "rbd"}) {
    if (!ascii::starts_with(name, prefix)) continue;
    if (prefix == "disk" || prefix == "rdisk" || prefix.size() > 2) return true;
    const std::string_view rest = name.substr(prefix.size());
    if (rest.empty()) return false;
    return ascii::is_digit(rest[0]) || prefix == "sd" || prefix == "hd" || prefix == "vd" || rest[0] == '*' ||
           rest[0] == '?' || rest[0] == '[' || rest[0] == kUnknownPart;
  }
  return false;
}

// Devices that are files or memory of this machine: /dev/loop0, /dev/mapper/loop0p1, /dev/zram0.
inline bool is_made_device(const PathParts& path) noexcept {
  if (path.count < 2 || path.has_glob(path.part[path.count - 1]) || PathParts::is_unknown(path.part[path.count - 1])) return false;
  const std::string_view name = path.part[path.count - 1];
  if (path.count > (path.names(1, "mapper") ? 3u : 2u)) return false;
  for (const std::string_view prefix : {"loop", "zram", "ram", "nbd"})
    if (ascii::starts_with(name, prefix) && name.size() > prefix.size() && ascii::is_digit(name[prefix.size()])) return true;
  return false;
}

// Outputs where containers and pipelines have the project that is worked on: /workspace/web/dist.
inline bool is_work_output(const PathParts& path) noexcept {
  if (path.base != PathBase::root || path.count < 2 || path.climbs != 0 || path.has_glob(path.part[0]) || PathParts::is_unknown(path.part[1])) return false;
  if (!path.names_one_of(0, "workspace workspaces app code src work workdir repo project")) return false;
  return is_build(path, path.count > 2 && path.names_one_of(0, "workspace workspaces") ? 2 : 1);
}

// The classes by place alone, of a path with a known base that is no repository's.
inline std::uint32_t classify_folder(const PathParts& path) noexcept {
  using namespace path_class;
  const std::uint32_t n = path.count;
  if (path.base == PathBase::device) {
    if (n > 0 && ascii::equals(path.part[0], "nul")) return kNullDevice;
    return kDevice;
  }
  if (path.base == PathBase::share) {
    if (n == 2 && path.part[1].size() == 2 && path.part[1][1] == '$') return kRoot | kRemote;
    return kOutside | kRemote;
  }
  if (path.base == PathBase::home) {
    if (path.climbs > 0) return kHomeRoot | kSystem | (path.climbs > 1 ? kRoot : 0);
    if (n == 0) return kHomeRoot | kHome;
    if (is_home_cache(path, 0)) return kHome | kBuild;
    return kHome;
  }
  if (n == 0) return kRoot;

  const auto below = [&](std::uint32_t depth) noexcept -> std::uint32_t {  // a home directory's parts begin at `depth`
    if (n == depth) return kHomeRoot | kHome;
    if (is_remade_in_project(path, depth)) return kBuild;
    if (is_home_cache(path, depth) || (n > depth + 1 && is_remade(path))) return kHome | kBuild;
    if (path.names(depth, "appdata") && path.names(depth + 1, "local") && path.names(depth + 2, "temp")) {
      return kTemporary | (n == depth + 3 ? kOutside : 0u);
    }
    return kHome;
  };
  std::uint32_t bits = 0;
  if (path.names_one_of(0, "home users") || (path.names(0, "documents and settings"))) {
    if (n == 1) return kHomeRoot | kSystem;
    if (n == 2 && path.names(0, "home") && !path.glob && is_remade(path)) return kOutside | kBuild;  // no person is named so
    if (path.has_glob(path.part[0])) bits |= kSystem;
    if (n == 2 && path.names(1, "linuxbrew") && !path.glob) return kOutside | kHome;  // where Homebrew lies, nobody's home
    if (path.base == PathBase::root || path.base == PathBase::drive) return bits | below(2);
  }
  if (path.names(0, "root")) bits |= below(1);
  if (path.names(0, "var") && path.names(1, "root")) bits |= below(2);
  if (path.names(0, "export") && path.names(1, "home") && n > 1) bits |= n == 2 ? kHomeRoot | kSystem : below(3);
  if (bits != 0 && !path.has_glob(path.part[0])) return bits;

  std::uint32_t temporary = 0;  // how many parts a temporary directory has
  const std::uint32_t mac = path.names(0, "private") ? 1 : 0;
  if (path.names(mac, "tmp")) temporary = mac + 1;
  if (path.names(mac, "var") && path.names(mac + 1, "tmp")) temporary = mac + 2;
  if (path.names(mac, "var") && path.names(mac + 1, "folders")) temporary = n > mac + 4 ? mac + 4 : n;
  if (path.names(0, "dev") && path.names(1, "shm")) temporary = 2;
  if (path.names(0, "data") && path.names(1, "local") && path.names(2, "tmp")) temporary = 3;  // of a phone
  if (path.base == PathBase::drive && path.names_one_of(0, "temp tmp")) temporary = 1;
  if (path.names(0, "windows") && path.names(1, "temp")) temporary = 2;
  if (temporary > 0) {
    const bool pattern = path.has_glob(path.part[0]) || (temporary > 1 && path.has_glob(path.part[1]));
    bits |= kTemporary | (n <= temporary ? kOutside : 0u) | (pattern ? kSystem : 0u);
    return bits;
  }
  if (path.names(0, "dev")) {
    if (n == 1) return bits | kSystem | kDevice;
    if (path.is_everything(path.part[1])) return bits | kSystem | kDevice;
    if (is_block_device(path)) return bits | kDevice | (is_made_device(path) ? kOutside : 0u);
    if (path.names_one_of(1, kNullDevices)) return bits | kNullDevice;
    if (n == 2 && !path.has_glob(path.part[1]) && (ascii::starts_with(path.part[1], "tty") || ascii::starts_with(path.part[1], "cu."))) return bits | kNullDevice;  // serial lines
    if (path.names_one_of(1, "tcp udp")) return bits | kOutside | kRemote;
    return bits | kSystem | (PathParts::is_unknown(path.part[1]) ? kDevice | kUnknown : 0u);
  }
  if (path.names(0, "proc") && n >= 3 && path.names(2, "fd")) return bits | kNullDevice;
  if (path.names(0, "proc") && path.names(1, "sysrq-trigger")) return bits | kSystem | kDevice;
  if (is_package_cache(path) || is_image_cache(path)) return bits | kSystem | kBuild;
  if (is_own_program(path)) return bits | kOutside;
  if (n == 4 && path.names(0, "usr") && path.names(1, "local") && PathParts::is_unknown(path.part[3])) return bits | kSystem | kUnknown;
  if (is_drop_in(path) || is_application(path) || is_library(path)) return bits | kSystem | kOutside;
  if (path.names_one_of(0, kSystemNames)) return bits | kSystem;
  if (ascii::starts_with(path.part[0], "program files") || ascii::equals(path.part[0], "system volume information")) {
    return bits | kSystem;
  }
  if (path.names_one_of(0, "mnt media volumes")) return bits | (n == 1 ? kSystem : kOutside);
  if (PathParts::is_unknown(path.part[0])) return bits | kUnknown;
  if (bits == 0 && is_remade_in_project(path, 0)) return kBuild;
  return bits != 0 ? bits : kOutside;
}

}  // namespace path_detail

}  // namespace tipstaff::gate
