// foldline in Claude Code: its fold takes the place of Claude Code's own compaction, by hand, ahead of the limit and at it.
//
// Claude Code writes the fold into its own session; nothing here does. Whatever goes wrong with foldline, Claude Code's own
// compaction goes on. `foldline uninstall claude-code` takes this folder away.
const FOLDLINE = ["foldline"]
const TRIGGERS = { manual: 'manual', reactive: 'overflow' }

const START =
  'This session is being continued from a previous conversation that ran out of context. ' +
  'The summary below covers the earlier portion of the conversation.\n\n'
const END =
  '\n\nIf you need specific details from before compaction (like exact code snippets, error messages, or content you ' +
  'generated), read the full transcript at: '

// A kept tool result goes back without its handle: with it the row would hang on the assistant's old row, and the next
// resume would send everything twice.
const kept = (m) =>
  m.toolResults?.length ? { role: m.role, text: m.text, toolUses: [], toolResults: m.toolResults } : m

export const register = (on) => {
  on('session.compact', async ($, e, next) => {
    if (e.agentId) return next(e) // a sub-agent's conversation is not the session's file
    try {
      const timeoutMs = Number(await $.env.get('FOLDLINE_HOOK_TIMEOUT_MS')) || 60_000
      const asked = {
        session: await $.session.id(),
        trigger: TRIGGERS[e.trigger] ?? 'auto',
        focus: e.instructions ?? '',
      }
      const ran = await $.process.run([...FOLDLINE, 'hook', 'claude-code'], { stdin: JSON.stringify(asked), timeoutMs })
      const plan = JSON.parse(ran.stdout)
      if (plan.error) throw new Error(plan.error.message)
      const ids = new Set(plan.kept)
      const first = e.messages.findIndex((m) => ids.has(m.handle))
      if (first < 0 || typeof plan.summary !== 'string') throw new Error('what it answered is no fold of this session')
      const summary = { role: 'user', text: START + plan.summary + END + plan.path, toolUses: [] }
      return {
        messages: [summary, ...e.messages.slice(first).map(kept)],
        tokensBefore: plan.tokens_before,
        tokensAfter: plan.tokens_after,
      }
    } catch (error) {
      $.ui.log(`foldline: ${error.message ?? error}; Claude Code's own compaction goes on`)
      return next(e)
    }
  })
}
