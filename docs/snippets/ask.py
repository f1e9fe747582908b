from libs.client import Client
from libs.contracts.api.search import VerifyRequest

with Client() as groundwire:  # address and key: of the stack on this machine, or GROUNDWIRE_*
    accepted = groundwire.ingest("README.md")
    job = groundwire.wait(accepted.job_id)
    print(job.state)

    answer = groundwire.search("how do I start everything?")
    for piece in answer.evidence:
        print(piece.source_file_name, piece.section_path, piece.page_numbers)
        print(piece.content)

    piece = answer.evidence[0]
    verdict = groundwire.verify(
        VerifyRequest(
            document_id=piece.document_id,
            revision=piece.revision,
            chunk_id=piece.chunk_id,
            content_hash=piece.content_hash,
        )
    )
    print(verdict.status)
