// Drives an agent by pi's own RPC client, and prints what it answered as one line of JSON.
//
//   node rpc.mjs PACKAGE COMMAND...
//
// PACKAGE is the folder of the installed pi-coding-agent package. The client starts programs of node only, with words for pi:
// so it starts this file once more, which then hands its input and output to COMMAND.
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [pkg, ...command] = process.argv.slice(2);

if (process.env.AGENT) {
    const [program, ...words] = JSON.parse(process.env.AGENT);
    const agent = spawn(program, words, { stdio: "inherit" });
    process.on("SIGTERM", () => agent.kill());
    agent.on("exit", (code) => process.exit(code ?? 1));
} else {
    const { RpcClient } = await import(pathToFileURL(resolve(join(pkg, "dist/modes/rpc/rpc-client.js"))).href);
    const client = new RpcClient({ cliPath: fileURLToPath(import.meta.url), env: { AGENT: JSON.stringify(command) } });
    await client.start();
    const kinds = [];
    client.onEvent((event) => kinds.push(event.type));
    for (let part = 1; part <= 4; part++) await client.promptAndWait(`Write part ${part}.`);
    const folded = await client.compact("Keep the sums.");
    await client.setAutoCompaction(false);
    const told = {
        kinds,
        folded,
        stats: await client.getSessionStats(),
        state: await client.getState(),
        messages: await client.getMessages(),
        last: await client.getLastAssistantText(),
    };
    await client.stop();
    console.log(JSON.stringify(told));
}
