"""Which code points belong to the scripts that have weights of their own."""

from __future__ import annotations

from typing import Final

SCRIPT_RANGES: Final[dict[str, tuple[tuple[int, int], ...]]] = {
    "latin_extended": (
        (0x0102, 0x0103),
        (0x0110, 0x0111),
        (0x01A0, 0x01A1),
        (0x01AF, 0x01B0),
        (0x1E00, 0x1EFF),
    ),
    "greek": (
        (0x0370, 0x03FF),
        (0x1F00, 0x1FFF),
    ),
    "armenian": ((0x0530, 0x058F),),
    "hebrew": ((0x0590, 0x05FF),),
    "arabic": (
        (0x0600, 0x06FF),
        (0x0750, 0x077F),
        (0x08A0, 0x08FF),
    ),
    "syriac_thaana": (
        (0x0700, 0x074F),
        (0x0780, 0x07FF),
    ),
    "devanagari": ((0x0900, 0x097F),),
    "bengali": ((0x0980, 0x09FF),),
    "gurmukhi": ((0x0A00, 0x0A7F),),
    "gujarati": ((0x0A80, 0x0AFF),),
    "odia": ((0x0B00, 0x0B7F),),
    "tamil": ((0x0B80, 0x0BFF),),
    "telugu": ((0x0C00, 0x0C7F),),
    "kannada": ((0x0C80, 0x0CFF),),
    "malayalam": ((0x0D00, 0x0D7F),),
    "sinhala": ((0x0D80, 0x0DFF),),
    "thai": ((0x0E00, 0x0E7F),),
    "lao": ((0x0E80, 0x0EFF),),
    "tibetan": ((0x0F00, 0x0FFF),),
    "burmese": ((0x1000, 0x109F),),
    "georgian": (
        (0x10A0, 0x10FF),
        (0x1C90, 0x1CBF),
    ),
    "ethiopic": ((0x1200, 0x139F),),
    "khmer": ((0x1780, 0x17FF),),
    "rare_han": ((0x3005, 0x3007), (0x3021, 0x3035), (0x3100, 0x4DBF)),
}
"""Code points of each script, ends included."""
