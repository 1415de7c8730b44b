"""Compiles a policy to the image that the native engine reads: one flat, little-endian, position-independent block.

The native side trusts nothing of it. Rules are sorted here so that few are tried on a command: by program, by the first
operand, and by what must be there for a rule to hold (`tipstaff.gates.image.triggers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tipstaff.gates.image.layout import NOTHING, ImageSections, Values, hash_name, hashed
from tipstaff.gates.image.options import OPTION_BITS, OptionNames
from tipstaff.gates.image.triggers import PAIR_SIGNS, Trigger, is_plain, pair_letters, subcommand_words, trigger_of
from tipstaff.gates.packs.model import (
    CONDITIONS,
    DECISIONS,
    SELECTORS,
    SEVERITIES,
    STYLES,
    Condition,
    PackError,
    PackRule,
    Policy,
    Program,
    Selector,
)


def compile_image(
    policy: Policy,
    *,
    config: Sequence[int] = (0b1101, 300, 0, 2, 3, 2, 256, 10_000, 2_000, 512),
    allowlist: Iterable[str] = (),
    secrets: bytes = b"",
) -> bytes:
    """Return the policy as an image.

    Parameters
    ----------
    policy
        What the packs say.
    config
        Switches (bits: destructive 1, allowlist 2, diff size 4, secrets 8, evidence by files 16, asking for what is
        lost 32, allowing what is proven 64), lines of one edit, lines of one run (0: no limit), what is uncertain with
        a person and without one, what an error means (decisions by number), and what is kept of one call at most: MB,
        files, milliseconds, MB that stay free.
    allowlist
        Globs of tool names.
    secrets
        The secret scanner's own table, as it is.
    """
    return _Compiler(policy).compile(config, allowlist, secrets)


_NEVER: Final = Trigger()


class _Compiler:
    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._image = ImageSections()
        self._triggers: dict[tuple[int, str | None], Trigger | None] = {}
        # Equal ones are one object, so that they are told apart by identity.
        self._known: dict[Trigger | None, Trigger | None] = {_NEVER: _NEVER}
        self._words: dict[int, set[str]] = {}
        self._guards: dict[tuple[OptionNames | None, tuple[int, ...]], int] = {}

    def compile(self, config: Sequence[int], allowlist: Iterable[str], secrets: bytes) -> bytes:
        order = sorted(self._policy.rules.values(), key=lambda rule: rule.id)
        numbers = {rule.id: number for number, rule in enumerate(order)}
        for rule in order:
            self._rule(rule)
        self._programs(order, numbers)
        self._shared(order, numbers)
        self._image.extend("allowlist", [(self._image.text(glob),) for glob in allowlist])
        self._image.extend("config", [tuple(config)])
        return self._image.assemble(secrets)

    def _rule(self, rule: PackRule) -> None:
        text = self._image.text
        self._image.extend(
            "rules",
            [
                (
                    text(rule.id),
                    text(rule.pack),
                    text(rule.reason),
                    text(rule.safer),
                    SEVERITIES.index(rule.severity),
                    DECISIONS.index(rule.decision),
                    rule.marks,
                    NOTHING if rule.because is None else text(rule.because),
                    DECISIONS.index(rule.former),
                )
            ],
        )

    def _programs(self, order: Sequence[PackRule], numbers: dict[str, int]) -> None:
        by_program: dict[str, list[PackRule]] = {}
        for rule in order:
            for name in rule.programs:
                if name != "*":
                    by_program.setdefault(name, []).append(rule)
        specs: dict[tuple[object, ...], int] = {}
        slots: list[tuple[str, int]] = []
        for name, rules in sorted(by_program.items()):
            program = self._policy.programs.get(name, Program(name))
            key = (program.signature(), tuple(rule.id for rule in rules))
            if key not in specs:
                specs[key] = self._spec(program, rules, numbers)
            slots.append((name, specs[key]))
        table = hashed([(name, (self._image.text(name), spec)) for name, spec in slots])
        self._image.extend("slots", [(0, NOTHING, 0) if entry is None else (entry[0], *entry[1]) for entry in table])

    def _shared(self, order: Sequence[PackRule], numbers: dict[str, int]) -> None:
        options = OptionNames("operands", "rules for every program")
        for rule in order:
            if "*" in rule.programs:
                conditions = [*rule.base, *(item for group in (*rule.any_of, *rule.unless) for item in group)]
                if any(condition.options for condition in conditions):
                    raise PackError(f"rule {rule.id}: a rule for every program cannot name options")
                self._image.extend("shared", [(self._instance(rule, numbers[rule.id], options),)])

    def _spec(self, program: Program, rules: Sequence[PackRule], numbers: dict[str, int]) -> int:
        options = OptionNames(program.style, f"program {program.name}", program.attached)
        options.add(sorted(program.attached))
        values = self._image.optional_mask(options.add(sorted(program.values | _implied_values(program, rules))))
        before = self._image.optional_mask(options.add(sorted(program.values_before)))
        harmless = self._image.optional_mask(options.add(sorted(program.harmless)))
        instances = [(rule, self._instance(rule, numbers[rule.id], options)) for rule in rules]
        firsts = {rule.id: _first_words(rule) for rule in rules}
        # Rules that name their first word go before the others, and each in its order.
        plain = [(rule, instance) for rule, instance in instances if firsts[rule.id] is None]
        words = sorted({*program.subcommands, *(word for rule in rules for word in self._words_of(rule))})
        buckets: list[Values] = []
        for word in words:
            subcommand = program.subcommands.get(word)
            own = [(rule, instance) for rule, instance in instances if word in (firsts[rule.id] or ())]
            *candidates, guard = self._candidates([*own, *plain], word, options)
            masks = (
                self._image.optional_mask(options.add(sorted(subcommand.values))) if subcommand else NOTHING,
                self._image.optional_mask(options.add(sorted(subcommand.harmless))) if subcommand else NOTHING,
            )
            buckets.append((hash_name(word), self._image.text(word), *candidates, *masks, guard))
        found = *self._image.shared("buckets", buckets), *self._image.index(words)
        *others, guard = self._candidates(plain, None, options)
        flags, extent, bits = options.write(self._image)
        style = STYLES.index(program.style)
        record = (style, *flags, *found, *others, values, before, harmless, *extent, *bits, guard)
        return self._image.extend("specs", [record])[0]

    def _candidates(
        self, instances: Sequence[tuple[PackRule, int]], word: str | None, options: OptionNames
    ) -> tuple[int, int, int]:
        """Put in the rules that may hold where the first operand is `word`, each with what it needs for that.

        Returns
        -------
        tuple
            The first rule's index, how many they are, and the guard before those that need something.
        """
        records: list[Values] = []
        triggers: list[Trigger | None] = []
        for rule, instance in instances:
            trigger = self._trigger(rule, word)
            if trigger is not _NEVER:  # the others cannot hold
                records.append((instance,))
                triggers.append(trigger)
        # Options have their numbers by program; a guard without any is the same for all of them.
        asked = any(trigger is not None and (trigger.present or trigger.valued) for trigger in triggers)
        key = options if asked else None, tuple(map(id, triggers))
        if key not in self._guards:
            self._guards[key] = self._guard(triggers, options)
        return *self._image.shared("candidates", records), self._guards[key]

    def _trigger(self, rule: PackRule, word: str | None) -> Trigger | None:
        """Return `trigger_of` these, worked out once for all programs of a rule and all words that it does not name."""
        words = self._words_of(rule)
        key = id(rule), word if word in words else None
        if key not in self._triggers:
            trigger = trigger_of(rule, key[1])
            self._triggers[key] = self._known.setdefault(trigger, trigger)
        return self._triggers[key]

    def _words_of(self, rule: PackRule) -> set[str]:
        if id(rule) not in self._words:
            self._words[id(rule)] = subcommand_words(rule)
        return self._words[id(rule)]

    def _guard(self, triggers: Sequence[Trigger | None], options: OptionNames) -> int:
        """Return the index of the guard that selects which candidates may match, NOTHING where there are none.

        Parameters
        ----------
        triggers
            What each candidate needs; None where that is nothing simple.
        """
        if not triggers:
            return NOTHING
        always = facts = via = 0
        asked: set[str] = set()
        firsts: set[tuple[int, int]] = set()
        lasts: set[tuple[int, int]] = set()
        signs: dict[tuple[int, int], int] = {}
        needed: dict[int, int] = {}
        for number, trigger in enumerate(triggers):
            bit = 1 << min(number, 31)
            if trigger is None:
                always |= bit
                continue
            facts |= trigger.facts
            via |= trigger.via
            asked |= trigger.present | trigger.valued
            firsts |= trigger.firsts
            lasts |= trigger.lasts
            for sign in trigger.signs:
                signs[sign] = signs.get(sign, 0) | bit
            for need in _needs(trigger, options):
                needed[need] = needed.get(need, 0) | bit
        # Pairs of letters come last.
        order = sorted(signs)
        ends = sum(1 for sign in order if sign[0] < PAIR_SIGNS)
        records: list[Values] = [(one << 16 | other,) for one, other in order]
        records += [(signs[sign],) for sign in order] + [(pair_letters(sign),) for sign in order[ends:]]
        first, _ = self._image.shared("signs", records)
        begun = sum({1 << (one & 63) for one, _ in order[:ends]})
        record = (
            *(always, facts, via),
            *self._image.shared("triggers", sorted(needed.items())),
            *(first, ends, len(order), self._image.letters(firsts), self._image.letters(lasts)),
            *(begun & 0xFFFFFFFF, begun >> 32),
            *(int(bool(options.add(sorted(asked)))), *options.signs(asked, self._image)),
        )
        return self._image.shared("guards", [record])[0]

    def _instance(self, rule: PackRule, number: int, options: OptionNames) -> int:
        groups = [self._conditions(group, options) for group in (rule.base, *rule.any_of, *rule.unless)]
        first, _ = self._image.shared("groups", groups)
        return self._image.shared(
            "instances",
            [
                (
                    number,
                    first,
                    first + 1,
                    len(rule.any_of),
                    first + 1 + len(rule.any_of),
                    len(rule.unless),
                    NOTHING if rule.rows is None else self._image.table(rule.rows),
                    *self._selectors(rule.selectors, options),
                    NOTHING if rule.missing is None else self._image.text(rule.missing),
                )
            ],
        )[0]

    def _conditions(self, group: Sequence[Condition], options: OptionNames) -> tuple[int, int]:
        return self._image.shared("conditions", [self._condition(condition, options) for condition in group])

    def _condition(self, condition: Condition, options: OptionNames) -> tuple[int, int, int, int]:
        kind = CONDITIONS.index(condition.kind)
        image = self._image
        match condition.kind:
            case "subcommand":
                sequences = [image.globs(sequence) for sequence in condition.sequences]
                return kind, *image.shared("sequences", sequences), 0
            case "flags_any" | "flags_none":
                return kind, image.mask(options.add(condition.options)), 0, 0
            case "value":
                return kind, *image.globs(condition.globs), image.mask(options.add(condition.options))
            case "paths":
                return kind, *self._selectors(condition.selectors, options), image.table(condition.rows)
            case "reads_paths" | "writes_paths":
                return kind, image.table(condition.rows), 0, 0
            case "count" | "via_any" | "via_none" | "unknown_args" | "dialects":
                return kind, condition.least, condition.most, 0
            case _:
                return kind, *image.globs(condition.globs), 0

    def _selectors(self, selectors: Sequence[Selector], options: OptionNames) -> tuple[int, int]:
        return self._image.shared(
            "selectors",
            [
                (
                    SELECTORS.index(selector.kind),
                    self._image.mask(options.add(selector.options)) if selector.kind == "option" else 0,
                    self._image.text(selector.key),
                    ord(selector.strip) if selector.strip else 0,
                )
                for selector in selectors
            ],
        )


def _needs(trigger: Trigger, options: OptionNames) -> list[int]:
    """Return what a trigger needs apart from signs, as numbers of bits.

    Those of facts are from 0 on, those of ways to run a command from 32, those of options that are there from 64, and
    those of options whose value must be present, after these.
    """
    bits = trigger.facts | trigger.via << 32
    present, valued = (options.add(sorted(names)) for names in (trigger.present, trigger.valued))
    plain = [number for number in range(bits.bit_length()) if bits >> number & 1]
    return [*plain, *(64 + bit for bit in present), *(64 + OPTION_BITS + bit for bit in valued)]


def _implied_values(program: Program, rules: Iterable[PackRule]) -> set[str]:
    """Return the options that take a value because a rule asks for it, unless the program says where they do."""
    listed = set(program.values_before).union(*(subcommand.values for subcommand in program.subcommands.values()))
    implied: set[str] = set()
    for rule in rules:
        for condition in (*rule.base, *(item for group in (*rule.any_of, *rule.unless) for item in group)):
            if condition.kind == "value":
                implied.update(condition.options)
            implied.update(*(selector.options for selector in condition.selectors))
        implied.update(*(selector.options for selector in rule.selectors))
    return implied - listed


def _first_words(rule: PackRule) -> set[str] | None:
    """Return the first words of a rule's subcommands, or None where one of them is a pattern or there are none."""
    for condition in rule.base:
        if condition.kind == "subcommand":
            firsts = {sequence[0].lower() for sequence in condition.sequences}
            return firsts if all(is_plain(word) for word in firsts) else None
    return None
