// What a path is by the names in it: settings that wire hooks, secrets, databases. What builds make: build_names.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"
#include "tipstaff/gate/tree/trials.hpp"

namespace tipstaff::gate {

// A folder in which a host, git or this package keeps what wires the gate, and which of its entries do.
struct WiringFolder {
  std::string_view folder;
  std::string_view entries;  // "*": all of them
};
inline constexpr WiringFolder kWiringFolders[] = {
    {".claude", "settings.json settings.local.json hooks managed-settings.json plugins shell-snapshots session-env"},
    {".codex", "hooks.json config.toml hooks requirements.toml"},
    {".gemini", "settings.json hooks extensions trustedfolders.json"},
    {".cursor", "hooks.json hooks cli.json cli-config.json"},
    {".copilot", "*"},
    {".tipstaff", "*"},
    {".husky", "*"},
    {".qwen", "settings.json hooks trustedfolders.json"},
    {".windsurf", "hooks.json"},
    {".augment", "settings.json hooks"},
    {".factory", "settings.json hooks hooks.json"},
    {".kiro", "hooks"},
    {".opencode", "plugin plugins opencode.json opencode.jsonc"},
    {".cline", "hooks"},
};

// What any part of such a path is named.
constexpr NameSigns make_wiring_signs() noexcept {
  NameSigns signs(".git .github .config .local share state .claude.json .tipstaff.toml etc programdata site-packages",
                  "tipstaff.toml tipstaff-hook tipstaff-hook.exe managed-settings.json hooks");
  signs.add("application support");
  for (const WiringFolder& wiring : kWiringFolders) signs.add(wiring.folder);
  return signs;
}
inline constexpr NameSigns kWiringSigns = make_wiring_signs();

// A path that ends with the folder counts: removing that removes all that is in it.
inline bool is_wiring(const PathParts& path) noexcept {
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const bool last = i + 1 == path.count;
    const std::string_view name = path.part[i];
    const bool pattern = path.has_glob(name);
    if (pattern ? path.is_everything(name) : !kWiringSigns.may_have(name)) continue;
    if (name[0] == '.' || pattern) {
      for (const WiringFolder& wiring : kWiringFolders) {
        if (!path.names(i, wiring.folder)) continue;
        if (last || wiring.entries == "*" || (path.names_one_of(i + 1, wiring.entries) && !path.means_documents(i + 1))) return true;
      }
      if (path.names(i, ".git") && path.names(i + 1, "hooks")) return true;
      if (path.names(i, ".github") &&
          ((path.names(i + 1, "hooks") && !path.means_documents(i + 1)) ||
           (path.names(i + 1, "copilot") && path.names_one_of(i + 2, "settings.json settings.local.json")))) {
        return true;
      }
      if (path.names_one_of(i, ".config .local share state") && path.names(i + 1, "tipstaff")) return true;
      if (path.names(i, ".config") && path.names(i + 1, "opencode") &&
          path.names_one_of(i + 2, "plugin plugins opencode.json opencode.jsonc"))
        return true;
      if (last && path.names_one_of(i, ".claude.json .tipstaff.toml")) return true;
    }
    if (path.names_one_of(i, "etc share state programdata") && !last && !path.is_everything(path.part[i + 1]) &&
        path.names_one_of(i + 1, "tipstaff claude-code codex cursor gemini-cli github-copilot qwen-code")) {
      return true;
    }
    if (path.names(i, "application support") && path.names_one_of(i + 1, "tipstaff claudecode cursor geminicli qwencode")) {
      return true;
    }
    if (path.names(i, "site-packages") && i + 1 < path.count && path.names(i + 1, "tipstaff")) return true;
    if (last && !pattern &&
        path.names_one_of(i, "tipstaff.toml tipstaff-hook tipstaff-hook.exe managed-settings.json")) {
      return true;
    }
    // Hooks of plug-ins: any hooks/hooks.json.
    if (!last && path.names(i, "hooks") && !pattern && path.names(i + 1, "hooks.json") && i + 2 == path.count) {
      return true;
    }
  }
  return false;
}

inline constexpr std::string_view kSecretFiles =
    ".env .envrc .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .mylogin.cnf .git-credentials .s3cfg "
    ".boto .htpasswd .vault-token .dockercfg .dockerconfigjson .databrickscfg .credentials.json "
    "credentials.json credentials.toml credentials.tfrc.json secrets.yml secrets.yaml secrets.json "
    "secrets.toml .secrets secret.yml secret.yaml secret.json kubeconfig wallet.dat master.key "
    "terraform.tfstate terraform.tfvars oauth_creds.json application_default_credentials.json "
    "access_tokens.db accesstokens.json logins.json key3.db key4.db ntds.dit id_rsa id_dsa id_ecdsa "
    "id_ed25519 id_ed25519_sk id_ecdsa_sk id_xmss .rclone.conf rclone.conf .smbcredentials kaggle.json";
inline constexpr NameSigns kSecretFileSigns(kSecretFiles);
inline constexpr NameSigns kSecretEndings(
    "env pem key p12 pfx jks keystore kdbx kdb ppk tfstate backup tfvars keychain keychain-db gpg age ovpn jceks wallet json");

// What is after the last dot; the whole name where there is none.
inline std::string_view ending_of(std::string_view name) noexcept {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] != '.') --at;
  return name.substr(at);
}

inline bool is_secret_name(const PathParts& path, std::uint32_t i) noexcept {
  const std::string_view name = path.part[i];
  // Of patterns, only what begins as those do is meant for them: cred*, and not *.json.
  if (path.is_everything(name)) return false;
  const bool open = path.glob && name.find_first_of("*?[\x01") == 0;
  if (!open && (path.has_glob(name) || kSecretFileSigns.may_have(name)) && path.names_one_of(i, kSecretFiles)) {
    return true;
  }
  if (!kSecretEndings.may_have(ending_of(name)) && !ascii::starts_with(name, ".env") && !ascii::starts_with(name, "id_") &&
      !ascii::starts_with(name, "ssh_host_")) {
    return false;
  }
  if (ascii::ends_with(name, ".pub")) return false;
  if (ascii::starts_with(name, ".env.") || ascii::starts_with(name, ".env-") || ascii::starts_with(name, ".env_")) {
    for (const std::string_view harmless : {".example", ".sample", ".template", ".dist", ".defaults", ".tpl", ".tmpl",
                                            ".md", ".test", ".testing", ".ci", ".e2e", "-example", "-sample",
                                            "-template", "_example", "_sample"}) {
      if (ascii::ends_with(name, harmless)) return false;
    }
    return true;
  }
  if (ascii::ends_with(name, ".env")) {
    return !ascii::one_of(name, "example.env sample.env template.env dist.env defaults.env");
  }
  if (ascii::ends_with(name, ".pem")) {  // certificates of those who sign others', requests, public keys
    for (std::size_t at = 0; at + 4 < name.size();) {
      const std::size_t end = name.find_first_of("-_.", at);
      if (ascii::one_of(name.substr(at, end - at), "ca cacert chain fullchain bundle public pub pubkey dhparam dhparams csr") && name.find("key") == std::string_view::npos &&
          name.find("priv") == std::string_view::npos)
        return false;
      at = end + 1;
    }
  }
  for (const std::string_view suffix :
       {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".tfstate", ".tfstate.backup",
        ".tfvars", ".keychain", ".keychain-db", ".gpg", ".age", ".ovpn", ".jceks", ".wallet"}) {
    if (name.size() > suffix.size() && ascii::ends_with(name, suffix)) return true;
  }
  if (ascii::ends_with(name, ".json") &&
      (ascii::starts_with(name, "service-account") || ascii::starts_with(name, "service_account") ||
       ascii::starts_with(name, "serviceaccount") || ascii::starts_with(name, "client_secret") ||
       ascii::starts_with(name, "client-secret") || ascii::ends_with(name, "-credentials.json") ||
       ascii::ends_with(name, "_credentials.json") || ascii::ends_with(name, "-service-account.json") ||
       ascii::ends_with(name, "_service_account.json"))) {
    return true;
  }
  return ascii::starts_with(name, "id_rsa") || ascii::starts_with(name, "id_dsa") ||
         ascii::starts_with(name, "id_ecdsa") || ascii::starts_with(name, "id_ed25519") ||
         (ascii::starts_with(name, "ssh_host_") && ascii::ends_with(name, "_key"));
}

// What parts of such a path are named, apart from its last.
constexpr NameSigns make_secret_signs() noexcept {
  NameSigns signs(".ssh .gnupg .password-store .azure .keychain .electrum .bitcoin keyrings keychains .aws .kube .docker .config",
                  ".cargo .gem .terraform.d .codex .m2 .ethereum .fly cookies.sqlite etc proc system32 com.vercel.cli opencode .composer composer .netlify .railway "
                  ".expo .supabase .snowflake .wrangler configstore huggingface .huggingface");
  signs.add("login data");
  return signs;
}
inline constexpr NameSigns kSecretSigns = make_secret_signs();

// What packages are checked by: public keys.
inline bool is_public_keyring(const PathParts& path) noexcept {
  if (path.base != PathBase::root || (path.count != 3 && path.count != 4) || path.has_glob(path.part[0]) || path.has_glob(path.part[1]) || path.has_glob(path.part[2])) return false;
  return (path.names(0, "etc") && path.names(1, "apt") && path.names_one_of(2, "keyrings trusted.gpg.d")) ||
         (path.names(0, "usr") && path.names(1, "share") && path.names(2, "keyrings")) || (path.names(0, "etc") && path.names(1, "pki") && path.names(2, "rpm-gpg"));
}

inline bool is_secret(const PathParts& path) noexcept {
  if (is_public_keyring(path)) return false;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const bool last = i + 1 == path.count;
    if (path.is_everything(path.part[i])) continue;
    const bool pattern = path.has_glob(path.part[i]);
    if (pattern ? path.part[i].find_first_of("*?[\x01") == 0 : !kSecretSigns.may_have(path.part[i])) {
      if (last && is_secret_name(path, i)) return true;
      continue;
    }
    if (path.names(i, ".ssh")) {
      if (last) return true;
      if (path.ends(path.count - 1, ".pub")) continue;
      if (!path.has_glob(path.part[i + 1]) &&
          path.names_one_of(i + 1, "known_hosts known_hosts.old config config.d environment rc")) {
        continue;
      }
      return true;
    }
    if (path.names_one_of(i, ".gnupg .password-store .azure .keychain .electrum .bitcoin keyrings keychains")) return true;
    if (path.names(i, ".aws") && (last || path.names_one_of(i + 1, "credentials config sso cli"))) return true;
    if (path.names(i, ".kube") && (last || path.names_one_of(i + 1, "config configs"))) return true;
    if (path.names(i, ".docker") && path.names(i + 1, "config.json")) return true;
    if (path.names(i, ".config") &&
        (path.names_one_of(i + 1, "gcloud op sops rclone doctl age solana") ||
         (path.names_one_of(i + 1, "netlify stripe") && path.names_one_of(i + 2, "config.json config.toml")) ||
         (path.names_one_of(i + 1, "gh glab-cli hub") && (i + 2 == path.count || i + 3 == path.count)))) {
      return true;
    }
    if (path.names_one_of(i, ".cargo .gem .terraform.d") &&
        path.names_one_of(i + 1, "credentials credentials.toml credentials.tfrc.json")) {
      return true;
    }
    if (path.names_one_of(i, ".codex com.vercel.cli opencode .composer composer") && path.names(i + 1, "auth.json")) return true;
    // Where clients of services keep the token of the person who logged in.
    if ((path.names_one_of(i, ".netlify .railway") && path.names(i + 1, "config.json")) || (path.names(i, ".expo") && path.names(i + 1, "state.json")) ||
        (path.names(i, ".supabase") && path.names(i + 1, "access-token")) || (path.names(i, ".snowflake") && path.names_one_of(i + 1, "connections.toml config.toml")) ||
        (path.names_one_of(i, "huggingface .huggingface") && path.names_one_of(i + 1, "token stored_tokens")) || (path.names(i, "configstore") && path.names(i + 1, "firebase-tools.json")) ||
        (path.names(i, ".wrangler") && path.names(i + 1, "config") && path.names(i + 2, "default.toml"))) {
      return true;
    }
    if (path.names(i, ".m2") && path.names_one_of(i + 1, "settings.xml settings-security.xml")) return true;
    if (path.names(i, ".ethereum") && (last || path.names(i + 1, "keystore"))) return true;
    if (path.names(i, ".fly") && path.names(i + 1, "config.yml")) return true;
    if (last && (ascii::equals(path.part[i], "login data") || ascii::equals(path.part[i], "cookies.sqlite"))) return true;
    if (path.base == PathBase::root && i == 0) {
      if (path.names(0, "etc") && path.count > 1 && !path.is_everything(path.part[1]) &&
          (path.names_one_of(1, "shadow shadow- gshadow gshadow- sudoers.key krb5.keytab") ||
           (path.names(1, "ssl") && path.names(2, "private")))) {
        return true;
      }
      if (path.names(0, "proc") && path.count == 3 && path.names(2, "environ")) return true;
    }
    if (path.names(i, "system32") && path.names(i + 1, "config") &&
        (i + 2 == path.count || path.names_one_of(i + 2, "sam system security"))) {
      return true;
    }
    if (last && is_secret_name(path, i)) return true;
  }
  return false;
}

inline constexpr NameSigns kDatabaseEndings(
    "sqlite sqlite3 db db3 s3db mdb accdb sdb duckdb rdb mdf ldf ibd frm myd dbf fdb realm sqlitedb");

inline constexpr std::string_view kFileEndings =
    "gz tgz xz txz bz2 zst zip 7z deb rpm apk dmg msi jar war whl gem crate nupkg vsix asc sig minisig sha1 sha256 sha512 md5 sum html htm map json xml txt log out pdf md rst csv tsv yml yaml toml lock pid";
inline constexpr NameSigns kFileSigns(kFileEndings);

// One file by its ending, which folders do not have.
inline bool is_file(const PathParts& path) noexcept {
  if (path.count == 0 || path.ends_in_slash) return false;
  const std::string_view name = path.part[path.count - 1], ending = ending_of(name);
  if (ascii::one_of(name, ".terraform.lock.hcl .terraform.tfstate.lock.info .pnp.cjs .pnp.loader.mjs .eslintcache .stylelintcache .dmypy.json .phpunit.result.cache .php-cs-fixer.cache .rspec_status .last_build_id")) return true;
  if (name.size() < ending.size() + 2 || name[0] == '.' || path.has_glob(name) || PathParts::is_unknown(name)) return false;
  return kFileSigns.may_have(ending) && ascii::one_of(ending, kFileEndings);
}

// test.db, tests/app_test.sqlite3: made by tests, and made again. Not lab_tests.db.
inline bool is_trial_file(const PathParts& path) noexcept {
  std::string_view name = path.part[path.count - 1];
  name = name.substr(0, name.rfind('.'));
  const std::size_t first = name.find_first_of("_-."), last = name.find_last_of("_-.");
  const bool begins = ascii::one_of(name.substr(0, first), "test tests testing scratch"), ends = last != std::string_view::npos && ascii::one_of(name.substr(last + 1), "test testing scratch");
  if (!(begins || ends) || !is_trial_name(name)) return false;
  for (std::uint32_t i = 0; i + 1 < path.count; ++i)
    if (path.names_one_of(i, "prod production live var srv backup backups")) return false;
  return true;
}

inline bool is_database(const PathParts& path) noexcept {
  if (path.count == 0) return false;
  const std::uint32_t last = path.count - 1;
  if (!path.has_glob(path.part[last]) && (path.names_one_of(last, "thumbs.db doxygen_sqlite3.db") || is_trial_file(path))) return false;
  if (kDatabaseEndings.may_have(ending_of(path.part[last]))) {
    for (const std::string_view suffix : {".sqlite", ".sqlite3", ".db", ".db3", ".s3db", ".mdb", ".accdb", ".sdb", ".duckdb",
                                          ".rdb", ".mdf", ".ldf", ".ibd", ".frm", ".myd", ".dbf", ".fdb", ".realm", ".sqlitedb"}) {
      if (path.part[last].size() > suffix.size() && path.ends(last, suffix)) return true;
    }
  }
  for (std::uint32_t i = 0; i + 2 < path.count; ++i) {
    if (path.names(i, "var") && path.names(i + 1, "lib") &&
        path.names_one_of(i + 2, "mysql mariadb postgresql pgsql mongodb mongo redis influxdb couchdb cassandra clickhouse")) {
      return true;
    }
  }
  return false;
}

}  // namespace tipstaff::gate
