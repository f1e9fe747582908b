"""Cypher of the graph store. Values are parameters; no text is ever put into a statement.

`(:Revision {key, namespace, revn, document_id, keywords})` is a node of the port, its key
unique. `(:Revision)-[:HAS]->(:Keyword {key})` finds candidates; the key is a hash of namespace
and word, so keywords of any length are found and nothing joins two namespaces.
`(:Revision)-[:SHARES {score, shared}]-(:Revision)` is an edge, once, from the smaller revn.
"""

CONSTRAINTS = (
    "CREATE CONSTRAINT groundwire_revision IF NOT EXISTS FOR (r:Revision) REQUIRE r.key IS UNIQUE",
    "CREATE CONSTRAINT groundwire_keyword IF NOT EXISTS FOR (k:Keyword) REQUIRE k.key IS UNIQUE",
    "CREATE INDEX groundwire_place IF NOT EXISTS FOR (r:Revision) ON (r.namespace, r.revn)",
)

# Nodes are locked first: whoever writes the same one waits here.
PUT_NODES = """
UNWIND $nodes AS node
MERGE (r:Revision {key: node.key})
SET r += node
WITH r
OPTIONAL MATCH (r)-[old:SHARES|HAS]-()
DELETE old
"""

# A keyword is locked before it is joined, so that it cannot be swept away meanwhile.
PUT_KEYWORDS = """
UNWIND $words AS one
MATCH (r:Revision {key: one.key})
MERGE (k:Keyword {key: one.word})
SET k.used = true
CREATE (r)-[:HAS]->(k)
"""

PUT_EDGES = """
UNWIND $edges AS edge
MATCH (a:Revision {key: edge.a}), (b:Revision {key: edge.b})
MERGE (a)-[e:SHARES]->(b)
SET e.score = edge.score, e.shared = edge.shared
"""

KEYWORDS_OF = """
UNWIND $keys AS key
MATCH (:Revision {key: key})-[:HAS]->(k:Keyword)
RETURN DISTINCT k.key AS word ORDER BY word
"""

SWEEP_KEYWORDS = """
UNWIND $words AS word
MATCH (k:Keyword {key: word})
SET k.used = true
WITH k WHERE NOT EXISTS { (k)<-[:HAS]-() }
DELETE k
"""

REMOVE = """
UNWIND $keys AS key
MATCH (r:Revision {key: key})
DETACH DELETE r
RETURN count(r) AS gone
"""

# Of each node, by its place in the list.
CANDIDATES = """
UNWIND range(0, size($nodes) - 1) AS place
CALL (place) {
  UNWIND $nodes[place] AS word
  MATCH (:Keyword {key: word})<-[:HAS]-(r:Revision)
  WITH r, count(*) AS shared
  WHERE shared >= $minimum
  RETURN r, shared
  ORDER BY shared DESC, r.revn
  LIMIT $limit
}
RETURN place, r.key AS key
ORDER BY place, shared DESC, r.revn
"""

# Documents that are alike have the same candidates: each is told once.
NODES = """
UNWIND $keys AS key
MATCH (r:Revision {key: key})
RETURN key, r.revn AS revn, r.document_id AS document_id, r.keywords AS keywords
"""

NEIGHBOURS = """
MATCH (:Revision {key: $key})-[e:SHARES]-(other:Revision)
RETURN other.revn AS revn, other.document_id AS document_id, e.score AS score, e.shared AS shared
ORDER BY score DESC, revn
LIMIT $limit
"""

LOADS = """
UNWIND $keys AS key
MATCH (r:Revision {key: key})-[e:SHARES]-(:Revision)
RETURN r.revn AS revn, count(e) AS edges, min(e.score) AS lowest
"""

# A node without edges has one row, without a revn; an absent one has none.
EDGES = """
UNWIND $keys AS key
MATCH (r:Revision {key: key})
OPTIONAL MATCH (r)-[e:SHARES]-(other:Revision)
RETURN key, other.revn AS revn, other.document_id AS document_id, e.score AS score,
  e.shared AS shared
ORDER BY key, score DESC, revn
"""

PAGE = """
MATCH (r:Revision)
WHERE r.namespace = $namespace AND r.revn > $after
WITH r ORDER BY r.revn LIMIT $limit
OPTIONAL MATCH (r)-[e:SHARES]->(other:Revision)
WITH r, collect(CASE WHEN e IS NULL THEN NULL ELSE [other.revn, e.score, e.shared] END) AS edges
RETURN r.revn AS revn, r.document_id AS document_id, r.keywords AS keywords, edges
ORDER BY revn
"""
