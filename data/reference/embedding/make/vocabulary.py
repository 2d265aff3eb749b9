"""The vocabulary: the base model's word pieces, and how they cut a text."""

import re
import unicodedata

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

SPECIAL = re.compile(r"\[(unused\d+|PAD|UNK|CLS|SEP|MASK)\]$")
# Written without spaces between words: there these characters are words of their own and never continue one.
SEPARATE = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH")


def base_pieces(tokenizer):
    """[(piece, base model's id)], without what no text can give"""
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda x: x[1])
    return [(p, i) for p, i in pieces if not SPECIAL.match(p) and not useless(p)]


def useless(piece):
    if not piece.startswith("##"):
        return False
    name = unicodedata.name(piece[2], "")
    return name.startswith(SEPARATE) or unicodedata.category(piece[2])[0] in "PS"


class Pieces:
    """Cuts text into rows of the table; a word that cannot be cut gives none."""

    def __init__(self, vocabulary):
        index = {p: i for i, p in enumerate(vocabulary)}
        self.unknown = index["[UNK]"] = len(vocabulary)
        self.cut = Tokenizer(models.WordPiece(index, unk_token="[UNK]", max_input_chars_per_word=100))
        self.cut.normalizer = normalizers.BertNormalizer()
        self.cut.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def ids(self, texts, longest):
        texts = ["".join(f" {c} " if unicodedata.category(c)[0] == "S" else c for c in t) for t in texts]
        rows = self.cut.encode_batch(texts, add_special_tokens=False)
        return [[i for i in r.ids if i != self.unknown][:longest] for r in rows]
