// Prints what pi's own session manager builds for the leaf of session files, one line of JSON for each file.
//
//   node context.mjs PACKAGE [--leaf=ID] FILE...
//
// PACKAGE is the folder of the installed pi-coding-agent package; --leaf takes another entry than the last one.
// pi migrates and repairs files when it opens them, so it is given copies. A line holds:
//   version, leaf, rewritten (did opening change the file), model, thinkingLevel,
//   messages   the session context after convertToLlm: what the agent holds as its history
//   sent       the same after pi-ai's transformMessages, for the model that answered last: what a provider is given
// or {version, error} for a session that pi refuses, and sendError in place of sent where only sending fails.
// Both versions walk a loop of parents for ever: do not pass one.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [pkg, ...rest] = process.argv.slice(2);
const leaf = rest.find((arg) => arg.startsWith("--leaf="))?.slice("--leaf=".length);
const load = (path) => import(pathToFileURL(resolve(path)).href);
const version = JSON.parse(readFileSync(join(pkg, "package.json"), "utf8")).version;
const scope = resolve(pkg, "..");
const ai = [join(pkg, "node_modules", scope.split("/").at(-1), "pi-ai"), join(scope, "pi-ai")].find(existsSync);
const transform = ["api", "providers"].map((f) => join(ai, "dist", f, "transform-messages.js")).find(existsSync);

const { SessionManager } = await load(join(pkg, "dist/core/session-manager.js"));
const { convertToLlm } = await load(join(pkg, "dist/core/messages.js"));
const { transformMessages } = await load(transform);

function read(file, copy) {
  const session = SessionManager.open(copy);
  const rewritten = !readFileSync(copy).equals(readFileSync(file));
  if (leaf) session.branch(leaf);
  const { messages: context, model, thinkingLevel } = session.buildSessionContext();
  const messages = convertToLlm(context);
  const out = { version, leaf: session.getLeafId() ?? null, rewritten, model, thinkingLevel, messages };
  // As if the model that answered last were asked again: nothing is dropped for having come from another one.
  const last = messages.findLast((m) => m.role === "assistant") ?? {};
  const target = { provider: last.provider, api: last.api, id: last.model, input: ["text", "image"] };
  try {
    out.sent = transformMessages(messages, target, (id) => id);
  } catch (error) {
    out.sendError = String(error.message);
  }
  return out;
}

const folder = mkdtempSync(join(tmpdir(), "pi-context-"));
const copy = join(folder, "session.jsonl");
try {
  for (const file of rest.filter((arg) => !arg.startsWith("--"))) {
    copyFileSync(file, copy);
    let out;
    try {
      out = read(file, copy);
    } catch (error) {
      out = { version, error: String(error.message).replace(copy, "FILE") };
    }
    process.stdout.write(JSON.stringify(out) + "\n");
  }
} finally {
  rmSync(folder, { recursive: true });
}
