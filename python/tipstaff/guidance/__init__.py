"""Rule files in, the right rules out.

::

    sources -> markdown -> extraction -> annotations -> compiler -> (bundle) -> project -> store
                                                          |                         |
                                               conflicts, constitution          retriever

``sources`` finds the files of every host and the scope that each gives its rules; ``markdown`` reads them into blocks
with byte ranges; ``extraction`` decides which words are a rule; ``annotations`` reads what a rule says about itself;
``compiler`` puts the rules together; ``conflicts`` knows which say the same or the opposite; ``constitution`` packs
what is always loaded; ``project`` keeps all that on disk and skips what did not change; ``retriever`` answers which
rules matter for a task; ``lint`` tells authors what is wrong with their files.
"""
