set -eu
# with the services stopped: all three, or some of catalog, search, graph
groundwire rebuild

# at any time: exit code 1 and a line for every place where the stores disagree
groundwire check
