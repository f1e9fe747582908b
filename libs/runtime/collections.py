"""What the entries of a collection share, kept beside the corpus of its namespace."""

from libs.contracts.entries import CollectionSettings
from libs.runtime.artefacts import save_json
from libs.runtime.keys import corpus_key
from libs.runtime.objects.port import ObjectStore


def settings_key(namespace: str, collection: str) -> str:
    """Where the settings of a collection lie."""
    return corpus_key(namespace, f"collections/{collection}.json")


async def load_settings(
    objects: ObjectStore, namespace: str, collection: str
) -> CollectionSettings:
    """The settings that were stored, else the defaults."""
    try:
        data = await objects.get(settings_key(namespace, collection))
    except KeyError:
        return CollectionSettings()
    return CollectionSettings.model_validate_json(data, extra="ignore")


async def save_settings(
    objects: ObjectStore, namespace: str, collection: str, settings: CollectionSettings
) -> None:
    """Store the settings; searches that begin later follow them."""
    await save_json(objects, settings_key(namespace, collection), settings)
