"""Which language a text is written in, as far as its script and its commonest words tell."""

from __future__ import annotations

import re

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S*[/\\_<>{}=]\S*|\b\w+\.\w+\b", re.DOTALL)
_SCRIPTS = {
    "Korean": re.compile("[\uac00-\ud7af]"),
    "Japanese": re.compile("[\u3040-\u30ff]"),
    "Chinese": re.compile("[\u4e00-\u9fff]"),
    "Russian or another Cyrillic language": re.compile("[\u0400-\u04ff]"),
    "Greek": re.compile("[\u0370-\u03ff]"),
    "Hebrew": re.compile("[\u0590-\u05ff]"),
    "Arabic or another language in its script": re.compile("[\u0600-\u06ff]"),
    "Hindi or another language in Devanagari": re.compile("[\u0900-\u097f]"),
    "Thai": re.compile("[\u0e00-\u0e7f]"),
}
_WORDS = {
    "English": "the and of to is was that for with this not are it be has on from by have were which then but should",
    "German": "der die das und nicht ist mit ein eine den dem des auf für wird wurde auch sich noch werden sind aber nach",
    "French": "le la les des et est une pour pas dans que qui avec sur du ce sont aux mais cette été être nous il",
    "Spanish": "el los las que del una por con para es se no está como pero más fue son sus esta hay lo ya",
    "Portuguese": "o os as que do da uma por com para não em foi são mas mais está isso dos das ao seu ou",
    "Italian": "il lo gli che di una per con non è del della sono nel più anche come ma dei questo stato alla",
    "Dutch": "de het een van en niet is dat op te met voor zijn wordt ook aan maar door nog bij werd deze",
}  # fmt: skip
"""Words of prose, of which a draft has many; those in `words/` tell the language of one sentence, orders among them."""

_FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_LATIN = re.compile(r"[^\W\d_]{1,20}")
_SAMPLE = 8_000
_LEAST = 6
"""Function words, or letters of a script, that must be there before a language is named."""


def language_of(text: str) -> str:
    """The English name of the language of a text's prose, or an empty text where that cannot be told."""
    prose = _CODE.sub(" ", text[:_SAMPLE])
    words = [w.lower() for w in _LATIN.findall(prose) if w.isascii() or w[0] < "\u0250"]
    for language, letters in _SCRIPTS.items():
        found = len(letters.findall(prose))
        if language == "Japanese" and found:
            found += len(_SCRIPTS["Chinese"].findall(prose))
        if found >= _LEAST and found / 2 >= 0.35 * (len(words) + found / 2):
            return language
    scores = sorted(((sum(w in known for w in words), name) for name, known in _FUNCTION_WORDS.items()), reverse=True)
    (best, name), (second, _) = scores[0], scores[1]
    return name if best >= _LEAST and best >= 1.5 * second and best > 0.08 * len(words) else ""
