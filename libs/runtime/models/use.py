"""What language models are used for; each use has an endpoint of its own."""

from enum import StrEnum


class ModelUse(StrEnum):
    """A use is off until its endpoint is configured; nothing depends on one."""

    SUMMARY = "summary"
    HIERARCHY = "hierarchy"
    IMAGE = "image"
    OCR = "ocr"
    CLASSIFY = "classify"
    ANALYZE = "analyze"
    PLAN = "plan"
    REWRITE = "rewrite"
    DESCRIBE = "describe"
    CONTEXT = "context"
    HYDE = "hyde"
    EMBED = "embed"
    RERANK = "rerank"


PURPOSES = {
    ModelUse.SUMMARY: "section summaries",
    ModelUse.HIERARCHY: "levels of headings that rules leave open",
    ModelUse.IMAGE: "descriptions of pictures",
    ModelUse.OCR: "text of scanned pages, in place of the local engine",
    ModelUse.CLASSIFY: "the kind of a document",
    ModelUse.ANALYZE: "query analysis, in place of rules",
    ModelUse.PLAN: "plans of agentic queries, in place of rules",
    ModelUse.REWRITE: "second attempts at questions and entries that found nothing good",
    ModelUse.DESCRIBE: "descriptions of entries",
    ModelUse.CONTEXT: "a sentence of context for each entry",
    ModelUse.HYDE: "hypothetical answers whose vectors are searched by",
    ModelUse.EMBED: "vectors, when the embedder is `openai`",
    ModelUse.RERANK: "a second ranking of what was found",
}
