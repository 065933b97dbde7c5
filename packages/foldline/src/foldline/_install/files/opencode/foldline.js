// foldline in opencode: before a request is too full, its fold takes the place of the oldest messages of the request.
//
// opencode's own store stays as it is: foldline keeps the fold, and this plugin has every request begin with it. Whatever
// goes wrong with foldline, the request goes out as it was, and opencode's own compaction goes on.
// `foldline uninstall opencode` takes this file away.
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const FOLDLINE = ["foldline"]
const TIMEOUT_MS = Number(process.env.FOLDLINE_HOOK_TIMEOUT_MS) || 10_000 // no model is asked: a second is much
const MARK = 0.85 // of what opencode itself lets a request take; it compacts at all of it
const OUTPUT_MAX = 32_000 // the most that opencode holds back for a reply
const RETRY_AFTER = 0.05 // of the same: how much more must come before a fold that was refused is asked for again

/** The folds of a session, oldest first. */
const folds = (session) => {
  const state = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state")
  try {
    return JSON.parse(readFileSync(join(state, "foldline", "standing", "opencode", `${session}.json`), "utf8"))
  } catch {
    return []
  }
}

/** The fold that stands in a session, which `foldline session undo` takes back, and behind it the first that was. */
const standing = (session, messages) => {
  const known = folds(session)
  const here = new Set(messages.slice(1).map((m) => m.info.id))
  const at = known.findLastIndex((each) => !each.fold.undone && here.has(each.first_kept))
  return [known[at], known[at + 1]]
}

/** The messages with the fold in place of what it folded, in the same list. */
const fold = (messages, kept) => {
  const at = messages.findIndex((m) => m.info.id === kept.first_kept)
  const asked = messages.findLast((m) => m.info.role === "user")
  const id = `msg_foldline_${kept.fold.id}`
  const part = { id: `prt_foldline_${kept.fold.id}`, sessionID: asked.info.sessionID, messageID: id }
  const text = { ...part, type: "text", synthetic: true, text: kept.fold.summary }
  messages.splice(0, at, { info: { ...asked.info, id }, parts: [text] })
}

/**
 * How full the next request will be, in tokens: what the newest reply behind the fold was billed, and what came since.
 *
 * Replies behind a fold that was taken back were billed for less than is sent now.
 */
const fill = (messages, last, takenBack) => {
  const place = (id) => messages.findIndex((m) => m.info.id === id || m.parts.some((part) => part.id === id))
  const behind = place(last)
  const until = takenBack ? place(takenBack) : messages.length
  const at = messages.findLastIndex((m, i) => i > behind && i <= until && m.info.role === "assistant" && m.info.tokens?.input)
  const tokens = messages[at]?.info.tokens
  const billed = tokens ? tokens.input + tokens.output + tokens.cache.read + tokens.cache.write : 0
  const outputs = at < 0 ? [] : messages[at].parts.map((part) => part.state?.output ?? "")
  const later = messages.slice(at + 1).flatMap((m) => m.parts.map((part) => part.text ?? JSON.stringify(part)))
  return billed + [...outputs, ...later].join("").length / 4
}

/** What foldline answers; one that hangs is killed, and what it started and left running is not waited for. */
const ask = (question) =>
  new Promise((resolve, reject) => {
    const [program, ...words] = FOLDLINE
    const options = { timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 64 << 20 }
    const child = execFile(program, [...words, "hook", "opencode"], options, (error, out) => (error ? reject(error) : resolve(out)))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(question))
  })

export const Foldline = async ({ client }) => {
  let models
  const refused = new Map() // by session, how full it was when foldline had no fold

  const limits = async ({ providerID, modelID }) => {
    models ??= (await client.config.providers()).data.providers
    const limit = models.find((each) => each.id === providerID)?.models[modelID]?.limit
    if (!limit?.context) return undefined
    return { window: limit.context, most: limit.context - Math.min(limit.output || OUTPUT_MAX, OUTPUT_MAX) }
  }

  const folded = async ({ messages }) => {
    const asked = messages.findLast((m) => m.info.role === "user")
    if (!asked?.info.model || asked.parts.some((part) => part.type === "compaction")) return
    const session = asked.info.sessionID
    const [before, takenBack] = standing(session, messages)
    if (before) fold(messages, before)
    const limit = await limits(asked.info.model)
    const size = fill(messages, before?.last ?? "", takenBack?.last)
    if (limit && size < limit.most * MARK) refused.delete(session)
    if (!limit || size < limit.most * MARK || size < (refused.get(session) ?? 0)) return
    refused.set(session, Infinity) // who hangs or fails once is not asked again before opencode's own compaction
    const answer = JSON.parse(await ask({ session, trigger: "auto", window: limit.window }))
    refused.set(session, size + limit.most * RETRY_AFTER)
    const [after] = answer.error ? [] : standing(session, messages)
    if (!after) return
    refused.delete(session)
    fold(messages, after)
  }

  return {
    config: async (config) => {
      const timeout = Math.min(TIMEOUT_MS, 30_000) // opencode's own, for which it waits before the first request
      config.mcp = { foldline: { type: "local", command: [...FOLDLINE, "mcp"], enabled: true, timeout }, ...config.mcp }
    },
    "experimental.chat.messages.transform": async (_, output) => {
      try {
        await folded(output)
      } catch (error) {
        const message = `${error.message ?? error}; opencode's own compaction goes on`
        await client.app.log({ body: { service: "foldline", level: "warn", message } }).catch(() => {})
      }
    },
  }
}
