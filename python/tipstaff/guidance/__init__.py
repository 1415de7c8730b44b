"""Rule files in, the right rules out.

::

    sources -> markdown -> extraction -> annotations -> compiler -> (bundle) -> project -> store
                                                          |                         |
                                         conflicts, precedence, constitution    retriever

``sources`` finds the files of every host and the scope that each gives its rules; ``markdown`` reads them into blocks
with byte ranges; ``extraction`` decides which words are a rule; ``annotations`` reads what a rule says about itself;
``compiler`` puts the rules together; ``claims`` says what a rule demands, ``conflicts`` which rules say the same or the
opposite, ``precedence`` which of two holds; ``constitution`` packs what is always loaded; ``project`` keeps all that on
disk and skips what did not change; ``embeddings`` and ``static_embedding`` turn texts into vectors; ``retriever``
answers which rules matter for a task; ``lint`` tells authors what is wrong with their files.
"""
