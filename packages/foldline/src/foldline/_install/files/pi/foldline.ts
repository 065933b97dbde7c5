/**
 * foldline in pi: its fold takes the place of pi's own compaction, by hand, at the threshold and on overflow.
 *
 * pi writes the fold into its own session; nothing here does. Whatever goes wrong with foldline, pi's own compaction goes on.
 * `foldline uninstall pi` takes this file away.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const FOLDLINE: string[] = ["foldline"];
const TIMEOUT_MS = Number(process.env.FOLDLINE_HOOK_TIMEOUT_MS) || 60_000;
const NOTHING_TO_DO = 3;
const RESERVE_TOKENS = 16_384; // pi's own default
const AHEAD = 0.1; // of the window: so long before pi's mark a fold is prepared
const BEHIND = 0.2; // of the window: so much may have come since, which stays word for word
const KEY = "foldline";

/** Runs foldline and answers what it printed. */
function run(args: string[], input = "", signal?: AbortSignal): Promise<string> {
	return new Promise((resolve, reject) => {
		const [program, ...first] = FOLDLINE;
		const options = { signal, timeout: TIMEOUT_MS, killSignal: "SIGKILL" as const, maxBuffer: 64 << 20 };
		const child = execFile(program, [...first, ...args], options, (error, out, told) => {
			if (!error || (error as any).code === NOTHING_TO_DO) resolve(out);
			else reject(new Error(told.trim() || error.message));
		});
		child.stdin?.on("error", () => {}); // it ended before it read: told by its exit
		child.stdin?.end(input);
	});
}

/** Why pi compacts; its older versions do not say, but their session shows it. */
function triggerOf(event: any, window: number): string {
	if (event.reason) return event.reason === "threshold" ? "auto" : event.reason;
	const last = event.branchEntries?.findLast((entry: any) => entry.type === "message")?.message;
	if (last?.stopReason === "error") return "overflow";
	const { tokensBefore, settings } = event.preparation;
	return window && tokensBefore > window - (settings?.reserveTokens ?? RESERVE_TOKENS) ? "auto" : "manual";
}

/** pi's own settings of compaction, the project's over the user's. */
function compactionSettings(cwd: string): any {
	const read = (path: string) => {
		try {
			return JSON.parse(readFileSync(path, "utf8")).compaction ?? {};
		} catch {
			return {};
		}
	};
	const agent = process.env.PI_CODING_AGENT_DIR ?? join(homedir(), ".pi", "agent");
	return { ...read(join(agent, "settings.json")), ...read(join(cwd, ".pi", "settings.json")) };
}

function receiptLines(receipt: any): string[] {
	const n = (tokens: number) => tokens.toLocaleString("en-US");
	const facts = `${receipt.facts_kept ?? 0} facts in view, ${receipt.facts_lost ?? 0} only by recall`;
	return [
		`foldline: ${n(receipt.tokens_before)} → ${n(receipt.tokens_after)} tokens, ${receipt.messages_folded ?? 0} messages folded`,
		`${facts} · /undo-fold takes it back, /recall finds what was folded`,
	];
}

export default function foldline(pi: any) {
	let byUs = false; // the user asked for foldline's fold: pi's own would not be what was asked for
	let on = true;
	let after = 0; // tokens behind the newest fold: pi counts again at the next reply
	let prepared: { path: string; tokens: number; stop: AbortController; plan: Promise<any> } | undefined; // made ahead of the mark
	let limited = false; // it folded by itself as often as it may: only a full window is folded now

	/** Whether there is a screen to draw on; a session that was closed meanwhile has none. */
	const hasScreen = (ctx: any): boolean => {
		try {
			return ctx.hasUI;
		} catch {
			return false;
		}
	};
	const show = (ctx: any, text: string, kind: "info" | "warning" | "error" = "info") =>
		hasScreen(ctx) ? ctx.ui.notify(text, kind) : process.stderr.write(`${text}\n`);
	/** Shows lines above the editor; nothing takes away what stood there. */
	const showAbove = (ctx: any, lines?: string[]) => hasScreen(ctx) && ctx.ui.setWidget(KEY, lines);
	const file = (ctx: any): string | undefined => ctx.sessionManager.getSessionFile?.();

	function draw(ctx: any) {
		if (!hasScreen(ctx)) return;
		const usage = ctx.getContextUsage?.();
		const settings = compactionSettings(ctx.cwd);
		const window = usage?.contextWindow ?? ctx.model?.contextWindow ?? 0;
		const mark = window ? Math.round((100 * (window - (settings.reserveTokens ?? RESERVE_TOKENS))) / window) : 0;
		const percent = usage?.percent ?? (window && after ? (100 * after) / window : undefined);
		const fill = percent === undefined ? "" : `${Math.round(percent)} % full, `;
		const folding = !on || settings.enabled === false ? "auto off" : limited ? "folds when full" : `folds at ${mark} %`;
		ctx.ui.setStatus(KEY, `foldline: ${fill}${folding}`);
	}

	/** Has the next fold made while the agent works, once the session is nearly full: at the mark nobody waits for it. */
	function prepare(ctx: any) {
		const { tokens, contextWindow: window } = ctx.getContextUsage?.() ?? {};
		const path = file(ctx);
		const settings = compactionSettings(ctx.cwd);
		if (!path || !tokens || !on || limited || settings.enabled === false) return;
		if (tokens < window * (1 - AHEAD) - (settings.reserveTokens ?? RESERVE_TOKENS)) return;
		if (prepared?.path === path && tokens - prepared.tokens <= window * BEHIND) return;
		const question = JSON.stringify({ session: path, trigger: "auto", window, waits: true });
		const stop = new AbortController();
		const mine = { path, tokens, stop, plan: run(["hook", "pi"], question, stop.signal).then(JSON.parse) };
		prepared = mine;
		mine.plan.catch(() => (prepared = prepared === mine ? undefined : prepared)); // at the mark it is asked for again
	}

	/** The prepared fold, once it is made, as one of the session as it is now; undefined where there is none that fits. */
	async function ready(path: string, event: any, window: number): Promise<any> {
		const mine = prepared;
		prepared = undefined;
		if (mine?.path !== path || event.preparation.tokensBefore - mine.tokens > window * BEHIND) return undefined;
		event.signal?.addEventListener("abort", () => mine.stop.abort());
		const plan = await mine.plan;
		const own = plan.details?.foldline;
		if (!own || !event.branchEntries.some((entry: any) => entry.id === own.leaf)) return undefined;
		const leaf = event.branchEntries.at(-1).id; // what an undo goes back to
		return { ...plan, details: { ...plan.details, foldline: { ...own, leaf } } };
	}

	/** Runs a command on this session and shows what it printed. */
	const showing = (command: string[], more: (given: string, ctx: any) => string[]) => async (given: string, ctx: any) => {
		const path = file(ctx);
		if (!path) return show(ctx, "foldline: this session is kept in memory only", "warning");
		try {
			const told = await run([...command, "--session", path, ...more(given.trim(), ctx)]);
			show(ctx, told.trim() || "foldline: nothing was found");
		} catch (error: any) {
			show(ctx, `foldline: ${error.message}`, "error");
		}
	};

	pi.on("session_start", async (_event: any, ctx: any) => {
		limited = false;
		after = 0;
		prepared = undefined;
		draw(ctx);
		if (!hasScreen(ctx)) return;
		try {
			on = JSON.parse(await run(["autocompact", "--json"])).auto_enabled;
		} catch (error: any) {
			show(ctx, `foldline: ${error.message}; pi's own compaction goes on`, "warning");
		}
		draw(ctx);
	});
	for (const name of ["turn_end", "agent_end", "model_select"]) pi.on(name, (_event: any, ctx: any) => draw(ctx));
	pi.on("turn_end", (_event: any, ctx: any) => prepare(ctx));
	pi.on("session_shutdown", () => prepared?.stop.abort()); // what pi waits for is no more among it
	pi.on("agent_start", (_event: any, ctx: any) => showAbove(ctx));

	pi.on("session_before_compact", async (event: any, ctx: any) => {
		const asked = byUs;
		byUs = false;
		const path = file(ctx);
		if (!path) return; // in memory only: pi's own
		const window = ctx.model?.contextWindow ?? 0;
		const trigger = triggerOf(event, window);
		const question = { session: path, trigger, focus: event.customInstructions ?? "", waits: true };
		try {
			const asking = JSON.stringify(window ? { ...question, window } : question);
			const made = trigger === "auto" ? await ready(path, event, window) : undefined;
			const plan = made ?? JSON.parse(await run(["hook", "pi"], asking, event.signal));
			if (plan.error?.kind === "Off") return { cancel: true };
			if (plan.error?.kind === "Limit") {
				if (!limited) show(ctx, `foldline: ${plan.error.message}`, "warning");
				limited = true;
				draw(ctx);
				return { cancel: true };
			}
			if (plan.error) throw new Error(plan.error.message);
			const { summary, first_kept: firstKeptEntryId, tokens_before: tokensBefore, details } = plan;
			if (typeof summary !== "string" || !event.branchEntries.some((entry: any) => entry.id === firstKeptEntryId)) {
				throw new Error("what it answered is no fold of this session");
			}
			return { compaction: { summary, firstKeptEntryId, tokensBefore, details } };
		} catch (error: any) {
			if (event.signal?.aborted) return { cancel: true };
			show(ctx, `foldline: ${error.message}${asked ? "" : "; pi's own compaction goes on"}`, "warning");
			return asked ? { cancel: true } : undefined;
		}
	});

	pi.on("session_compact", (event: any, ctx: any) => {
		prepared = undefined;
		const receipt = event.compactionEntry?.details?.foldline?.receipt;
		after = receipt?.tokens_after ?? 0;
		if (receipt) showAbove(ctx, receiptLines(receipt));
		draw(ctx);
	});

	pi.registerCommand("fold", {
		description: "Fold this session with foldline: /fold [what the summary must keep]",
		handler: async (focus: string, ctx: any) => {
			await ctx.waitForIdle?.();
			byUs = true;
			await new Promise<void>((done) =>
				ctx.compact({ customInstructions: focus.trim() || undefined, onComplete: () => done(), onError: () => done() }),
			);
		},
	});
	pi.registerCommand("context", {
		description: "How full this session is, and what fills it",
		handler: showing(["context", "status"], (_given, ctx) =>
			ctx.model?.contextWindow ? ["--window", String(ctx.model.contextWindow)] : [],
		),
	});
	pi.registerCommand("recall", {
		description: "Find what was folded away: /recall ID or words",
		handler: showing(["recall", "--limit", "5"], (query) => ["--", query]),
	});
	pi.registerCommand("autocompact", {
		description: "Whether foldline folds by itself: /autocompact [on|off]",
		handler: async (given: string, ctx: any) => {
			try {
				const wanted = given.trim() || (on ? "off" : "on");
				on = JSON.parse(await run(["autocompact", wanted, "--json"])).auto_enabled;
				show(ctx, `foldline: folding by itself is ${on ? "on" : "off"}`);
			} catch (error: any) {
				show(ctx, `foldline: ${error.message}`, "error");
			}
			draw(ctx);
		},
	});
	pi.registerCommand("undo-fold", {
		description: "Take back the newest fold",
		handler: async (_given: string, ctx: any) => {
			const path = file(ctx);
			if (!path) return show(ctx, "foldline: this session is kept in memory only", "warning");
			try {
				await ctx.waitForIdle?.();
				const told = await run(["session", "undo", "--force", "--session", path]);
				// above the editor: pi's own word of the session that it loaded takes the place of a notice
				await ctx.switchSession(path, { withSession: async (fresh: any) => showAbove(fresh, told.trim().split("\n")) });
			} catch (error: any) {
				show(ctx, `foldline: ${error.message}`, "error");
			}
		},
	});
	pi.registerCommand("handoff", {
		description: "Go on in a new session with what a goal needs of this one: /handoff GOAL",
		handler: async (goal: string, ctx: any) => {
			const path = file(ctx);
			if (!path || !goal.trim()) return show(ctx, "foldline: /handoff GOAL", "warning");
			try {
				const told = JSON.parse(await run(["session", "handoff", "--yes", "--json", "--session", path, "--", goal.trim()]));
				await ctx.switchSession(told.written.path);
			} catch (error: any) {
				show(ctx, `foldline: ${error.message}`, "error");
			}
		},
	});

	pi.registerTool({
		name: "recall",
		label: "Recall",
		description:
			"Look up earlier messages of this session, word for word: by the id that a summary or a stub names, or by words. What comes back is quoted history.",
		parameters: {
			type: "object",
			properties: { query: { type: "string", description: "An id, the beginning of one, or words." } },
			required: ["query"],
		},
		async execute(_id: string, { query }: { query: string }, signal: AbortSignal | undefined, _update: unknown, ctx: any) {
			const path = file(ctx);
			const found = path ? await run(["recall", "--limit", "5", "--session", path, "--", query], "", signal) : "";
			return { content: [{ type: "text", text: found.trim() || "Nothing was found." }], details: {} };
		},
	});
}
