"""A writer that is meant to be killed: ``python killed_writer.py STORE NAME``.

Writes the content of each observation to standard output once the store has acknowledged it. Observations of one in
four calls come in batches; now and then it evaluates.
"""

from __future__ import annotations

import random
import sys

from tipstaff.context.candidates.store import CandidateStore


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(path: str, name: str) -> None:
    chooser = random.Random(name)
    store = CandidateStore(path, sync=False)
    tell("ready")
    number = 0
    while True:
        batch = [f"{name}a{number + i} {name}b{number + i}" for i in range(chooser.choice([1, 1, 1, 5]))]
        number += len(batch)
        store.upsert_many([{"content": content, "score": 0.9, "success_delta": 1} for content in batch])
        tell("\n".join(batch))
        if chooser.random() < 0.05:
            store.evaluate_all()


if __name__ == "__main__":
    main(*sys.argv[1:])
