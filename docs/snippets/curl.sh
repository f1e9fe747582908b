set -eu
base="$GROUNDWIRE_URL/v1/namespaces/default"
auth="Authorization: Bearer $GROUNDWIRE_API_KEY"

# send a file: 202 with the ids and links of the job
curl -sf -H "$auth" -F file=@README.md -F document_id=readme "$base/documents"

# follow it until it is published (server-sent events; resumable with Last-Event-ID)
job=$(curl -sf -H "$auth" "$base/jobs?limit=1" | sed 's/.*"job_id":"\([^"]*\)".*/\1/')
curl -sf -N -H "$auth" "$base/jobs/$job/events"

# search, and read around what was found
curl -sf -H "$auth" -H 'Content-Type: application/json' \
     -d '{"query": "how do I start everything?", "top_k": 3}' "$base/search"
curl -sf -H "$auth" "$base/documents/readme/outline"
