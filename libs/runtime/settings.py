"""Settings that every service shares: environment variables `GROUNDWIRE_*`, and `.env`."""

from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from libs.contracts.tokens import Namespace
from libs.runtime.models.settings import Endpoint, endpoint
from libs.runtime.models.use import ModelUse
from libs.runtime.objects.s3_place import S3Keys


class Settings(BaseSettings):
    """The embedded defaults of one laptop; a platform team overrides the URLs.

    Services subclass this in their `settings.py` for what is theirs alone.
    """

    model_config = SettingsConfigDict(
        env_prefix="GROUNDWIRE_",
        env_file=".env",
        env_nested_delimiter="_",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    http_host: str = Field(default="127.0.0.1", description="address the gateway listens on")
    http_port: int = Field(default=8080, ge=0, le=65535, description="port of the gateway")
    probe_host: str = Field(
        default="127.0.0.1", description="address a service's own probes listen on"
    )
    probe_port: int = Field(
        default=0, ge=0, le=65535, description="port of a service's own probes, 0 picks a free one"
    )
    data_dir: Path = Field(
        default=Path(".groundwire"), description="folder of everything that is kept locally"
    )
    api_key: str | None = Field(default=None, description="the local key; made when absent")
    namespace: Namespace = Field(default="default", description="the local key's namespace")
    prefix: str = Field(
        default="groundwire",
        pattern=r"^[a-z0-9][a-z0-9-]{0,31}$",
        description="first token of every subject, and prefix of streams and buckets",
    )
    nats_url: str | None = Field(
        default=None,
        description="a given NATS server or, with commas between, cluster, not an own one",
    )
    bus_replicas: int = Field(
        default=1, ge=1, le=5, description="copies of every stream in the NATS cluster; odd"
    )
    objects_url: str | None = Field(
        default=None, description="file:<path>, or s3://<bucket>?endpoint=https://<host>"
    )
    inbox_url: str | None = Field(
        default=None, description="file: or s3: of what upstream systems drop; bucket `inbox`"
    )
    objects_access_key: str | None = Field(
        default=None, description="access key for s3:; without it those of the machine's role"
    )
    objects_secret_key: SecretStr | None = Field(default=None, description="its secret")
    catalog_url: str | None = Field(
        default=None, description="sqlite:<path>, or postgresql://<user>@<host>/<database>"
    )
    catalog_password: SecretStr | None = Field(
        default=None, description="the Postgres user's password, in place of one in the URL"
    )
    index_url: str | None = Field(
        default=None, description="file:<path>, or opensearch://<user>@<host>:<port>/<prefix>"
    )
    index_password: SecretStr | None = Field(
        default=None, description="the OpenSearch user's password"
    )
    graph_url: str | None = Field(
        default=None, description="catalog:, or neo4j://<user>@<host>:<port>/<database>"
    )
    graph_password: SecretStr | None = Field(default=None, description="the Neo4j user's password")
    embedder: str = Field(
        default="e5",
        description="e5, use, sentence-transformers, openai, or none for lexical search alone",
    )
    embedder_before: str = Field(
        default="",
        description="the embedder that answers while the vectors of another are made",
    )
    embedder_folder: Path | None = Field(
        default=None, description="model folder of the embedder sentence-transformers"
    )
    embedder_dimension: int = Field(
        default=0, ge=0, le=16_384, description="length of the vectors of the embedder openai"
    )
    model_embed: Endpoint = endpoint(ModelUse.EMBED)
    model_rerank: Endpoint = endpoint(ModelUse.RERANK)
    reranker_folder: Path | None = Field(
        default=None,
        description="folder of a local cross-encoder, which ranks where no endpoint does",
    )
    log_level: str = Field(default="INFO", description="DEBUG, INFO, WARNING or ERROR")
    shutdown_seconds: float = Field(
        default=2.0, gt=0, description="how long a service may finish what it has begun"
    )
    ack_wait_seconds: float = Field(
        default=15.0,
        gt=0.3,
        description="after so long without a heartbeat work is given to another",
    )
    world_retries: int = Field(
        default=8, ge=0, description="retries while something outside is away, delay doubling"
    )
    bug_retries: int = Field(default=2, ge=0, description="retries of a fault of our own")
    dead_letter_days: float = Field(
        default=0.0,
        ge=0,
        description="days after which dead letters go by themselves; 0 keeps them all",
    )
    outcome_days: float = Field(
        default=7.0, gt=0, description="days for which public outcomes can be heard again"
    )
    retry_seconds: float = Field(default=2.0, gt=0, description="first retry delay")
    max_retry_seconds: float = Field(default=300.0, gt=0, description="longest retry delay")

    @model_validator(mode="after")
    def _keys_come_in_pairs(self) -> Self:
        if (self.objects_access_key is None) != (self.objects_secret_key is None):
            raise ValueError("objects_access_key and objects_secret_key are set both or neither")
        return self

    def objects_keys(self) -> S3Keys | None:
        """The keys for an `s3:` URL, where they are given."""
        if self.objects_access_key is None or self.objects_secret_key is None:
            return None
        return S3Keys(self.objects_access_key, self.objects_secret_key.get_secret_value())

    def resolved_objects_url(self) -> str:
        """The objects URL, by default `file:<data_dir>/objects`."""
        return self.objects_url or f"file:{self.data_dir.absolute() / 'objects'}"

    def resolved_inbox_url(self) -> str:
        """The inbox URL, by default `file:<data_dir>/inbox`."""
        return self.inbox_url or f"file:{self.data_dir.absolute() / 'inbox'}"

    def resolved_catalog_url(self) -> str:
        """The catalog URL, by default `sqlite:<data_dir>/catalog.db`."""
        return self.catalog_url or f"sqlite:{self.data_dir.absolute() / 'catalog.db'}"

    def catalog_secret(self) -> str | None:
        """The catalog's password, where it is given apart from the URL."""
        return None if self.catalog_password is None else self.catalog_password.get_secret_value()

    def resolved_index_url(self) -> str:
        """The index URL, by default `file:<data_dir>/index`."""
        return self.index_url or f"file:{self.data_dir.absolute() / 'index'}"

    def index_secret(self) -> str | None:
        """The search index's password, where one is given."""
        return None if self.index_password is None else self.index_password.get_secret_value()

    def graph_secret(self) -> str | None:
        """The graph's password, where one is given."""
        return None if self.graph_password is None else self.graph_password.get_secret_value()

    def resolved_graph_url(self) -> str:
        """The graph URL, by default the catalog's own tables."""
        return self.graph_url or "catalog:"
