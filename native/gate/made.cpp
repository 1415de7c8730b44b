#include "tipstaff/gate/rules/made.hpp"

#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/rules/commands_before.hpp"
#include "tipstaff/gate/rules/makers.hpp"
#include "tipstaff/gate/rules/release_names.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {

using ascii::one_of;
using commands_before::Before;
using commands_before::take;
using makers::is_option;
using makers::Kind;
using makers::last_part;
using makers::without_ending;
using path_detail::Relation;
using std::string_view;

bool MadeBefore::names(const Word& word) const noexcept {
  if (word.has(word_flag::kUnknown) && !word.has(word_flag::kGlob) && word.span.end <= text.size() && word.span.start < word.span.end &&
      is_release_by_variable(text.substr(word.span.start, word.span.end - word.span.start)))
    return true;
  Before before(tree, text, index);
  const Command& asked = tree.command(index);
  const bool literal = before.is_literal(word);
  const string_view written = literal ? word.text : before.as_written(word);
  if (written.empty() || written.find("..") != string_view::npos) return false;
  PathParts path;
  take(word.text, asked, &path);
  if (path.too_long || path.climbs != 0 || (path.base != PathBase::root && path.base != PathBase::home)) return false;
  return before.made([&](Kind kind, const PathParts& made, bool made_literal, string_view made_written, const Command& maker) noexcept {
    // A variable is the same where it is written the same.
    if (!literal || !made_literal) return written == made_written && maker.cwd == asked.cwd;
    switch (path_detail::relate(path, made)) {
      case Relation::same: return true;
      // Deeper, or with a slash at its end, a link may lead elsewhere.
      case Relation::inside: return kind != Kind::file && path.count == made.count + 1 && !path.ends_in_slash;
      default: return false;
    }
  });
}

// Programs that write a whole folder from sources, and the options that name it.
constexpr string_view kGenerators =
    "dotnet wasm-pack jsdoc typedoc esdoc documentation tsc tspc babel swc rollup esbuild webpack vite parcel tsup tsdown microbundle ncc stylus coffee pug postcss sphinx-build "
    "sphinx-apidoc pdoc pdoc3 mkdocs hugo jekyll zola protoc buf openapi-generator openapi-generator-cli swagger-codegen swagger-codegen-cli thrift flatc "
    "graphql-codegen grpc_tools_node_protoc antlr4 genhtml gcovr gitbook mdbook asciidoctor vuepress vitepress eleventy docco yuidoc apidoc "
    "openapi-typescript-codegen openapi-typescript openapi-ts swagger-typescript-api orval kubb quicktype oapi-codegen ogen datamodel-codegen javadoc scaladoc dokka jsonnet lightningcss sass terser";
constexpr string_view kOutputs =
    "-d -o --out --out-dir --outDir --outdir --output --output-dir --output-path --output-directory --destination --dest --dist-dir --site-dir --dir --out-path -out --js_out --ts_out --python_out --go_out --cpp_out --java_out -m --multi";

// Folders that a tool fills again from a list of what belongs into them.
struct Refilled {
  string_view names, programs;
};
constexpr Refilled kRefilled[] = {{"deps _build", "mix"}, {"pods", "pod"}, {"public", "gatsby hugo brunch"}, {"vendor", "composer"}, {"site", "mkdocs"}, {"__snapshots__ __image_snapshots__", "jest vitest"}};

// rm -rf x && mkdir x: a folder that is emptied; not those that people keep sources, data or documents in.
static bool begins_anew(const Tree& tree, const PathParts& path, const Command& next) noexcept {
  const auto packed = [&]() noexcept {  // mkdir -p pkg/DEBIAN
    for (std::uint32_t w = 0; w < next.word_count; ++w)
      if (tree.arguments(next)[w].text.find("/DEBIAN") != string_view::npos) return true;
    return false;
  };
  if (path.count == 0 || one_of(path.part[path.count - 1], kKeptNames)) return false;
  if (!packed() && one_of(path.part[path.count - 1], "pkg cmd crates packages components pages include internal work workspace projects home")) return false;
  const Word* const words = tree.arguments(next);
  for (std::uint32_t w = 0; w < next.word_count; ++w) {
    if (is_option(words[w].text) || words[w].has(word_flag::kUnknown)) continue;
    PathParts other;
    take(words[w].text, next, &other);
    if (other.too_long || other.base != path.base) continue;
    const Relation relation = path_detail::relate(other, path);
    if (relation == Relation::same || relation == Relation::inside) return true;
  }
  return false;
}

// rm -rf /usr/local/go && tar -C /usr/local -xzf go1.22.1.tar.gz: a program that is installed again from an archive of its name.
static bool unpacks_again(const PathParts& path, const Tree& tree, const Command& tar) noexcept {
  const bool own = (path.count == 3 && path.names(0, "usr") && path.names(1, "local") && !one_of(path.part[2], "bin sbin lib lib64 share etc include libexec man games src")) ||
                   (path.count == 2 && path.names(0, "opt"));
  if (tar.program != "tar" || !own) return false;
  const Word* const words = tree.arguments(tar);
  bool there = false, archive = false, unpacks = false;
  for (std::uint32_t w = 0; w < tar.word_count; ++w) {
    const string_view name = words[w].text;
    if (words[w].text == "-C" && w + 1 < tar.word_count) {
      PathParts folder;
      take(words[w + 1].text, tar, &folder);
      there = folder.base == path.base && !folder.too_long && folder.count + 1 == path.count && path_detail::relate(path, folder) == Relation::inside;
    } else if (is_option(name) || w == 0) {
      unpacks = unpacks || (name.find('x') != string_view::npos && name.find('c') == string_view::npos);
    } else {
      const string_view base = last_part(name, "/");
      archive = archive || (without_ending(base) != base && base.size() > path.part[path.count - 1].size() && base.substr(0, path.part[path.count - 1].size()) == path.part[path.count - 1]);
    }
  }
  return there && archive && unpacks;
}

// rm -rf docs/7.x && mv ./tmp docs/7.x, rm -rf public/static && cp -r dist public/static: what was built goes to its place.
static bool puts_built(const PathParts& path, const Tree& tree, const Command& copy) noexcept {
  if (!one_of(copy.program, "cp mv rsync") || path.count == 0 || one_of(path.part[path.count - 1], kKeptNames)) return false;
  const Word* const words = tree.arguments(copy);
  std::uint32_t last = copy.word_count, sources = 0;
  for (std::uint32_t w = 0; w < copy.word_count; ++w)
    if (!is_option(words[w].text)) last = w, ++sources;
  if (sources != 2 || words[last].has(word_flag::kUnknown)) return false;
  PathParts place;
  take(words[last].text, copy, &place);
  if (place.too_long || place.base != path.base || path_detail::relate(place, path) != Relation::same) return false;
  for (std::uint32_t w = 0; w < last; ++w) {
    string_view name = words[w].text;
    if (is_option(name)) continue;
    if (ascii::starts_with(name, "./")) name.remove_prefix(2);
    name = name.substr(0, name.find('/'));
    return !words[w].has(word_flag::kUnknown) && one_of(name, "dist build out tmp _site _book _build public target generated output");
  }
  return false;
}

bool MadeBefore::remade_by_next(const Word& word) const noexcept {
  const Command& asked = tree.command(index);
  const Before before(tree, text, index);
  if (!before.is_literal(word) || word.text.find("..") != string_view::npos) return false;
  PathParts path;
  take(word.text, asked, &path);
  if (path.too_long || path.climbs != 0 || path.base != PathBase::root || path.glob) return false;
  string_view folder = word.text;
  if (ascii::starts_with(folder, "./")) folder.remove_prefix(2);
  if (ascii::ends_with(folder, "/")) folder.remove_suffix(1);
  const bool by_settings = one_of(folder, "lib es esm cjs umd types");
  constexpr std::uint32_t kCommands = 32;  // more is not looked at
  for (std::uint32_t i = index + 1; i < tree.command_count() && i < index + kCommands; ++i) {
    const Command& next = tree.command(i);
    if (next.cwd != asked.cwd || ((next.via ^ asked.via) & via::kDefinition) != 0) continue;
    for (const Refilled& refilled : kRefilled)
      if (path.count != 0 && one_of(path.part[path.count - 1], refilled.names) && one_of(next.program, refilled.programs)) return true;
    if (i == index + 1 && next.program == "mkdir" && begins_anew(tree, path, next)) return true;
    if (unpacks_again(path, tree, next) || puts_built(path, tree, next)) return true;
    if (!one_of(next.program, kGenerators)) continue;
    // What compilers of JavaScript write is named by their settings: `rm -rf lib && tsc`.
    if (by_settings && next.dialect == Dialect::shell && one_of(next.program, "tsc babel swc rollup tsup tsdown microbundle")) return true;
    bool writes = false, reads = false;
    commands_before::each_related(tree, next, path, [&](string_view option, Relation relation) noexcept {
      if (one_of(option, kOutputs)) writes = writes || relation == Relation::same;
      else reads = reads || relation == Relation::same || relation == Relation::inside;
    });
    if (writes && !reads) return true;
  }
  return false;
}

bool MadeBefore::works_in_clone() const noexcept {
  const Command& git = tree.command(index);
  const Word* const words = tree.arguments(git);
  Before before(tree, text, index);
  if (!works_in_own_folder() || (git.word_count > 1 && words[0].text == "-C" && !before.is_literal(words[1]))) return false;
  PathParts path;
  take(".", git, &path);
  if (path.too_long || path.base != PathBase::root) return false;
  return before.made([&](Kind kind, const PathParts& made, bool literal, string_view, const Command&) noexcept {
    return literal && kind == Kind::clone && path_detail::relate(path, made) == Relation::same;
  });
}

}  // namespace tipstaff::gate::rules
