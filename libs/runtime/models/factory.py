"""The model that a service's settings name for a use."""

from libs.runtime.models.port import Model
from libs.runtime.models.settings import PREFIX, Endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.settings import Settings


def endpoint_of(use: ModelUse, settings: Settings) -> Endpoint | None:
    """The endpoint of a use; None while it is not configured, or not one of this service's."""
    found = getattr(settings, PREFIX + use.value, None)
    return found if isinstance(found, Endpoint) and found.configured else None


def open_model(use: ModelUse, settings: Settings) -> Model | None:
    """The model for `use`, or None where it has none. Nothing is imported or connected yet."""
    endpoint = endpoint_of(use, settings)
    if endpoint is None:
        return None
    from libs.runtime.models.client import EndpointModel
    from libs.runtime.models.tokens import TokenEstimate

    return EndpointModel(use, endpoint, TokenEstimate(settings.data_dir.absolute() / "models"))
