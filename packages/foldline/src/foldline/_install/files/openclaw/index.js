// foldline in OpenClaw: a compaction provider. OpenClaw chooses the cut and keeps the tail; foldline writes what stands for
// the rest, without a model call. Whatever goes wrong with foldline, OpenClaw's own summary is written.
// `foldline uninstall openclaw` takes this folder away.
import { execFile } from "node:child_process"

const FOLDLINE = ["foldline"]
const TIMEOUT_MS = Number(process.env.FOLDLINE_HOOK_TIMEOUT_MS) || 10_000 // no model is asked: a second is much
const MOST = 3_000 // tokens: OpenClaw puts its newest turns behind the summary, and cuts it where both are too long

/** What foldline answers; one that hangs is killed, and what it started and left running is not waited for. */
const ask = (question, signal) =>
  new Promise((resolve, reject) => {
    const [program, ...words] = FOLDLINE
    const options = { signal, timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: 64 << 20 }
    const child = execFile(program, [...words, "hook", "openclaw"], options, (error, out) => (error ? reject(error) : resolve(out)))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(question))
  })

export default {
  id: "foldline",
  name: "foldline",
  description: "foldline writes the summary of a compaction, without a model call",
  register(api) {
    api.registerCompactionProvider({
      id: "foldline",
      label: "foldline",
      async summarize({ messages, previousSummary, signal }) {
        const question = { messages, previous: previousSummary ?? "", trigger: "auto", max_tokens: MOST }
        const answer = JSON.parse(await ask(question, signal))
        if (answer.error) throw new Error(answer.error.message)
        return answer.summary
      },
    })
  },
}
