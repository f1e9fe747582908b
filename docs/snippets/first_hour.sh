set -eu
mkdir -p "$WORK"
cat >"$WORK/harbour.md" <<'TEXT'
# Harbour rules

## Opening hours

The harbour opens at six. Between November and March it opens at seven.

## Fees

| boat | fee a day |
| --- | --- |
| up to 8 m | 12 EUR |
| over 8 m | 19 EUR |
TEXT

# send it, and wait until it can be searched
groundwire ingest "$WORK/harbour.md"

# ask: every piece names its document, section, page and hash
groundwire search "when does the harbour open in winter?"
groundwire search "fee for a boat of 10 m" --json >"$WORK/answer.json"

# does each citation still say what it said?
groundwire verify <"$WORK/answer.json"

# a new revision: the old citation of what changed is superseded, not silently wrong
sed -i 's/19 EUR/21 EUR/' "$WORK/harbour.md"
groundwire ingest "$WORK/harbour.md"
groundwire verify <"$WORK/answer.json" || echo "something has changed"

groundwire documents list
