"""Why a model cannot be used."""


class ModelUnavailable(RuntimeError):
    """A model, its package or its cache is missing or wrong; the text names the way out.

    Neither a document's fault nor a passing one: somebody has to repair the installation.
    """
