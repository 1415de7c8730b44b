// Whose a path outside of the repository is by the names in it: a program that somebody installed, a package manager's
// cache, one application among the system's.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/parts.hpp"

namespace tipstaff::gate {

// What package managers and compilers keep below a home directory and fetch again: its parts begin at `from`.
struct CacheFolder {
  std::string_view first, second, third, fourth = {};  // empty: any, or none
};
inline constexpr CacheFolder kHomeCaches[] = {
    {".cache", "", ""}, {".npm", "", ""}, {".cpanm", "", ""}, {".local", "share", "nvim"}, {".local", "state", "nvim"}, {".vim", "plugged", ""}, {".vim", "bundle", ""},
    {".tmux", "plugins", ""}, {".emacs.d", "elpa", ""}, {".emacs.d", "straight", ""}, {".emacs.d", "eln-cache", ""}, {".config", "coc", ""}, {".emacs.d", ".cache", ""}, {"library", "caches", ""}, {".pnpm-store", "", ""},
    {".local", "share", "pnpm"}, {".local", "share", "virtualenvs"}, {".local", "share", "nox"}, {"library", "pnpm", "store"}, {".yarn", "cache", ""}, {".yarn", "berry", "cache"},
    {".cargo", "registry", ""}, {".cargo", "git", ""}, {".gradle", "caches", ""}, {".gradle", "daemon", ""}, {".gradle", "wrapper", "dists"}, {".m2", "repository", ""},
    {"go", "pkg", "mod"}, {"go", "pkg", "sumdb"}, {".nuget", "packages", ""}, {".ivy2", "cache", ""}, {".sbt", "boot", ""}, {".coursier", "cache", ""}, {".conda", "pkgs", ""}, {"miniconda3", "pkgs", ""},
    {"anaconda3", "pkgs", ""}, {".composer", "cache", ""}, {".pub-cache", "", ""}, {".cocoapods", "repos", ""}, {".android", "cache", ""}, {".android", "build-cache", ""}, {".node-gyp", "", ""},
    {".bun", "install", "cache"}, {".deno", "gen", ""}, {"library", "developer", "xcode"}, {"library", "developer", "coresimulator"}, {".terraform.d", "plugin-cache", ""}, {".vscode-server", "bin", ""}, {".vscode-server", "cli", ""}, {".vscode-server", "extensionscache", ""}, {".vscode-remote", "bin", ""}, {".cursor-server", "bin", ""}, {".cursor-server", "cli", ""}, {".windsurf-server", "bin", ""}, {".vscode-server-insiders", "bin", ""}, {".jest", "", ""},
    {".bundle", "", ""}, {".gem", "cache", ""}, {".hex", "packages", ""}, {".mix", "archives", ""}, {".stack", "pack", ""}, {".cabal", "packages", ""}, {".ccache", "", ""}, {".sccache", "", ""},
    {".electron", "", ""}, {".electron-gyp", "", ""}, {".platformio", ".cache", ""}, {".vscode", "cache", ""}, {".nv", "computecache", ""}, {".keras", "datasets", ""}, {".eslintcache", "", ""}, {".parcel-cache", "", ""},
    {"appdata", "local", "npm-cache"}, {"appdata", "local", "pip"}, {"appdata", "local", "yarn"}, {".dartserver", "", ""}, {".expo", "", ""}, {".aws", "cli", "cache"}, {".aws", "sso", "cache"}, {".kube", "cache", ""}, {".kube", "http-cache", ""}, {".cpan", "build", ""},
    {".local", "share", "nvim", "lazy mason plugged site"}, {".local", "state", "nvim", "lazy mason lsp.log"}, {".local", "share", "pipx", ".cache"}, {".local", "share", "uv", "cache"},
    {".vim", "plugged", ""}, {".vim", "bundle", ""}, {".tmux", "plugins", ""}, {".emacs.d", "elpa", ""}, {".emacs.d", "straight", ""}, {".emacs.d", "eln-cache", ""}, {".rustup", "tmp", ""},
    {".rustup", "downloads", ""}, {".nvm", ".cache", ""}, {".rbenv", "cache", ""}, {".pyenv", "cache", ""}, {".arduino15", "staging", ""}, {".espressif", "dist", ""}, {".dotnet", "toolscache", ""},
    {".local", "share", "nuget", "v3-cache http-cache plugins-cache"}, {".local", "share", "containers", "cache"}, {".minikube", "cache", ""}, {".vagrant.d", "tmp", ""}, {".ansible", "tmp", ""}, {".texlive", "texmf-var", ""},
    {".conan2", "p", ""}, {".conan", "data", ""}, {".stack", "snapshots", ""}, {".stack", "pantry", ""}, {".cabal", "store", ""}, {".julia", "compiled", ""}, {".opam", "download-cache", ""}, {".dub", "packages", ""},
    {".nimble", "pkgs", ""}, {".nimble", "pkgs2", ""}, {".matplotlib", "tex.cache", ""}, {".vscode-test", "", ""}, {".sonar", "cache", ""}, {".texlive2023", "texmf-var", ""}, {".texlive2024", "texmf-var", ""}, {".texlive2025", "texmf-var", ""},
};
// What a browser's engine keeps for an application and makes again: ~/.config/APP/GPUCache.
inline bool is_engine_cache(const PathParts& path, std::uint32_t from) noexcept {
  const bool linux = path.names(from, ".config"), mac = path.names(from, "library") && path.names(from + 1, "application support");
  const bool windows = path.names(from, "appdata") && path.names_one_of(from + 1, "roaming local");
  const std::uint32_t name = from + (linux ? 1 : 2);
  if (!(linux || mac || windows) || path.count <= name + 1) return false;
  for (std::uint32_t i = from; i <= name + 1; ++i)
    if (path.has_glob(path.part[i]) || PathParts::is_unknown(path.part[i])) return false;
  return ascii::equals(path.part[name + 1], "code cache") ||
         path.names_one_of(name + 1, "cache cacheddata cachedextensions gpucache dawncache dawngraphitecache dawnwebgpucache shadercache grshadercache graphitedawncache crashpad logs");
}

inline bool is_home_cache(const PathParts& path, std::uint32_t from) noexcept {
  if (path.count <= from) return false;
  if (is_engine_cache(path, from)) return true;
  for (const CacheFolder& cache : kHomeCaches) {
    if (!path.names(from, cache.first) || path.has_glob(path.part[from])) continue;
    if (cache.second.empty()) return true;
    if (path.count <= from + 1 || path.has_glob(path.part[from + 1]) || !path.names(from + 1, cache.second)) continue;
    if (cache.third.empty()) return true;
    if (path.count <= from + 2 || path.has_glob(path.part[from + 2]) || !path.names(from + 2, cache.third)) continue;
    if (cache.fourth.empty() || (path.count > from + 3 && !path.has_glob(path.part[from + 3]) && path.names_one_of(from + 3, cache.fourth))) return true;
  }
  return false;
}

// One program or folder that somebody installed below /usr/local or /opt, by name; not the folders that all share.
inline bool is_own_program(const PathParts& path) noexcept {
  if (path.count < 3 || !path.names(0, "usr") || !path.names(1, "local")) return false;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const std::string_view name = path.part[i];
    if (PathParts::is_unknown(name) && (i < 3 || (i == 3 && path.count == 4 && name.find(kUnknownPart) < 3))) return false;
    // npm* is one program's, and so is share/NAME/*.el; of other patterns nobody knows.
    if (i >= 3 && i + 1 == path.count && (ascii::ends_with(name, ".pyc") || ascii::ends_with(name, ".pyo"))) continue;
    if (path.has_glob(name) && (i + 1 != path.count || i < 3 || (i < 5 && name.find_first_of("*?[") < 3))) return false;
  }
  return path.count > 3 || !path.names_one_of(2, "bin sbin lib lib64 share etc include libexec man games src var opt");
}

// Files that somebody put into a folder of the system's for such: /etc/apt/sources.list.d/x.list, /etc/cron.d/x.
inline bool is_drop_in(const PathParts& path) noexcept {
  // What documents programs: /usr/share/man/man8/mdadm.8, /usr/share/doc/*.
  if (path.count > 3 && path.names(0, "usr") && path.names(1, "share") && !path.has_glob(path.part[2]) && path.names_one_of(2, "doc man info locale gtk-doc help"))
    return true;
  // What a unit of systemd wants, which is links: /lib/systemd/system/sysinit.target.wants/*
  for (std::uint32_t i = 2; i < path.count; ++i)
    if ((ascii::ends_with(path.part[i], ".wants") || ascii::ends_with(path.part[i], ".requires")) && !path.has_glob(path.part[i - 1]) && !path.has_glob(path.part[i - 2]) &&
        path.names_one_of(i - 1, "system user") && path.names(i - 2, "systemd"))
      return true;
  if (path.count < 3 || !path.names(0, "etc") || path.names_one_of(1, "sudoers.d pam.d")) return false;
  for (std::uint32_t i = 0; i < path.count - (path.ends(path.count - 2, ".d") || path.names_one_of(path.count - 2, "sites-enabled conf-enabled") ? 1u : 0u); ++i)
    if (path.has_glob(path.part[i]) || PathParts::is_unknown(path.part[i])) return false;
  for (std::uint32_t i = 1; i + 1 < path.count; ++i)
    if (ascii::ends_with(path.part[i], ".d") || path.names_one_of(i, "sites-enabled sites-available conf-enabled keyrings")) return true;
  return path.count == 4 && path.names(1, "systemd") && path.names(2, "system");
}

// Folders below which each name is one application's, and the names that are the system's or hold what people stored.
struct SharedFolder {
  std::string_view first, second;  // second: empty for none
  std::string_view others;
};
inline constexpr std::string_view kSystemPrograms =
    "init telinit runlevel shutdown halt reboot poweroff fsck mkfs mount umount ldconfig ip ifconfig iptables nft modprobe insmod lvm cryptsetup agetty "
    "getty sulogin udevadm sudo su login swapon swapoff blkid losetup fdisk parted apparmor_parser sshd cron visudo useradd userdel usermod";
inline constexpr SharedFolder kSharedFolders[] = {
    {"opt", "", ""},
    {"srv", "", "backup backups git nfs samba ftp"},
    {"usr", "src", ""},
    {"var", "www", ""},
    {"usr", "include", ""},
    {"usr", "share", "ca-certificates dbus-1 doc dpkg fonts gtk-doc help info initramfs-tools keyrings locale man pam pam-configs perl perl5 polkit-1 python3 "
                     "selinux systemd terminfo x11 zoneinfo"},
    {"library", "developer", ""},
    {"library", "frameworks", ""},
    {"applications", "", "utilities"},
    {"run", "", "systemd udev dbus user media mount lock lvm initramfs credentials"},
    {"var", "run", "systemd udev dbus user media mount lock lvm initramfs credentials"},
    {"var", "log", "journal audit auth.log secure wtmp btmp lastlog syslog messages sudo.log"},
    {"var", "cache", ""},
    {"var", "crash", ""},
    {"var", "lib", "mysql mysql-files mariadb postgresql postgres pgsql mongodb mongo redis influxdb couchdb cassandra clickhouse elasticsearch "
                   "opensearch neo4j rabbitmq kafka zookeeper ldap samba vault consul nomad prometheus grafana gitlab gitea jenkins minio ceph "
                   "docker containerd containers kubelet etcd rancher k3s libvirt lxc lxd incus machines dpkg rpm apt pacman portage snapd "
                   "flatpak systemd dbus pam polkit-1 accountsservice networkmanager bluetooth alternatives private cloud sudo letsencrypt "
                   "acme sss sssd samba nfs iscsi mdadm postfix mailman"},
    {"sbin", "", kSystemPrograms},
    {"usr", "sbin", kSystemPrograms},
    {"usr", "bin", "sh bash dash zsh ksh fish env sudo su doas login passwd ls cp mv rm ln cat chmod chown mkdir mount umount kill ps sed "
                   "grep awk find tar gzip test true false perl python python3 systemctl systemd ssh apt apt-get dpkg rpm dnf yum zypper "
                   "pacman apk snap"},
    {"bin", "", "busybox ash rbash init systemd ip ping ss netstat cpio date dd df kmod lsblk more stty sync uname vi sh bash dash zsh ksh fish env sudo su doas login passwd ls cp mv rm ln cat chmod chown mkdir mount umount kill ps sed "
                   "grep awk find tar gzip test true false perl python python3 systemctl systemd ssh apt apt-get dpkg rpm dnf yum zypper "
                   "pacman apk snap"},
};

// Names (or their beginnings) in library folders without which programs do not start or nobody logs in.
inline constexpr std::string_view kSystemLibraries[] = {
    "ld-", "ld.", "ld64", "libacl", "libapt", "libattr", "libaudit", "libblkid", "libbz2", "libc-", "libc.", "libcap", "libcom_err", "libcrypt",
    "libdbus", "libdl", "libgcc", "libgssapi", "libkeyutils", "libkmod", "libkrb5", "liblzma", "libm-", "libm.", "libmount", "libncurses", "libnsl",
    "libnss", "libpam", "libpcre", "libpthread", "libpython", "libreadline", "libresolv", "librpm", "librt", "libselinux", "libssl", "libstdc++",
    "libsystemd", "libtinfo", "libudev", "libuuid", "libz.", "libzstd", "apt", "cron", "dbus", "dpkg", "dracut", "firmware", "grub",
    "init", "kernel", "locale", "lsb", "modprobe", "modules", "networkmanager", "openssh", "os-release", "pam", "perl", "policykit",
    "polkit", "python", "rpm", "security", "selinux", "sftp", "ssh", "ssl", "sudo", "sysctl", "systemd", "sysusers", "tmpfiles", "udev",
    "tipstaff", "x86_64", "aarch64", "arm", "i386", "i686", "riscv", "powerpc", "s390",
};

// One library of many, by name or by a pattern that fits one family of names: /usr/lib/NAME, /usr/lib/TRIPLE/libNAME.so*,
// /usr/lib/python3*/site-packages/NAME.
inline bool is_library(const PathParts& path) noexcept {
  std::uint32_t at = path.names(0, "usr") ? 1 : 0;
  if (at < path.count && (path.has_glob(path.part[0]) || path.has_glob(path.part[at]) || !path.names_one_of(at, "lib lib32 lib64 libexec"))) return false;
  if (++at >= path.count) return false;
  for (const std::string_view triple : {"-linux-gnu", "-linux-musl", "-linux-gnueabihf"}) {
    if (ascii::ends_with(path.part[at], triple)) {
      ++at;
      break;
    }
  }
  if (at + 1 < path.count && ascii::starts_with(path.part[at], "python") && !path.has_glob(path.part[at + 1]) &&
      path.names_one_of(at + 1, "site-packages dist-packages")) {
    at += 2;
  }
  if (at >= path.count) return false;
  // Of the language's own, what it runs without.
  if (ascii::starts_with(path.part[at], "python3.") && !path.has_glob(path.part[at]) && at + 1 < path.count && !path.has_glob(path.part[at + 1]) &&
      path.names_one_of(at + 1, "test tests idlelib turtledemo lib2to3 ensurepip __pycache__"))
    return true;
  const std::string_view name = path.part[at], sure = name.substr(0, path.has_glob(name) ? name.find_first_of("*?[") : name.size());
  if (PathParts::is_unknown(name) || (sure.size() != name.size() && sure.size() < 6)) return false;
  for (const std::string_view kept : kSystemLibraries) {
    if (ascii::starts_with(sure, kept) || (sure.size() != name.size() && ascii::starts_with(kept, sure))) return false;
  }
  return true;
}

// Folders of documents as a whole: what is in them is read, not run.
inline bool holds_documents(const PathParts& path) noexcept {
  return path.count == 3 && path.names(0, "usr") && path.names(1, "share") && !path.has_glob(path.part[2]) &&
         path.names_one_of(2, "doc man info locale gtk-doc help");
}

// Folders of single settings, each of them one application's, and of what crashed: all that is in them is no less than that.
inline bool holds_settings(const PathParts& path) noexcept {
  if (path.count == 2) return path.names(0, "var") && path.names_one_of(1, "crash") && !path.has_glob(path.part[1]);
  return path.count > 2 && path.names(0, "etc") && !path.has_glob(path.part[path.count - 1]) && !path.has_glob(path.part[1]) &&
         path.names_one_of(path.count - 1, "sites-enabled sites-available conf-enabled conf.d sources.list.d apt.conf.d preferences.d yum.repos.d modules-enabled mods-enabled");
}

// Where images put their application: how many parts are above its files, 0 for any other folder.
inline std::uint32_t application_depth(const PathParts& path) noexcept {
  if (path.base != PathBase::root || path.count < 2 || path.has_glob(path.part[0]) || path.has_glob(path.part[1])) return 0;
  if (path.names_one_of(0, "app code src work workdir project repo site www application")) return 1;
  if (path.names_one_of(0, "opt srv workspace workspaces") || (path.names(0, "var") && path.names(1, "www"))) return path.count > 2 ? 2 : 0;
  if (path.names(0, "usr") && path.names(1, "src")) return path.count > 3 ? 3 : 0;
  return 0;
}

// What belongs to one application that somebody installed or runs: /opt/NAME, /run/NAME, one program of /usr/bin.
inline bool is_application(const PathParts& path) noexcept {
  for (const SharedFolder& shared : kSharedFolders) {
    const std::uint32_t at = shared.second.empty() ? 1 : 2;
    if (path.count <= at) continue;
    bool literal = true;
    for (std::uint32_t i = 0; i <= at; ++i) literal = literal && !path.has_glob(path.part[i]) && !PathParts::is_unknown(path.part[i]);
    if (literal && path.names(0, shared.first) && (at == 1 || path.names(1, shared.second))) return !path.names_one_of(at, shared.others);
  }
  return false;
}

// Whether a path below $(DESTDIR)$(prefix) is one program's own, and no folder that all share.
inline bool is_installed_entry(const PathParts& path) noexcept {
  constexpr std::string_view kShared =
      "usr local opt share lib lib32 lib64 libexec bin sbin etc include man doc docs info games var run log cache spool state applications icons hicolor "
      "scalable apps pixmaps mime metainfo appdata dbus-1 services systemd system user bash-completion completions completion zsh fish site-functions "
      "vendor-completions vendor_completions.d vim vimfiles pkgconfig cmake perl5 locale site-packages dist-packages cron.d init.d default conf.d "
      "modules-load.d tmpfiles.d sysusers.d udev rules.d polkit-1 actions licenses python python3 lua emacs site-lisp xdg autostart man1 man2 man3 man4 man5 man6 man7 man8 man9";
  std::uint32_t at = 0;
  while (at < path.count && !path.has_glob(path.part[at]) && path.names_one_of(at, kShared)) ++at;
  if (at == path.count) return false;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    if (path.is_everything(path.part[i])) return false;
    if (path.names_one_of(i, "home root boot dev proc sys users mnt media srv tmp lib-exec systemd-boot")) return false;
  }
  return true;
}

// What images are built from or fetch again: unpacked sources, caches of languages' package managers.
inline bool is_image_cache(const PathParts& path) noexcept {
  if (path.count < 3 || path.has_glob(path.part[0]) || path.has_glob(path.part[1])) return false;
  if (path.names(0, "opt")) return path.names_one_of(1, "conda miniconda miniconda3 anaconda3") && !path.has_glob(path.part[2]) && path.names(2, "pkgs");
  if (path.names(0, "usr") && path.names(1, "src")) {  // nginx-*, not linux-headers-*
    const std::string_view name = path.part[2], sure = name.substr(0, path.has_glob(name) ? name.find_first_of("*?[") : name.size());
    return sure.size() > 2 && !PathParts::is_unknown(name) && !ascii::starts_with(sure, "lin") && !ascii::starts_with(sure, "ker");
  }
  if (!path.names(0, "usr") || !path.names(1, "local") || path.has_glob(path.part[2])) return false;
  if (path.names(2, "bundle")) return true;
  if (path.count < 4 || path.has_glob(path.part[3])) return false;
  return (path.names(2, "share") && path.names(3, ".cache")) || (path.names(2, "cargo") && path.names_one_of(3, "registry git")) || (path.names(2, "rustup") && path.names(3, "tmp"));
}

// Lists and archives of a system's package manager.
inline bool is_package_cache(const PathParts& path) noexcept {
  if (!path.names(0, "var") || path.count < 3) return false;
  if (path.names(1, "cache") && path.names_one_of(2, "apt apk yum dnf pacman debconf zypp apt-show-versions fontconfig ldconfig man libdnf5 xbps distfiles")) return true;
  return path.names(1, "lib") && path.count > 3 && path.names(2, "apt") && path.names_one_of(3, "lists");
}

}  // namespace tipstaff::gate
