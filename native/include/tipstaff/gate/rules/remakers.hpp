// What is made again: releases by their version, and programs that write a whole folder from sources.
#pragma once

#include <algorithm>
#include <string_view>

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {

// A release by its version, $(NAME)-$(VERSION) or foo-${VERSION}: what such a folder is packed from or unpacked to.
inline bool is_release_by_variable(std::string_view written) noexcept {
  if (written.size() > 2 && written[0] == '"' && written.back() == '"') written = written.substr(1, written.size() - 2);
  // The name of the variable at `at`, which is set to what follows it; empty where there is none.
  const auto variable = [written](std::size_t* at) noexcept {
    std::size_t start = *at + 1;
    if (start >= written.size() || written[*at] != '$') return std::string_view();
    const char close = written[start] == '{' ? '}' : written[start] == '(' ? ')' : '\0';
    if (close != '\0') ++start;
    std::size_t end = start;
    while (end < written.size() && ascii::is_name(written[end])) ++end;
    if (close != '\0' && (end >= written.size() || written[end] != close)) return std::string_view();
    *at = close != '\0' ? end + 1 : end;
    return written.substr(start, end - start);
  };
  std::size_t at = 0;
  if (!written.empty() && written[0] == '$') {
    if (!ascii::one_of(variable(&at), "name package pkg pkgname package_name project project_name prog program progname distname app appname tarname pname")) return false;
  } else {
    while (at < written.size() && (ascii::is_name(written[at]) || (written[at] == '-' && at + 1 < written.size() && written[at + 1] != '$'))) ++at;
    for (std::size_t from = 0; from < at;) {
      const std::size_t to = std::min(at, written.find_first_of("-_", from));
      if (ascii::one_of(written.substr(from, to - from), kKeptNames)) return false;
      from = to + 1;
    }
  }
  if (at == 0 || at + 1 >= written.size() || written[at++] != '-') return false;
  const std::string_view version = variable(&at);
  if (!ascii::one_of(version, "v ver pkgver tag release rel vsn") && !ascii::ends_with(version, "version")) return false;
  return at == written.size() || (written[at] == '/' && at + 1 == written.size());
}

// Programs that write a whole folder from sources, and the options that name it.
inline constexpr std::string_view kGenerators =
    "dotnet jsdoc typedoc esdoc documentation tsc tspc babel swc rollup esbuild webpack vite parcel tsup tsdown microbundle ncc stylus coffee pug postcss sphinx-build "
    "sphinx-apidoc pdoc pdoc3 mkdocs hugo jekyll zola protoc buf openapi-generator openapi-generator-cli swagger-codegen swagger-codegen-cli thrift flatc "
    "graphql-codegen grpc_tools_node_protoc antlr4 genhtml gcovr gitbook mdbook asciidoctor vuepress vitepress eleventy docco yuidoc apidoc";
inline constexpr std::string_view kOutputs =
    "-d -o --out --out-dir --outDir --outdir --output --output-dir --output-path --output-directory --destination --dest --dist-dir --site-dir --dir --out-path -out --js_out --ts_out --python_out --go_out --cpp_out --java_out";

// Folders that a tool fills again from a list of what belongs into them.
struct Refilled {
  std::string_view names, programs;
};
inline constexpr Refilled kRefilled[] = {{"deps _build", "mix"}, {"pods", "pod"}, {"public", "gatsby hugo"}, {"vendor", "composer"}};

}  // namespace tipstaff::gate::rules
