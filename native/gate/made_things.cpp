// What the same text made by name, other than files: containers, volumes, branches, clusters, buckets.
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {
namespace {

using ascii::one_of;
using std::string_view;

// Where a command that makes something names it.
enum class Named : std::uint8_t {
  next,       // the word after the verb
  any,        // some word after the verb
  by_option,  // the value of --name
  before,     // what is before the verb: docker compose -p x up
  printed,    // what it prints is kept in a variable: CID=$(docker create IMAGE)
};

// Verbs are the first words of a command; alternatives are joined by |.
struct Pair {
  string_view programs, removes, makers, makes;
  Named named;
  bool again = false;  // made again afterwards is as good: pm2 delete x; pm2 start --name x
};
constexpr string_view kContainerPrograms = "docker podman nerdctl finch";
constexpr Pair kPairs[] = {
    {kContainerPrograms, "rm|container rm|container remove", kContainerPrograms, "run|create|container run|container create", Named::by_option},
    {kContainerPrograms, "rm|container rm|container remove|stop|kill|container stop|container kill", kContainerPrograms, "run|create|container run|container create", Named::printed},
    {kContainerPrograms, "stop|kill|container stop|container kill", kContainerPrograms, "run|create|container run|container create", Named::by_option},
    {kContainerPrograms, "rmi|image rm", kContainerPrograms, "build|image build|buildx build|commit", Named::printed},
    {"kubectl oc", "delete deployment|delete deploy", "kubectl oc", "create deployment|create deploy", Named::next},
    {"kubectl oc", "delete pod|delete po", "kubectl oc", "run", Named::next},
    {"kubectl oc", "delete job", "kubectl oc", "create job", Named::next},
    {"kubectl oc", "delete configmap|delete cm", "kubectl oc", "create configmap|create cm", Named::next},
    {"apt-get apt apk dnf yum", "remove|purge|del|erase", "apt-get apt apk dnf yum", "install|add", Named::any, true},
    {"pm2", "delete|stop|del", "pm2", "start", Named::by_option, true},
    {"pm2", "delete|stop|del", "pm2", "start", Named::any, true},
    {"brew", "services stop", "brew", "services start|services run", Named::any, true},
    {"supervisorctl", "stop", "supervisorctl", "start", Named::any, true},
    {"systemctl", "stop", "systemctl", "start", Named::any},
    {kContainerPrograms, "volume rm|volume remove", kContainerPrograms, "volume create", Named::any},
    {kContainerPrograms, "network rm|network remove", kContainerPrograms, "network create", Named::any},
    {kContainerPrograms, "secret rm", kContainerPrograms, "secret create", Named::any},
    {kContainerPrograms, "context rm", kContainerPrograms, "context create", Named::next},
    {kContainerPrograms, "pod rm|buildx rm", kContainerPrograms, "pod create|buildx create", Named::by_option},
    {"docker docker-compose podman podman-compose nerdctl", "down|rm", "docker docker-compose podman podman-compose nerdctl", "up|run|create", Named::before},
    {"vagrant", "destroy", "vagrant", "up", Named::before, true},
    {"git", "branch", "git", "checkout -b|checkout -q -b|switch -c|switch --create|branch", Named::next},
    {"git", "worktree remove", "git", "worktree add", Named::any},
    {"git", "tag", "git", "tag|tag -a|tag -s", Named::next},
    {"kubectl oc", "delete namespace|delete ns", "kubectl oc", "create namespace|create ns", Named::next},
    {"aws", "s3 rb", "aws", "s3 mb", Named::any},
    {"gsutil", "rb|rm", "gsutil", "mb", Named::any},
    {"multipass", "delete", "multipass", "launch", Named::by_option},
    {"lxc incus", "delete", "lxc incus", "launch|init", Named::any},
    {"limactl", "delete|remove|rm", "limactl", "create|start", Named::any},
    {"dropdb", "", "createdb", "", Named::any},
    {"chmod", "000|0|0000|a-rwx|ugo-rwx|-rwx", "chmod", "755|0755|700|0700|750|775|644|0644|600|664|u+rwx|a+rX|u+rwX|u+rw|+r|+rw|+rwx|u+r|a+r", Named::next, true},
};

// What may bring commits to a branch since it was made.
constexpr string_view kCommits = "commit cherry-pick am merge pull rebase revert";

class MadeThings {
 public:
  MadeThings(const Tree& tree, string_view text, std::uint32_t index) noexcept : tree_(tree), text_(text), index_(index), asked_(tree.command(index)) {}

  bool all() const noexcept {
    if (asked_.dialect != Dialect::shell || (asked_.via & via::kArgumentsAdded) != 0) return false;
    for (const Pair& pair : kPairs)
      if (one_of(asked_.program, pair.programs) && all_of(pair)) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t kCommandsBack = 256;
  static constexpr std::size_t kLongestText = 1 << 15;  // each name is looked for in all of it

  bool all_of(const Pair& pair) const noexcept {
    if (pair.named == Named::before) return made(pair, nullptr);
    std::uint32_t at = after_verb(asked_, pair.removes);
    bool some = false;
    for (; at < asked_.word_count; ++at) {
      const Word& word = tree_.arguments(asked_)[at];
      if (is_option(word)) continue;
      if (word.has(word_flag::kGlob) || written(word).empty() || !made(pair, &word)) return false;
      some = true;
    }
    return some;
  }
  bool made(const Pair& pair, const Word* name) const noexcept {
    // What runs at the end of a script comes before what it takes away: trap 'docker rm -f x' EXIT.
    const bool later = pair.again || (asked_.via & via::kScheduled) != 0;
    const std::uint32_t end = later ? tree_.command_count() : index_;
    for (std::uint32_t i = end, steps = 0; i-- > 0 && steps < kCommandsBack; ++steps) {
      const Command& maker = tree_.command(i);
      if (i == index_ || (i < index_ && pair.programs == "chmod")) continue;  // a mode is put back afterwards
      if (pair.programs == "git" && name != nullptr && maker.program == "git" && maker.word_count != 0 && pair.removes == "branch" &&
          one_of(tree_.arguments(maker)[0].text, kCommits))
        return false;
      constexpr std::uint32_t kElsewhere = via::kRemote | via::kContainer;
      if (!one_of(maker.program, pair.makers) || (maker.via & via::kDefinition) != 0 || (maker.via & kElsewhere) != (asked_.via & kElsewhere)) continue;
      if ((name == nullptr ? same_before(maker, pair) : names(maker, pair, *name)) && must_have_succeeded(maker, i)) return true;
    }
    return false;
  }
  // Making what is there fails, and then it was not made here: docker run --name db pg || true; docker rm -f db. A branch is
  // only asked about where the text does not go on without it: git branch x; git branch -D x.
  bool must_have_succeeded(const Command& maker, std::uint32_t index) const noexcept {
    if (index > index_ || maker.span.end > text_.size() || maker.span.end > asked_.span.start) return true;
    std::size_t at = maker.span.end;
    while (at < text_.size() && (ascii::is_blank(text_[at]) || ascii::is_digit(text_[at]) || text_[at] == '>' || text_[at] == '&' || text_[at] == '"')) {
      if (text_[at] == '&' && (at == 0 || text_[at - 1] != '>')) break;
      ++at;
    }
    const string_view next = text_.substr(at, 2);
    if (next == "||") return false;
    return !(maker.program == "git" && is_one(tree_.arguments(maker)[0].text, "branch") && !next.empty() && next[0] == ';');
  }
  bool names(const Command& maker, const Pair& pair, const Word& name) const noexcept {
    std::uint32_t at = after_verb(maker, pair.makes);
    const Word* const words = tree_.arguments(maker);
    if (pair.named == Named::printed) return at < maker.word_count && keeps_printed(maker, name);
    if (pair.named == Named::next) return at < maker.word_count && same(words[at], name);
    for (; at < maker.word_count; ++at) {
      if (pair.named == Named::any ? same(words[at], name) : is_value(words, maker.word_count, at, name)) return true;
    }
    return false;
  }
  // $CID, where the text says CID=$(docker create ...) and gives it no other value before it is used.
  bool keeps_printed(const Command& maker, const Word& name) const noexcept {
    string_view variable = written(name);
    if (text_.size() > kLongestText || variable.size() < 2 || variable[0] != '$' || (maker.via & via::kSubstitution) == 0) return false;
    variable.remove_prefix(1);
    if (variable[0] == '{' && variable.back() == '}') variable = variable.substr(1, variable.size() - 2);
    for (const char c : variable)
      if (!ascii::is_name(c)) return false;
    if (maker.span.start > text_.size() || name.span.start > text_.size() || maker.span.start > name.span.start) return false;
    string_view before = text_.substr(0, maker.span.start);
    for (const string_view opening : {string_view("$("), string_view("`"), string_view("\""), string_view("=")}) {
      if (ascii::ends_with(before, opening)) before.remove_suffix(opening.size());
      else if (opening == "=") return false;
    }
    if (before.size() < variable.size() || before.substr(before.size() - variable.size()) != variable || (before.size() > variable.size() && ascii::is_name(before[before.size() - variable.size() - 1]))) return false;
    // No other value, nor code that may give it one, in between.
    const string_view since = text_.substr(maker.span.start, name.span.start - maker.span.start);
    for (std::size_t at = since.find(variable); at != string_view::npos; at = since.find(variable, at + 1)) {
      const std::size_t end = at + variable.size();
      const bool whole = at == 0 || !ascii::is_name(since[at - 1]);
      if (whole && (at == 0 || (since[at - 1] != '$' && since[at - 1] != '{'))) return false;
      if (whole && since[at - 1] == '{' && end < since.size() && since[end] != '}') return false;
    }
    return true;
  }
  bool is_value(const Word* words, std::uint32_t count, std::uint32_t at, const Word& name) const noexcept {
    if (one_of(words[at].text, "--name -n")) return at + 1 < count && same(words[at + 1], name);
    constexpr string_view option = "--name=";
    if (words[at].text.substr(0, option.size()) != option) return false;
    const string_view value = written(words[at]);
    return value.size() > option.size() && value.substr(option.size()) == written(name);
  }
  // The same project: all words before the verb are the same.
  bool same_before(const Command& maker, const Pair& pair) const noexcept {
    if (maker.program != asked_.program || maker.cwd != asked_.cwd) return false;
    if (!one_of(asked_.program, "docker-compose podman-compose vagrant") && (asked_.word_count == 0 || tree_.arguments(asked_)[0].text != "compose")) return false;
    for (std::uint32_t i = 0; i < maker.word_count && i < asked_.word_count; ++i) {
      const Word& left = tree_.arguments(maker)[i];
      const Word& right = tree_.arguments(asked_)[i];
      if (is_one(left.text, pair.makes) && is_one(right.text, pair.removes)) return true;
      if (!same(left, right)) return false;
    }
    return false;
  }
  // Where a name is only known when it runs, it is the same where it is written the same.
  bool same(const Word& left, const Word& right) const noexcept {
    return left.has(word_flag::kUnknown) == right.has(word_flag::kUnknown) && !left.text.empty() &&
           (left.has(word_flag::kUnknown) ? !written(left).empty() && written(left) == written(right) : left.text == right.text);
  }
  string_view written(const Word& word) const noexcept {
    if (!word.has(word_flag::kUnknown)) return word.text;
    if (word.span.start > word.span.end || word.span.end > text_.size()) return {};
    string_view source = text_.substr(word.span.start, word.span.end - word.span.start);
    if (source.size() > 2 && source[0] == '"' && source.back() == '"') source = source.substr(1, source.size() - 2);
    // Code may name something else each time, and so does what is read from elsewhere.
    if (source.find("$(") != string_view::npos || source.find('`') != string_view::npos || source.find('$') == string_view::npos) return {};
    return source;
  }
  static bool is_option(const Word& word) noexcept { return word.text.size() > 1 && word.text[0] == '-'; }
  static bool is_one(string_view text, string_view verbs) noexcept {
    while (!verbs.empty()) {
      const std::size_t end = verbs.find('|');
      if (text == verbs.substr(0, end)) return true;
      verbs = end == string_view::npos ? string_view() : verbs.substr(end + 1);
    }
    return false;
  }
  // The first word after the longest of the verbs that a command begins with; the count of words if there is none.
  std::uint32_t after_verb(const Command& command, string_view verbs) const noexcept {
    std::uint32_t best = verbs.empty() ? 0 : command.word_count;
    std::uint32_t longest = 0;
    while (!verbs.empty()) {
      const std::size_t end = verbs.find('|');
      string_view verb = verbs.substr(0, end);
      std::uint32_t at = command.word_count != 0 && one_of(tree_.arguments(command)[0].text, "--user -y -q -qq -qqy -yq --yes") ? 1 : 0;
      bool fits = true;
      while (fits && !verb.empty()) {
        const std::size_t space = verb.find(' ');
        fits = at < command.word_count && tree_.arguments(command)[at].text == verb.substr(0, space);
        verb = space == string_view::npos ? string_view() : verb.substr(space + 1);
        ++at;
      }
      if (fits && at > longest) best = longest = at;
      verbs = end == string_view::npos ? string_view() : verbs.substr(end + 1);
    }
    return best;
  }

  const Tree& tree_;
  const string_view text_;
  const std::uint32_t index_;
  const Command& asked_;
};

}  // namespace

bool MadeBefore::made_by_name() const noexcept { return MadeThings(tree, text, index).all(); }

}  // namespace tipstaff::gate::rules
