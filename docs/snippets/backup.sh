set -eu
# at any time, beside the services; again into the same folder brings it up to date
groundwire backup "$BACKUP"

# elsewhere: another data folder, or other stores by GROUNDWIRE_*_URL, with the services stopped
GROUNDWIRE_DATA_DIR="$RESTORED" groundwire restore "$BACKUP"
