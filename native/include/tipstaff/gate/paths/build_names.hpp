// What builds and tools make again, by the names in a path: caches, outputs, releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/tree/name_signs.hpp"
#include "tipstaff/gate/tree/word_table.hpp"

namespace tipstaff::gate {

inline constexpr std::string_view kBuildNames =
    "node_modules dist build out target coverage .cache cache caches .gocache .go-cache .gomodcache __pycache__ .pytest_cache "
    ".mypy_cache .ruff_cache .pyre .pytype .tox .nox .next .nuxt .output .svelte-kit .turbo .task .parcel-cache "
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
    ".scannerwork .sonar .sonarqube .dmypy.json .pdm-build .hatch .pixi .pybuilder __pypackages__ .pybuild .ropeproject .pytest-cache pip-wheel-metadata wheels-cache "
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
    "blib pm_to_blib _generated _auto_examples auto_examples _backreferences gen_modules _autosummary jupyter_execute generated typedocs cache-dir commonjs cxx_repository ii_files ti_files .cask .eask .eldev web_modules browser_modules .browser_modules __generated__ __output__ __outputs__ .generated .test-output .test-results .playwright-cli test_results test_output testoutput test_reports test_logs test-logs test-out test_out test-artifacts "
    // Simulators of hardware, test suites, native add-ons, stores of a test's servers.
    "inca_libs xcelium.d .simvision waves.shm ncverilog.log irun.log xrun.log xrun.history xrun.key ucdb_dir .objs .obj .prove prebuilds default.etcd "
    ".vscode-test .lighthouseci .stryker-tmp fp-info-cache gatling-results testdir test_dir test-dir test_run test-run testrun testdb .coverage_html refman.pdf lcov_html html-out gh-pages-build";
inline constexpr auto kBuildList = [](std::uint32_t) constexpr noexcept { return kBuildNames; };
inline constexpr WordTable<1024> kBuildTable(1, kBuildList);
inline constexpr NameSigns kBuildEndings(
    "egg-info dist-info pyc pyo pyd tsbuildinfo o obj class gcda gcno gcov profraw profdata coverprofile a so lo la dylib dll exe "
    "pdb dsym elc beam whl egg dvi aux swp log toc bbl blg idx ilg lof lot fls fdb_latexmk tmp trs cmo cmi cmx cmxa cmt cmti hi gmo moc ko map");

// _test_boot, _build-arm, _tmp_out: what a build or a test run makes for itself; not _test_data, _build_tools.
inline bool is_scratch_name(std::string_view name) noexcept {
  if (name.size() < 5 || name[0] != '_' || name.find('.') != std::string_view::npos) return false;
  name.remove_prefix(1);
  const std::string_view word = name.substr(0, name.find_first_of("-_"));
  if (word.size() == name.size()) return false;
  constexpr std::string_view kWritten =
      "data fixture fixtures case cases spec specs suite suites util utils helper helpers lib libs src source sources tool tools script scripts support app apps "
      "config conf settings docs doc images templates backup backups";
  return ascii::one_of(word, "test tmp temp build out output dist gen generated coverage cache") && !ascii::one_of(name.substr(name.find_last_of("-_") + 1), kWritten);
}

// The words of a name: dist-esm, build-debug, .eslint-cache, ncat_build. `outer`: no folder of sources holds it.
inline bool is_build_by_words(std::string_view name, bool outer) noexcept {
  // cmakebuild, mesonbuild; not the files that say how something is built.
  if (outer && name.size() > 7 && ascii::ends_with(name, "build") && name.find_first_of("-_.") == std::string_view::npos && !ascii::one_of(name, "pkgbuild apkbuild autobuild prebuild postbuild xcodebuild msbuild imagebuild")) return true;
  const std::size_t start = name.find_first_of("-_"), end = name.find_last_of("-_.");
  if (end == std::string_view::npos || end == 0) return false;
  const std::string_view last = name.substr(end + 1);
  if (name[0] == '.')
    return ascii::one_of(last, "cache venv tmp temp") || ascii::ends_with(name, "-tmp-dir") || ascii::one_of(name.substr(1, name.find_first_of("-_") - 1), "tmp temp venv cache");
  if (start == std::string_view::npos || start == 0) return false;
  const std::string_view word = name.substr(0, start);
  // Sources of how it is built: build-tools, docker-build.
  constexpr std::string_view kSources = "tool tools script scripts src source sources config configs conf support system settings util utils helper helpers lib libs docs rules images templates data";
  if (ascii::one_of(last, kSources) || ascii::one_of(word, "ci docker pre post jenkins container image src source data backup")) return false;
  if (ascii::one_of(word, "tmp temp") || (name[start] == '-' && ascii::one_of(word, "dist coverage build"))) return true;
  if (name[end] != '.' && (ascii::one_of(last, "venv tmp temp") || (name[end] == '-' && last == "coverage") || ascii::ends_with(name, "-tmp-dir"))) return true;
  if (!outer) return false;
  return ascii::one_of(word, "build gen generated output") ||
         (name[end] != '.' && (ascii::one_of(last, "build output dist generated coverage artifacts") || (name[end] == '_' && last == "out") || last == "html"));
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

// @(build|build-module), {lib,dist}: each of the names that the pattern lists.
inline bool all_are_build(std::string_view name, bool outer) noexcept {
  const bool extended = name.size() > 3 && name[0] == '@' && name[1] == '(' && name.back() == ')';
  if (!extended && !(name.size() > 2 && name[0] == '{' && name.back() == '}')) return false;
  name = name.substr(extended ? 2 : 1, name.size() - (extended ? 3 : 2));
  if (name.find_first_of("*?[](){}") != std::string_view::npos) return false;
  for (const char sign = extended ? '|' : ',';;) {
    const std::size_t end = name.find(sign);
    const std::string_view one = name.substr(0, end);
    if (one.empty() || (kBuildTable.find(one, kBuildList) == kBuildTable.kNowhere && !is_build_by_words(one, outer))) return false;
    if (end == std::string_view::npos) return true;
    name.remove_prefix(end + 1);
  }
}

// e2e/screenshots/chrome: what a run of tests recorded; not the pictures that the next run is compared with.
inline bool is_recorded(const PathParts& path, std::uint32_t first, std::uint32_t at) noexcept {
  bool tests = false;
  for (std::uint32_t i = first; i < at; ++i) tests = tests || path.names_one_of(i, "test tests e2e spec cypress playwright __tests__ end-to-end visual-tests visual");
  for (std::uint32_t i = at; tests && i < path.count; ++i) {
    for (std::size_t from = 0; from < path.part[i].size();) {
      std::size_t to = path.part[i].find_first_of("-_.", from);
      if (to == std::string_view::npos) to = path.part[i].size();
      if (ascii::one_of(path.part[i].substr(from, to - from), "base baseline baselines ref refs reference references expected golden goldens approved original originals fixture fixtures")) return false;
      from = to + 1;
    }
  }
  return tests;
}

// Looks at the parts from `first` on: those below the repository's root.
inline bool is_build(const PathParts& path, std::uint32_t first) noexcept {
  for (std::uint32_t i = first; i < path.count; ++i) {
    const std::string_view name = path.part[i];
    if (path.names(i, ".dvc") && path.names(i + 1, "cache")) return false;  // the only copy of data that was not pushed
    if (path.has_glob(name)) {  // *.pyc is, Main*.class and build-* as well, build* may be anything
      if (ascii::one_of(name, "build-* dist-* gen-* out-* coverage-* .cache-* .venv* .venv-* venv* venv-* cmake-build-* cmake-build* bazel-* *-build *_build *output .coverage* .coverage.* .pytest* .mypy* .ruff* .tox* .nyc* .turbo* .hypothesis* *.run.xml *-blx.bib _minted* pythontex-files-* moc_*.cpp qrc_*.cpp cscope.* "
                             "autom4te.* autom4te*.cache autoscan.* xrun.* irun.* xmsim.* ncsim.* simv* .nfs* .fuse_hidden* .ninja_* hs_err_pid* vgcore.* npm-debug.log* yarn-debug.log* yarn-error.log* capybara-*.html _resharper* *.dsym.zip"))
        return true;
      if (name.back() == '~' && name.find_first_of("?[") == std::string_view::npos) return true;
      if (all_are_build(name, i == first || path.part[i - 1] == "*")) return true;
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
            ".fdb_latexmk", ".tmp", ".trs", ".cmo", ".cmi", ".cmx", ".cmxa", ".cmt", ".cmti", ".hi", ".gmo", ".moc", ".ko", ".js.map", ".css.map", ".mjs.map", ".cjs.map", ".d.ts.map"}) {
        if (name.size() > suffix.size() && ascii::ends_with(name, suffix)) return true;
      }
    }
    if (path.has_glob(name) && name.size() > 1 && name[0] != '*') continue;
    if (path.names(i, "vendor") && path.names(i + 1, "bundle")) return true;
    if (path.names(i, "storage") && path.names(i + 1, "framework") && path.names_one_of(i + 2, "views cache testing")) return true;
    if (path.names(i, "resources") && path.names(i + 1, "_gen")) return true;
    if (i > first && path.names_one_of(i, "screenshots screenshot") && is_recorded(path, first, i)) return true;
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
    if (name.size() > 5 && ascii::starts_with(name, "dist.")) return true;  // dist.module, dist.es5
    if (is_scratch_name(name) || all_are_build(name, outer) || is_build_by_words(name, outer) || (i == first && is_release(name))) return true;
    if (outer && ascii::one_of(name, "output outputs gen")) return true;
    if (i > first && name == "gen" && path.names_one_of(i - 1, "api apis proto protos grpc")) return true;
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

}  // namespace tipstaff::gate
