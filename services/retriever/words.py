"""What a query says to the lexical channels."""

from libs.runtime.index.port import LexicalQuery
from libs.runtime.index.tokenizer import query_terms, tokenize


def words_of(text: str) -> LexicalQuery:
    """Its tokens and its substring terms."""
    return LexicalQuery(tokenize(text), query_terms(text))
