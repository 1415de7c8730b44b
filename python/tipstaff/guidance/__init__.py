"""Rule files in, the right rules out.

::

    reading -> extraction -> compiling -> (bundle) -> project -> store
                    wording, intents, embeddings         |
                                            retrieval, hook, lint

`reading` finds the files of every host and reads them into blocks with byte ranges; `extraction` decides which words
are a rule, and what a rule says about itself; `compiling` puts the rules together; `project` keeps all that on disk and
skips what did not change; `retrieval` answers which rules matter for a task, and `hook` writes what
the native hook needs for the same answer; `lint` reports what is wrong with the files, in the codes of
`diagnostics`, with the judgements of `quality` and `scope_findings`. `wording`, `intents` and `embeddings` know words,
tasks and vectors.
"""
