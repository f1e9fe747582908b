"""What a query says to the lexical channels."""

from functools import lru_cache

from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import query_terms, tokenize


@lru_cache(maxsize=64)
def words_of(text: str) -> LexicalQuery:
    """Its tokens and its substring terms; shared by all that ask for the same, not to be
    changed."""
    return LexicalQuery(tokenize(text), query_terms(text))
