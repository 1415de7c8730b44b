// What the tools of one ecosystem make, and what shows that a command is about that ecosystem. A name such as `work`, `pkg` or
// `results` may be anything; beside .nextflow, obj_dir or a call of wasm-pack it is what these tools made, and make again.
#pragma once

#include <string_view>

namespace tipstaff::gate {

// Lists of words in lower case, one space between them. `*` stands for any letters but slashes, `\*` for a star in the command.
//  programs  Programs of the same text: NAME, NAME:VERB:NEXT where the first operands count.
//  signs     Names that no other tool has: one that is deleted beside it. Never one that people give to sources or data.
//  outputs   As a .gitignore has them: with a slash from the folder on where the command runs, else in any folder but sources.
// What is written by people or measured once is in none of them: sources, tests, uploads, states of infrastructure, databases.
struct Ecosystem {
  std::string_view programs, signs, outputs;
};

inline constexpr Ecosystem kEcosystems[] = {
    // Workflows, data and notebooks.
    {"nextflow nf-test", ".nextflow .nextflow* .nextflow.log* .nf-test .nf-test.log",
     ".nextflow .nextflow* .nf-test* /work /results trace*.txt* timeline*.html* report*.html* flowchart*.html* dag*.dot* dag*.html* dag*.mmd* dag*.svg* "
     "dag*.png* pipeline_info execution_*.html execution_*.txt"},
    {"snakemake", ".snakemake", ".snakemake /results /output /logs /log slurm_logs dag.* rulegraph.* report.html *.done"},
    {"dbt dbt-core", "dbt_packages dbt_modules target/dbt* target/manifest.json", "target logs dbt_packages dbt_modules package-lock.yml"},
    {"sqlmesh", "", ".cache .logs logs"},
    {"jupyter-book jupyter jupytext papermill", ".ipynb_checkpoints .jupyter_cache jupyter_execute",
     ".ipynb_checkpoints .jupyter_cache .virtual_documents jupyter_execute *.nbconvert.ipynb profile_default \\*_files"},
    {"quarto", "_freeze .quarto", ".quarto _site _book _freeze \\*_files \\*_cache site_libs"},
    // Hardware: simulators, synthesis.
    {"verilator iverilog vvp ghdl nvc vsim vlog vcom xvlog xelab xsim xrun irun verdi",
     "obj_dir sim_build simv simv.daidir simv* csrc xsim.dir xvlog.log xelab.log xcelium.d inca_libs vsim.wlf ucdb_dir work-obj93.cf work-obj08.cf *.vcd *.fst *.vpd *.fsdb *.wlf *.vvp *.ghw",
     "obj_dir sim_build simv* csrc *.daidir *.vdb dvefiles ucli.key urgreport xsim.dir xcelium.d inca_libs waves.shm *.shm ucdb_dir *.ucdb transcript work *.pb xvlog.log xelab.log xsim.log "
     "results.xml *.vcd *.fst *.fst.hier *.vpd *.fsdb *.wlf *.vvp *.ghw *.saif *.cf *.wdb *.jou xrun.* irun.* coverage.dat logs novas* verdilog"},
    {"vivado vivado_hls vitis vitis_hls", ".xil vivado*.jou vivado*.log vivado_* webtalk* *.jou *.ip_user_files",
     ".xil .srcs_cache vivado*.jou vivado*.log vivado_* webtalk* usage_statistics_webtalk* *.jou *.str *.cache *.hw *.ip_user_files *.runs *.sim *.wdb *.dcp *.pb xsim.dir"},
    {"quartus_sh quartus_map", "incremental_db db/*.cdb *.qws", "incremental_db db output_files simulation greybox_tmp *.qws *.rpt *.summary *.smsg *.done *.jdi *.pin"},
    {"yosys nextpnr-ice40 nextpnr-ecp5", "*.blif", "*.blif *.asc *.rpt *.bit *.config *.svf *.vvp *.vcd"},
    // Firmware.
    {"idf.py", "sdkconfig.old managed_components", "build sdkconfig sdkconfig.old managed_components dependencies.lock"},
    {"pio platformio", ".pio .pioenvs .piolibdeps", ".pio .pioenvs .piolibdeps .clang_complete .gcc-flags.json compile_commands.json .ccls-cache"},
    {"west twister", "twister-out*", "twister-out* sanity-out* build"},
    {"", "*.uvguix* *.uvguix.* listings", "objects listings debugconfig *.uvguix* *.uvguix.* *.axf *.crf *.dep *.lnp *.htm *.build_log.htm"},
    {"bitbake devtool kas", "sstate-cache tmp-glibc bitbake-cookerdaemon.log bitbake.lock", "tmp tmp-* sstate-cache cache downloads bitbake* pyshtables.py build"},
    {"", "staging_dir build_dir", "bin build_dir staging_dir tmp dl feeds logs host"},
    {"colcon catkin catkin_make rosdep", "build_isolated devel_isolated install_isolated .catkin_tools", "build install log logs devel *_isolated .catkin_tools"},
    {"kikit kibot kicad-cli", "fp-info-cache *.kicad_pcb-bak *.kicad_sch-bak", "gerber* fab fab.zip fabrication production *.gbr *.drl fp-info-cache *-bak _autosave-*"},
    {"meson", "subprojects/packagecache", "subprojects/packagecache build builddir build-meson"},
    // Packages.
    {"appimagetool linuxdeploy* appimage-builder appimagecraft", "appdir *.appdir *.appimage *.appimage.zsync appimage-build",
     "appdir *.appdir *.appimage *.appimage.zsync appimage-build appimage-builder-cache squashfs-root"},
    {"flatpak-builder", ".flatpak-builder", ".flatpak-builder build-dir builddir flatpak-build repo *.flatpak"},
    {"dpkg-buildpackage debuild dh dh_clean gbp", "debian/.debhelper debian/files debian/*.substvars debhelper-build-stamp",
     "debian/.debhelper debian/files debian/tmp debian/*.substvars debian/*.log debian/*.debhelper debian/debhelper-build-stamp *.deb *.ddeb *.udeb *.dsc *.changes *.buildinfo *.build *.upload"},
    {"rpmbuild tito packit", "buildroot srpms rpms rpmbuild *.src.rpm", "build buildroot rpms srpms rpmbuild *.rpm"},
    {"makepkg", "*.pkg.tar.* *.pkg.tar", "/pkg *.pkg.tar.* *.pkg.tar *.log"},
    {"packer", "packer_cache", "packer_cache output-* packer_output crash.log"},
    {"helm:dependency helm:dep helm:package", "tmpcharts*", "tmpcharts* *.tgz chart.lock requirements.lock charts/*.tgz"},
    // .NET, Java, Scala, Clojure.
    {"", "*.opensdf *.ncb *.vc.db *.tlog *.lastbuildstate .vs ipch", "x64 x86 win32 arm64 debug release bin obj .vs ipch *.sdf *.opensdf *.ncb *.suo *.aps *.tlog *.ilk *.pdb *.idb *.vcxproj.user *.csproj.user"},
    {"dotnet msbuild nuget", "testresults coveragereport coverage-report *.trx *.binlog *.nupkg *.snupkg benchmarkdotnet.artifacts",
     "bin obj artifacts publish testresults testresult* coveragereport* coverage-report* coverage*.xml coverage*.json coverage*.info *.trx *.binlog *.nupkg *.snupkg "
     "nupkg nupkgs benchmarkdotnet.artifacts .vs logs project.assets.json packages.lock.json"},
    {"mvn mvnw", "dependency-reduced-pom.xml pom.xml.releasebackup pom.xml.versionsbackup .flattened-pom.xml",
     "target pom.xml.tag pom.xml.releasebackup pom.xml.versionsbackup pom.xml.next release.properties dependency-reduced-pom.xml buildnumber.properties .flattened-pom.xml surefire-reports gatling-results dependency-check-report.* reports/allure"},
    {"", "derby.log", "derby.log metastore_db spark-warehouse"},
    {"gradle gradlew", ".gradle .cxx .externalnativebuild app/build buildsrc/build",
     ".gradle .kotlin .cxx .externalnativebuild build buildsrc/build buildsrc/.gradle app/build captures *.apk *.aab *.ap_ *.dex *.hprof lint-results* .navigation"},
    {"sbt mill bloop scala-cli metals", ".bloop .metals .bsp .scala-build project/target project/metals.sbt",
     ".bloop .metals .bsp .scala-build .ammonite target out lib_managed src_managed /project/target /project/project /project/boot /project/.bloop /project/metals.sbt"},
    {"shadow-cljs lein clj clojure boot", ".shadow-cljs .cpcache .lein-* .nrepl-port figwheel_server.log",
     ".shadow-cljs .cpcache .lein-* .nrepl-port .cljs_node_repl target classes out figwheel_server.log pom.xml.asc /public/js /resources/public/js .lsp/.cache .clj-kondo/.cache"},
    // Rust, Go, C and C++, and other compilers.
    {"wasm-pack wasm-bindgen wasm-opt cargo:clean", "target/wasm* pkg/*_bg.wasm", "pkg pkg-web pkg-node pkg-nodejs pkg-bundler dist target *_bg.wasm *.wasm"},
    {"cargo tarpaulin", "tarpaulin-report.* mutants.out* target/debug target/release", "target tarpaulin-report.* mutants.out* lcov.info *.profraw flamegraph.svg perf.data* cobertura.xml"},
    {"go:generate mockery mockgen moq counterfeiter", "mock_*.go *_mock.go *_mocks.go", "mocks mock *mocks *_mock.go *_mocks.go mock_*.go fakes *fakes .task"},
    {"make:manifests make:generate", "config/crd/bases", "config/crd/bases config/rbac/role.yaml zz_generated*"},
    {"update-codegen.sh", "", "/pkg/client /pkg/generated /client-go zz_generated*"},
    {"graphql-codegen", "", "/src/gql /src/graphql/generated"},
    {"go:mod:vendor", "", "/vendor go.sum"},
    {"buf protoc grpc_tools_node_protoc protoc-gen-* sqlc wire templ oapi-codegen ogen swag gqlgen controller-gen openapi-generator openapi-generator-cli swagger-codegen "
     "graphql-codegen orval kubb quicktype flatc thrift datamodel-codegen antlr4 relay-compiler go:generate prisma:generate",
     "*.pb.go *.pb.gw.go *_pb2.py *_pb2_grpc.py *_pb2.pyi *.pb.cc *.pb.h .openapi-generator",
     "gen generated __generated__ _generated /src/gen /src/generated /src/__generated__ /lib/generated /lib/gen /app/generated .openapi-generator *.pb.go *.pb.gw.go *.pb.cc *.pb.h "
     "*_pb2.py *_pb2.py* *_pb2.pyi *_pb2_grpc.py *_pb.js *_pb.ts *_pb.d.ts *_grpc_pb.* *.gen.* *.generated.* *_gen.go *_string.go *_enumer.go zz_generated* *_templ.go .task"},
    {"", "cmakecache.txt cmakefiles cmake_install.cmake", "cmakecache.txt cmakefiles cmakescripts testing cmake_install.cmake install_manifest.txt ctesttestfile.cmake cpackconfig.cmake "
     "cpacksourceconfig.cmake makefile build.ninja rules.ninja .ninja_* compile_commands.json _deps *_autogen"},
    {"qmake qmake6 lrelease", "moc_* qrc_*.cpp ui_*.h .qmake.stash .qmake.cache object_script.*",
     "moc_* qrc_*.cpp ui_*.h .qmake.* makefile* *.pro.user* *.qbs.user* object_script.* target_wrapper.* *.autosave *.qm debug release"},
    {"", "*.ko *.mod.c modules.order module.symvers .tmp_versions", "*.ko *.mod *.mod.c *.mod.o *.o .*.cmd *.symvers modules.order module.symvers .tmp_versions .cache.mk"},
    {"", "*.smod *.o", "*.mod *.smod *.o"},
    {"gcov lcov gcovr genhtml kcov", "*.gcda *.gcno *.gcov lcov.info", "*.gcda *.gcno *.gcov *.info coverage* cov lcov* html cov-html coverage_html gcov"},
    {"mix", "_build .elixir_ls priv/plts", "_build deps doc cover .fetch erl_crash.dump *.ez .elixir_ls .expert .lexical .dialyzer priv/plts priv/static/assets *.plt *.plt.hash apps/*/_build node_modules"},
    {"rebar3 rebar", "_rel .rebar3 .eunit .erlang.mk rebar3.crashdump erl_crash.dump", "_build _rel deps ebin logs log *.plt .eunit .rebar .rebar3 .erlang.mk rebar3.crashdump erl_crash.dump"},
    {"cabal stack", "dist-newstyle .stack-work .hpc *.tix", "dist dist-newstyle dist-* .stack-work .hpc *.tix *.hi *.o *.hie *.prof *.hp *.eventlog cabal.project.local* .ghc.environment.* stack.yaml.lock"},
    {"dune opam", "_opam setup.data", "_build _opam *.install *.cm* *.annot setup.data setup.log *.native *.byte"},
    {"spago purs", ".spago .psci_modules .psc-package", ".spago .psci_modules .psc* output generated-docs"},
    {"shards", ".shards", ".shards /lib bin shard.lock"},
    {"rescript bsb", "lib/bs .bsb.lock", "/lib/bs /lib/ocaml /lib/es6 /lib/js *.bs.js *.res.js *.res.mjs .merlin .bsb.lock"},
    {"julia", "*.jl.cov *.jl.*.cov *.jl.mem", "*.jl.cov *.jl.*.cov *.jl.mem deps/deps.jl deps/build.log docs/build docs/site manifest.toml"},
    {"luarocks busted", "lua_modules .luarocks luacov.stats.out luacov.report.out", "lua_modules .luarocks luacov.* *.rock *.src.rock"},
    {"", "blib pm_to_blib mymeta.*", "blib pm_to_blib mymeta.* makefile makefile.old *.bs *.o _build build build.bat _eumm cover_db nytprof*"},
    {"r:cmd", "*.rcheck ..rcheck .rproj.user vignettes/*_cache vignettes/*_files", "*.rcheck ..rcheck *_*.tar.gz *_*.tgz src/*.o src/*.so src/*.dll src/*.a src/symbols.rds *-ex.r rplots.pdf inst/doc /doc /meta vignettes/*.html vignettes/*.r *_cache *_files .rproj.user"},
    {"dub dmd", ".dub", ".dub docs.json __dummy.html *-test-* bin"},
    // Mobile and games.
    {"flutter dart fvm melos", ".dart_tool .flutter-plugins .flutter-plugins* .flutter-plugins-dependencies ios/.symlinks ios/flutter/flutter.framework *.g.dart *.freezed.dart",
     "build .dart_tool .packages .flutter-plugins* .pub-cache .pub pubspec.lock ios/pods ios/podfile.lock ios/.symlinks ios/flutter/flutter.* macos/pods macos/podfile.lock "
     "*.g.dart *.freezed.dart *.gr.dart *.mocks.dart *.config.dart *.iml coverage android/.gradle /lib/generated /lib/gen doc/api"},
    {"xcodebuild swift pod tuist xcodegen carthage", ".swiftpm deriveddata *.xcresult xcuserdata pods podfile.lock carthage/build",
     ".build .swiftpm deriveddata build *.xcresult xcuserdata *.xcuserstate *.ipa *.dsym* pods podfile.lock carthage carthage/build carthage/checkouts package.resolved *.xcworkspace sourcepackages timeline.xctimeline"},
    {"tuist xcodegen", "", "*.xcodeproj derived"},
    {"fastlane", "fastlane/report.xml fastlane/test_output", "fastlane/report.xml fastlane/test_output fastlane/preview.html fastlane/screenshots/screenshots.html *.ipa *.dsym*"},
    {"expo react-native eas", ".expo .expo-shared ios/pods android/app/build android/.gradle",
     ".expo .expo-shared dist web-build ios/pods ios/podfile.lock ios/build android/build android/app/build android/.gradle android/app/.cxx .metro-health-check* node_modules"},
    {"expo:prebuild", "", "/ios /android"},
    {"", "usersettings memorycaptures library/scriptassemblies library/bee library/packagecache library/shadercache library/artifacts library/statecache *.unityproj *.pidb",
     "/library temp obj logs build builds memorycaptures usersettings .vs exportedobj *.csproj *.sln *.unityproj *.pidb *.booproj *.svd *.pdb *.opendb *.vc.db sysinfo.txt *.apk *.aab"},
    {"godot godot4", ".godot", ".godot .import .mono build builds export mono_crash.* *.translation android/build"},
    // Ruby, PHP, Python.
    {"rails rake spring", "tmp/cache tmp/cache/* tmp/pids public/packs public/packs-test public/vite* log/*.log app/assets/builds app/assets/builds/*",
     "public/assets public/packs public/packs-test public/vite* app/assets/builds /tmp /log coverage .bundle vendor/bundle spec/examples.txt spec/reports .byebug_history rerun.txt"},
    {"rake rake-compiler", "ext/*/*.o ext/*/*.bundle ext/*/mkmf.log lib/*.bundle lib/*/*.bundle", "ext/*/makefile ext/*/*.o ext/*/*.so ext/*/*.bundle ext/*/mkmf.log lib/*.so lib/*.bundle lib/*/*.so lib/*/*.bundle tmp /pkg mkmf.log"},
    {"gem", "*.gem .rspec_status", "/pkg *.gem coverage .rspec_status spec/reports test/tmp"},
    {"yard yardoc rdoc sdoc", ".yardoc _yardoc", ".yardoc _yardoc /doc rdoc"},
    {"bundle jekyll", ".jekyll-cache .jekyll-metadata _site", "_site .jekyll-cache .jekyll-metadata .sass-cache vendor/bundle gemfile.lock .bundle"},
    {"composer", "vendor/composer vendor/autoload.php", "/vendor composer.lock web/core web/modules/contrib web/themes/contrib web/profiles/contrib web/libraries web/wp docroot/core docroot/modules/contrib docroot/themes/contrib"},
    {"artisan phpunit", ".phpunit.cache .phpunit.result.cache .php-cs-fixer.cache bootstrap/cache/* storage/framework/*",
     ".phpunit* .php-cs-fixer.cache .phpstan* .phpcs-cache bootstrap/cache/* storage/framework/cache storage/framework/cache/* storage/framework/views/* storage/framework/sessions/* "
     "storage/logs/*.log public/build public/hot public/mix-manifest.json build coverage"},
    {"pytest tox nox coverage", ".coverage .coverage.* .coverage* .tox .nox .pytest_cache htmlcov .hypothesis *.egg-info .eggs .mypy_cache .ruff_cache __pycache__",
     "build dist coverage.xml .coverage* htmlcov cover junit*.xml pytest*.xml report.xml nosetests.xml test-results test-reports test_reports reports/junit* reports/coverage* prof *.prof "
     "*.egg-info pip-wheel-metadata wheels wheelhouse sdist .scrapy .webassets-cache celerybeat-schedule* celerybeat.pid cython_debug .benchmarks dask-worker-space .pdm-build"},
    // Sites and documents.
    {"hugo", "resources/_gen .hugo_build.lock", "/public resources/_gen .hugo_build.lock hugo_stats.json"},
    {"gatsby", "", "/public .cache"},
    {"zola hexo", "", "/public"},
    {"hexo", "", "/public db.json .deploy*"},
    {"mkdocs mike", "", "/site"},
    {"mdbook", "", "/book"},
    {"pelican nanoc", "", "/output cache tmp"},
    {"docusaurus", ".docusaurus", ".docusaurus build .cache-loader"},
    {"vitepress vuepress", "docs/.vitepress/cache docs/.vitepress/dist .vitepress/cache", "docs/.vitepress/cache docs/.vitepress/dist docs/.vuepress/dist .vitepress/cache .vitepress/dist"},
    {"sphinx-build sphinx-autobuild", "docs/_build doc/_build docs/source/_build docs/auto_examples docs/_autosummary",
     "docs/_build doc/_build docs/build docs/html docs/generated docs/_generated docs/_autosummary docs/auto_examples docs/gen_modules docs/source/generated docs/source/_autosummary "
     "docs/source/auto_examples doc/auto_examples doc/generated doc/source/generated docs/jupyter_execute docs/doctrees"},
    {"sphinx-apidoc sphinx-autogen", "", "docs/api docs/apidoc docs/source/api docs/source/apidoc doc/api"},
    {"doxygen", "doxygen*.log doxygen_warnings* docs/doxygen doc/doxygen", "html latex rtf xml man docs/html docs/latex docs/xml docs/man doc/html doc/latex doc/xml doc/man docs/doxygen* doc/doxygen* doxygen* *.tag docs/api doc/api"},
    {"typedoc", "", "/docs"},
    {"compodoc", "", "/documentation"},
    {"latexmk pdflatex xelatex lualatex bibtex biber tectonic", "*.bbl *.blg *.bcf *.fls *.fdb_latexmk *.synctex.gz *.run.xml *.nav *.snm _minted* *.aux",
     "*.aux *.bbl *.bcf *.blg *.fls *.fdb_latexmk *.toc *.lof *.lot *.lol *.loa *.out *.log *.nav *.snm *.vrb *.dvi *.xdv *.synctex* *.run.xml *.idx *.ind *.ilg *.glo *.gls *.glg *.acn "
     "*.acr *.alg *.ist *.thm *.tdo *.pyg *.auxlock *.cut *.cpt *.brf *.maf *.mtc* *.slf* *.slt* *.ptc* *.stc* *.xyc *.sagetex.* *.sout *.pytxcode pythontex-files-* _minted* *-blx.bib "
     "*-converted-to.* *.eledsec* *.ledmac* *.dpth *.md5 svg-inkscape *.upa *.upb *.glsdefs *.glstex .auctex-auto"},
    // Scripts of the web: frameworks and their tests.
    {"next", ".next next-env.d.ts", ".next /out next-env.d.ts .swc .contentlayer .velite *.tsbuildinfo public/sw.js public/sw.js.map public/workbox-*.js* public/fallback-*.js public/worker-*.js public/sitemap*.xml public/robots.txt playwright-report test-results"},
    {"svelte-kit svelte-package", ".svelte-kit", ".svelte-kit build /package .vercel .netlify"},
    {"nuxt nuxi", ".nuxt .output .nitro", ".nuxt .output .nitro .cache dist"},
    {"astro", ".astro", ".astro dist .vercel .netlify"},
    {"remix", "public/build", "public/build /build /api/_build"},
    {"stencil", ".stencil", ".stencil dist loader www hydrate"},
    {"ionic", "", "/www .angular"},
    {"cordova", "", "/platforms /plugins"},
    {"electron-builder electron-forge electron-packager", "dist-electron dist_electron release-builds builder-debug.yml *.blockmap", "dist out release dist-electron dist_electron release-builds builder-debug.yml builder-effective-config.yaml *.blockmap *.dmg"},
    {"tauri", "src-tauri/target src-tauri/gen/schemas", "dist src-tauri/target src-tauri/gen/schemas"},
    {"playwright", "playwright-report blob-report playwright/.cache all-blob-reports", "test-results playwright-report blob-report all-blob-reports playwright/.cache playwright/.auth allure-results allure-report e2e/test-results e2e/playwright-report e2e/*-report"},
    {"cypress", "cypress/videos cypress/screenshots cypress/downloads mochawesome-report", "cypress/videos cypress/screenshots cypress/downloads cypress/reports cypress/results cypress/logs mochawesome* reports"},
    {"k6 jmeter artillery locust", "*.jtl jmeter.log", "*.jtl jmeter.log report report-* reports html-report summary.json summary.html k6-results"},
    {"lhci lighthouse", ".lighthouseci", ".lighthouseci lighthouse-report* lighthouse*.html lighthouse*.json"},
    {"stryker", ".stryker-tmp", ".stryker-tmp reports/mutation mutation-report*"},
    {"codeql", "_codeql_detected_source_root", "codeql-db* codeql-database* *.sarif _codeql*"},
    {"lerna turbo nx", "packages/*/dist packages/*/es packages/*/esm packages/*/cjs packages/*/umd packages/*/.turbo packages/*/*.tsbuildinfo packages/*/tsconfig.tsbuildinfo", "packages/*/lib packages/*/dist packages/*/es packages/*/esm packages/*/cjs packages/*/umd packages/*/types packages/*/build packages/*/.turbo packages/*/*.tsbuildinfo"},
    {"cdk cdktf", "cdk.out cdktf.out .cdk.staging", "cdk.out cdktf.out .cdk.staging cdk.context.json *.d.ts .gen"},
    {"cdk8s:import", "", "/imports"},
    {"jb:install jb:update", "", "/vendor jsonnetfile.lock.json"},
    // Infrastructure: what is fetched again; never a state.
    {"terraform tofu terragrunt", ".terraform .terragrunt-cache .terraform.lock.hcl *.tfplan crash.log", ".terraform .terraform.lock.hcl .terragrunt-cache *.tfplan tfplan plan.out plan.tfplan crash.log crash.*.log .infracost .external_modules"},
    {"molecule ansible-galaxy", ".molecule .ansible *.retry", "*.retry .ansible .molecule .cache collections/ansible_collections ansible.log"},
    {"nix nix-build nixos-rebuild nix-shell", "result-* .direnv", "result result-* .direnv"},
    // Contracts.
    {"forge hardhat truffle", "cache_forge cache_hardhat typechain typechain-types crytic-export artifacts/build-info cache/solidity-files-cache.json",
     "artifacts cache out typechain typechain-types coverage coverage.json crytic-export cache_forge cache_hardhat gasreporter*.txt"},
    {"anchor", "test-ledger .anchor", "test-ledger .anchor"},
};

}  // namespace tipstaff::gate
