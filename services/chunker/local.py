"""Chunk one document without bus and stores, for the command line."""

from collections.abc import Mapping, Sequence

from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from services.chunker.artefacts import Artefacts, Made, build_artefacts
from services.chunker.cut import Sizes
from services.chunker.text import CountMany


def chunk_rows(
    profile: Profile,
    rows: Sequence[Row],
    *,
    asset_hashes: Mapping[str, str] | None = None,
    engine: str = "native",
    sizes: Sizes | None = None,
    count_many: CountMany | None = None,
) -> Artefacts:
    """What the chunker would store for these rows, as revision 1 of a document `local`.

    Sizes and the token counter are by default those that the settings of the environment
    give. Raises `DocumentFault(NO_CONTENT)` when there is nothing to retrieve.
    """
    if sizes is None or count_many is None:
        from libs.runtime.inference.tokens import TokenCounter
        from services.chunker.settings import Settings

        settings = Settings()
        sizes = sizes or settings.sizes()
        count_many = count_many or TokenCounter(settings.models_dir()).count_many
    made = Made("local", 1, engine, {}, sizes)
    return build_artefacts(profile, rows, made, count_many, asset_hashes or {})
