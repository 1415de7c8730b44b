// What a path is by the names in it: settings that wire hooks, secrets, what a build makes again, databases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"
#include "tipstaff/gate/tree/trials.hpp"
#include "tipstaff/gate/tree/word_table.hpp"

namespace tipstaff::gate {

// A folder in which a host, git or this package keeps what wires the gate, and which of its entries do.
struct WiringFolder {
  std::string_view folder;
  std::string_view entries;  // "*": all of them
};
inline constexpr WiringFolder kWiringFolders[] = {
    {".claude", "settings.json settings.local.json hooks managed-settings.json plugins"},
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
        if (last || wiring.entries == "*" || path.names_one_of(i + 1, wiring.entries)) return true;
      }
      if (path.names(i, ".git") && path.names(i + 1, "hooks")) return true;
      if (path.names(i, ".github") &&
          (path.names(i + 1, "hooks") ||
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

inline constexpr std::string_view kBuildNames =
    "node_modules dist build out target coverage .cache cache caches .gocache .go-cache .gomodcache __pycache__ .pytest_cache "
    ".mypy_cache .ruff_cache .pyre .pytype .tox .nox .next .nuxt .output .svelte-kit .turbo .parcel-cache "
    ".gradle venv .venv virtualenv .eggs htmlcov .nyc_output .hypothesis _build .angular .vite "
    ".docusaurus .serverless .terraform .terraform.lock.hcl deriveddata pods .dart_tool storybook-static .coverage "
    "bin obj tmp temp .tmp logs log bower_components .sass-cache .webpack .expo .pnpm-store "
    ".ipynb_checkpoints .aws-sam cdk.out elm-stuff .stack-work dist-newstyle zig-cache zig-out "
    ".zig-cache _site .jekyll-cache .eslintcache .stylelintcache .ds_store .rpt2_cache .fusebox "
    ".dynamodb .cargo-target cmakefiles cmakecache.txt test-results playwright-report .benchmarks "
    "wheelhouse .wrangler .vercel .netlify .swc .rollup.cache .jest-cache package-lock.json yarn.lock "
    "podfile.lock package.resolved builddir pnpm-lock.yaml bun.lockb bun.lock npm-shrinkwrap.json .bundle .yarn-cache .pnp.cjs "
    ".astro .vinxi .tanstack .contentlayer .velite .react-router .remix .solid .qwik .umi .quasar .stencil .nitro .vuepress .vitepress .eleventy "
    "esm cjs umd typings .egg libcjs libesm lib-types lib-esm lib-cjs lib-es es6 types-dist typings-dist .tsbuild .tsup .unbuild .wireit .nx-cache .moon .rush "
    "storybook-build allure-results allure-report mochawesome-report blob-report cypress-cache .cypress-cache .stryker-tmp .lighthouseci .playwright "
    "testresults test-output test-reports junit-reports surefire-reports .phpunit.cache .phpunit.result.cache .php-cs-fixer.cache .phpstan .psalm "
    ".build .swiftpm xcuserdata .cxx .externalnativebuild .kotlin .bloop .metals .scala-build .cpcache .shadow-cljs .clj-kondo .lsp .rebar3 .elixir_ls "
    "nimcache .nimcache .crystal .shards .pub .flutter-plugins .flutter-plugins-dependencies .fvm-cache .ccls-cache .clangd .cargo-ok .zig "
    ".scannerwork .sonar .sonarqube .dmypy.json .pdm-build .hatch .pixi .pybuilder __pypackages__ .ropeproject .pytest-cache pip-wheel-metadata wheels-cache "
    ".ipython_cache .jupyter_cache .quarto _book _minted-cache .hugo_build.lock .docz .fatherrc.cache .umi-production .temp .sst .amplify-hosting .chalice-build .localstack-cache "
    "cdktf.out .terragrunt-cache .packer_cache packer_cache .vagrant-cache .molecule .kitchen-cache .import .mono obj-x64 cmake_build .bazel-cache buck-out .pants.d .gradle-cache .mvn-cache "
    ".dub .rebar ebin docbuild .pio .pioenvs .tscache .yardoc .stestr .asv .doctrees doctrees .gradletasknamecache .rts2_cache_cjs .rts2_cache_es .rts2_cache_umd .meteor-cache "
    "_tmp _temp distbuild cover_db cover_db_html doxygen-doc sunws_cache built tmp_check .texmf-var .tmp_versions module.symvers modules.order _libs _inline meson-private meson-logs meson-info compile_commands.json .tshy .tshy-build "
    "cov-int y.tab.c y.tab.h lex.yy.c coverage.html coverage.out coverage.xml coverage.info coverage.lcov coverage.txt lcov.info "
    ".deps .libs autom4te.cache lcov-html lcov-report .c8_output .coverage-report coverage-report html-report .reports "
    "dirhtml singlehtml htmlhelp qthelp devhelp pseudoxml linkcheck apidoc apidocs javadoc javadocs sourcedoc rpmbuild covdir lcov "
    // What the ignore lists of ecosystems name: never written by a person, made again by the next run.
    ".eunit erl_crash.dump cover .coq-native .nia.cache eifgens gwt-unitcache .apt_generated www-test .hpc cabal-dev .cabal-sandbox "
    ".ghc.environment .scala_dependencies .cache-main .lib_managed lib_managed src_managed .ensime_cache .ensime_lucene .bsp .jekyll-metadata "
    ".sconsign.dblite slprj sccprj classes_gen test_gen nbbuild nbdist .nb-gradle .ninja_deps .ninja_log jspm_packages lib-cov .yarn-integrity "
    ".npm .lock-wscript .pnp.loader.mjs _tracks vqcache .last_cover_stats _eumm develop-eggs fake-eggs sdist .installed.cfg celerybeat-schedule "
    "celerybeat.pid test-result test-report .psci .psci_modules .qmake.stash .qmake.cache target_wrapper.sh devel_isolated build_isolated "
    "install_isolated .catkin_tools msg_gen srv_gen .byebug_history _yardoc rdoc simv simv.daidir simv.vdb objs urgreport dvefiles ucli.key .xil "
    "xlnx_auto_0_xdb _ngo _xmsgs xst work.cf .sim_build sim_build obj_dir __sim__ gtags grtags gpath gsyms .tags gtags.files cscope.files "
    "cscope.out cscope.in.out cscope.po.out .texpadtmp .auctex-auto _freeze .rproj.user exportedobj .consulo deriveddatacache .godot .mono_crash "
    "benchmarkdotnet.artifacts .axocover ipch .vs csx ecf rcf _upgradereport_files timeline.xctimeline ehthumbs.db thumbs.db desktop.ini "
    ".nrepl-port .lein-failures .lein-repl-history .lein-deps-sum cmakescripts cmakelists.txt.user cmake_install.cmake "
    "install_manifest.txt ctesttestfile.cmake _deps .cmake .fetchcontent .conan .conan2 vcpkg_installed .vcpkg .pdm-python .pyrefly_cache "
    ".ty_cache .uv_cache .numba_cache __marimo__ .marimo_cache .open-next .rspack .rsbuild .rslib .mfsu .swcrc.cache .babel_cache .vite-temp "
    ".vitest .vitest-cache .wxt .web-extension-artifacts web-ext-artifacts .histoire .storybook-cache __diff_output__ .firebase .devbox .direnv "
    "gpucache shadercache dawncache graphitedawncache .ksp .kapt generated-sources generated-test-sources .symlinks app.dill .hilt "
    "blib pm_to_blib _generated _auto_examples auto_examples _backreferences gen_modules _autosummary jupyter_execute generated typedocs cache-dir commonjs cxx_repository ii_files ti_files .cask .eask .eldev test_results test_output testoutput test_reports test_logs test-logs test-out test_out test-artifacts";
inline constexpr auto kBuildList = [](std::uint32_t) constexpr noexcept { return kBuildNames; };
inline constexpr WordTable<1024> kBuildTable(1, kBuildList);
inline constexpr NameSigns kBuildEndings(
    "egg-info dist-info pyc pyo pyd tsbuildinfo o obj class gcda gcno gcov profraw profdata coverprofile a so lo la dylib dll exe "
    "pdb dsym elc beam whl egg dvi aux swp log toc bbl blg idx ilg lof lot fls fdb_latexmk tmp trs cmo cmi cmx cmxa cmt cmti hi gmo moc ko");

// The words of a name: dist-esm, build-debug, .eslint-cache, ncat_build. `outer`: no folder of sources holds it.
inline bool is_build_by_words(std::string_view name, bool outer) noexcept {
  // cmakebuild, mesonbuild; not the files that say how something is built.
  if (outer && name.size() > 7 && ascii::ends_with(name, "build") && name.find_first_of("-_.") == std::string_view::npos && !ascii::one_of(name, "pkgbuild apkbuild autobuild prebuild postbuild xcodebuild msbuild imagebuild")) return true;
  const std::size_t start = name.find_first_of("-_"), end = name.find_last_of("-_.");
  if (end == std::string_view::npos || end == 0) return false;
  const std::string_view last = name.substr(end + 1);
  if (name[0] == '.') return ascii::one_of(last, "cache venv tmp temp") || ascii::ends_with(name, "-tmp-dir");
  if (start == std::string_view::npos || start == 0) return false;
  const std::string_view word = name.substr(0, start);
  // Sources of how it is built: build-tools, docker-build.
  constexpr std::string_view kSources = "tool tools script scripts src source sources config configs conf support system settings util utils helper helpers lib libs docs rules images templates data";
  if (ascii::one_of(last, kSources) || ascii::one_of(word, "ci docker pre post jenkins container image src source data backup")) return false;
  if (ascii::one_of(word, "tmp temp") || (name[start] == '-' && ascii::one_of(word, "dist coverage build"))) return true;
  if (name[end] != '.' && (ascii::one_of(last, "venv tmp temp") || (name[end] == '-' && last == "coverage") || ascii::ends_with(name, "-tmp-dir"))) return true;
  if (!outer) return false;
  return ascii::one_of(word, "build gen generated output") ||
         (name[end] != '.' && (ascii::one_of(last, "build output dist generated coverage artifacts") || (name[end] == '_' && last == "out")));
}

// Names that people give to sources, data and documents.
inline constexpr std::string_view kKeptNames =
    "api app apps assets backup backups config content data dataset db database doc docs dump lib media migrations model models "
    "notes project public release scripts server sources src spec static templates test tests tools uploads users v vendor web";

// What a release is packed from or unpacked to: bzip2-1.0.8, foo-2.1rc1. No dates: notes-2024.05.
inline bool is_release(std::string_view name) noexcept {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0 || dash + 3 >= name.size()) return false;
  const std::string_view version = name.substr(dash + 1);
  const std::size_t dot = version.find('.');
  if (dot == 0 || dot > 3 || dot + 1 >= version.size() || !ascii::is_digit(version[dot + 1])) return false;
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (i < dot ? !ascii::is_digit(version[i]) : version[i] != '.' && !ascii::is_digit(version[i]) && !ascii::is_letter(version[i])) return false;
  }
  for (std::size_t from = 0; from < dash;) {
    std::size_t to = name.find_first_of("-_.", from);
    if (to > dash) to = dash;
    if (ascii::one_of(name.substr(from, to - from), kKeptNames)) return false;
    from = to + 1;
  }
  return true;
}

// Looks at the parts from `first` on: those below the repository's root.
inline bool is_build(const PathParts& path, std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < path.count; ++i) {
    const std::string_view name = path.part[i];
    if (path.has_glob(name)) {  // *.pyc is, Main*.class and build-* as well, build* may be anything
      if (ascii::one_of(name, "build-* dist-* gen-* *-build *_build *output .coverage* .coverage.* .pytest* .mypy* .ruff* .tox* .nyc* .turbo* .hypothesis* *.run.xml *-blx.bib _minted* pythontex-files-* moc_*.cpp qrc_*.cpp cscope.* "
                             ".nfs* .fuse_hidden* .ninja_* hs_err_pid* vgcore.* npm-debug.log* yarn-debug.log* yarn-error.log* capybara-*.html _resharper* *.dsym.zip"))
        return true;
      if (name.back() == '~' && name.find_first_of("?[") == std::string_view::npos) return true;
    } else if (kBuildTable.find(name, kBuildList) != kBuildTable.kNowhere) {
      return true;
    } else if (ascii::one_of(ending_of(name), "old bak prev") && name.size() > 4 &&
               kBuildTable.find(name.substr(0, name.rfind('.')), kBuildList) != kBuildTable.kNowhere) {
      return true;  // build.old
    }
    if (kBuildEndings.may_have(ending_of(name))) {
      for (const std::string_view suffix :
           {".egg-info", ".dist-info", ".pyc", ".pyo", ".pyd", ".tsbuildinfo", ".o", ".obj", ".class", ".gcda", ".gcno", ".gcov",
            ".profraw", ".profdata", ".coverprofile", ".a", ".so", ".lo", ".la", ".dylib", ".dll", ".exe", ".pdb", ".dsym", ".elc",
            ".beam", ".whl", ".egg", ".dvi", ".aux", ".swp", ".log", ".toc", ".bbl", ".blg", ".idx", ".ilg", ".lof", ".lot", ".fls",
            ".fdb_latexmk", ".tmp", ".trs", ".cmo", ".cmi", ".cmx", ".cmxa", ".cmt", ".cmti", ".hi", ".gmo", ".moc", ".ko"}) {
        if (name.size() > suffix.size() && ascii::ends_with(name, suffix)) return true;
      }
    }
    if (path.has_glob(name) && name.size() > 1 && name[0] != '*') continue;
    if (path.names(i, "vendor") && path.names(i + 1, "bundle")) return true;
    if (path.names(i, "storage") && path.names(i + 1, "framework") && path.names_one_of(i + 2, "views cache testing")) return true;
    if (path.names(i, "resources") && path.names(i + 1, "_gen")) return true;
    if (path.names(i, "flutter") && path.names_one_of(i + 1, "flutter.framework app.framework ephemeral")) return true;
    if (path.names(i, "cypress") && path.names_one_of(i + 1, "videos screenshots downloads")) return true;
    if (path.names(i, ".yarn") && path.names_one_of(i + 1, "cache unplugged install-state.gz build-state.yml")) return true;
    if (path.names(i, "library") && path.names_one_of(i + 1, "scriptassemblies bee packagecache shadercache artifacts statecache burstcache")) return true;
    if (path.names(i, ".snakemake") && path.names_one_of(i + 1, "log locks incomplete shadow tmp.*")) return true;
    if (path.names(i, "test") && path.names_one_of(i + 1, "failures screenshots-actual")) return true;
    if (path.names(i, "public") && path.names_one_of(i + 1, "packs packs-test hot")) return true;
    if (path.names(i, ".nx") && path.names_one_of(i + 1, "cache workspace-data")) return true;
    if (ascii::starts_with(name, "cmake-build-") || ascii::starts_with(name, "bazel-") || ascii::starts_with(name, "_minted")) return true;
    if (path.has_glob(name)) continue;
    const bool outer = i == first || ascii::one_of(path.part[i - 1], "test tests testsuite t spec doc docs example examples e2e bench benchmarks");
    if (is_build_by_words(name, outer) || (i == first && is_release(name))) return true;
    if (outer && ascii::one_of(name, "output outputs gen")) return true;
    if (path.names_one_of(i, "doc docs documentation manual") && path.names_one_of(i + 1, "html xhtml latex rtf xml")) return true;
    // What a Debian package is packed from: debian/tmp/usr, debian/NAME/etc.
    if (path.names(i, "debian") && i + 2 < path.count && path.names_one_of(i + 2, "usr etc var run lib bin sbin opt debian")) return true;
  }
  return false;
}

// What only a tool makes, and makes again, whatever the folder that it is in. Below it nothing is left open.
// `hidden`: whether a folder above it is one of programs, not of a project (~/.nvm, AppData), from the part `from` on.
inline bool is_remade(const PathParts& path, std::uint32_t from = 0, bool* hidden = nullptr) noexcept {
  bool remade = false;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const bool above = remade;
    if (PathParts::is_unknown(path.part[i])) {
      if (remade) return false;
    } else if (!path.has_glob(path.part[i])) {
      remade = remade || path.names_one_of(i, "node_modules bazel-bin bazel-out bazel-testlogs __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox "
                                              ".next .nuxt .turbo .parcel-cache .gradle .eggs .nyc_output .svelte-kit .angular .dart_tool .hypothesis "
                                              ".ipynb_checkpoints .sass-cache .terragrunt-cache .stack-work dist-newstyle zig-cache .zig-cache elm-stuff "
                                              "htmlcov _build .venv cmakefiles cmake-build-debug cmake-build-release autom4te.cache") ||
               // $BUNDLE_PATH/ruby/*/bundler/gems, $BUNDLE_PATH/ruby/*/cache
               (i > 1 && path.names(i - 1, "bundler") && path.names(i, "gems")) || (i > 1 && path.names(i - 2, "ruby") && path.names(i, "cache"));
    }
    if (hidden != nullptr && !above && !remade && i >= from && (path.part[i][0] == '.' || ascii::one_of(path.part[i], "appdata library")))
      *hidden = true;
  }
  return remade;
}

// The same, in a folder of somebody's project: at least one folder below the part `from`.
inline bool is_remade_in_project(const PathParts& path, std::uint32_t from) noexcept {
  bool hidden = false;
  return path.count > from + 1 && is_remade(path, from, &hidden) && !hidden;
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
