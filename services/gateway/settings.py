"""The gateway's own settings."""

from pydantic import Field, SecretStr

from libs.runtime.settings import Settings as Shared


class Settings(Shared):
    """Limits of what is taken in, and how patient the reconciler is."""

    max_upload_bytes: int = Field(
        default=512_000_000, ge=1, description="largest file that is taken, in bytes"
    )
    max_waiting: int = Field(
        default=10_000, ge=1, description="waiting jobs of a namespace before it gets a 429"
    )
    jobs_per_namespace: int = Field(
        default=16, ge=1, description="jobs of a namespace that are worked on at a time"
    )
    shard_window: int = Field(
        default=4, ge=1, description="shards of one document that are parsed at the same time"
    )
    ready_shards: float = Field(
        default=0.5,
        gt=0,
        description="shards of a namespace that stand ready for each place where one is parsed",
    )
    intake_workers: int = Field(
        default=4, ge=1, le=16, description="upload events that are taken at a time"
    )
    release_batch: int = Field(
        default=64, ge=1, description="most waiting jobs that are released in one go"
    )
    upload_secret: SecretStr | None = Field(
        default=None, description="signs upload links; made in the data folder when absent"
    )
    upload_link_seconds: int = Field(
        default=900, ge=1, description="how long an upload link may be used"
    )
    upload_keep_seconds: int = Field(
        default=86_400, ge=60, description="how long an upload waits to be named as a document"
    )
    url_hosts: list[str] = Field(
        default=[],
        description="hosts that documents may be fetched from by address; *.name for all below",
    )
    ingest_roots: dict[str, list[str]] = Field(
        default={"*": ["inbox/{namespace}/"]},
        description="by namespace, or * for any: the bucket/prefixes its events may name",
    )
    trace_url: str | None = Field(
        default=None,
        pattern=r"^https?://.*\{trace_id\}",
        description="where people read a trace, with {trace_id} in it",
    )
    quiet_seconds: float = Field(
        default=60.0, gt=0, description="silence after which a job with no message is revived"
    )
    stuck_seconds: float = Field(
        default=900.0, gt=0, description="silence after which a job is revived in any case"
    )
    max_revivals: int = Field(
        default=5, ge=1, description="revivals of a job before it is given up"
    )
    unsourced_seconds: float = Field(
        default=600.0, gt=0, description="age at which a job whose source never came is dropped"
    )
