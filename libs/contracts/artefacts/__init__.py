"""What a job writes to the object store, one module an artefact."""

from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, Connection
from libs.contracts.artefacts.diagnostics import Diagnostics, Finding
from libs.contracts.artefacts.manifest import Hierarchy, HierarchyNode, Manifest
from libs.contracts.artefacts.nav import DocNav, NavResource, NavSection
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.artefacts.rows import Box, Row, TableCell

__all__ = [
    "Box",
    "Chunk",
    "ChunkMetadata",
    "Connection",
    "Diagnostics",
    "DocNav",
    "Finding",
    "Hierarchy",
    "HierarchyNode",
    "Manifest",
    "NavResource",
    "NavSection",
    "PageRange",
    "Profile",
    "Row",
    "TableCell",
]
