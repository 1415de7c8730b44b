"""Candidates: what sessions seem to have learned, on probation until evidence supports it.

::

    observation --similarity (words, Jaccard)--> the candidate that it is evidence for, or a new one
    candidates --gates--> SHADOW -> PROMOTED -> IN_USE -> ARCHIVED, DEMOTED -> SHADOW
    every change --store (signed rows)--> the database
    PROMOTED and IN_USE --injection (relevance, token budget, neutralised)--> a section of the prompt
"""
