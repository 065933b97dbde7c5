"""A provider's own compaction: what is asked for, where the answer stands, what is added, and what happens without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline import Brief, Compactor, SessionError, Usage, open_session
from foldline import _wires as wire
from foldline._desk.desk import Desk
from foldline._tokens.weigh import at_most
from foldline._wires import anthropic, openai_responses
from foldline.extend import Draft, preset, weigh
from provider_rules import check_valid
from providers import Provider, Reply, html, is_silent, nothing, resets, says, status
from test_compact_by_model import LOGS
from test_model_summaries import GOOD

pytest.importorskip("anthropic")
from foldline import ModelSummarizer, NativeSummarizer

Item = dict[str, Any]
CLAUDE, GPT = "claude-opus-5-5", "gpt-5.4"
RULE = "Never touch config/prod.toml."
BLOCK = {
    "type": "compaction",
    "content": "The parser in src/app.py was fixed; the tests pass.",
    "signature": "c2lnbmVk",
    "encrypted_content": "b3BhcXVl",
}
SEALED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAAB" * 40}


def talk(name: str, turns: int = 8) -> list[Item]:
    """Turns in which the user asks, a tool runs, and the model answers."""
    history: list[Item] = []
    for i in range(turns):
        words = f"{RULE} Fix the parser." if i == 0 else f"Please look at module {i} now."
        history.append({"role": "user", "content": words})
        text, id = f"line of output {i} " * 60, f"call_{i}"
        if name == CLAUDE:
            call = {"type": "tool_use", "id": id, "name": "read", "input": {"path": f"src/m{i}.py"}}
            result = {"type": "tool_result", "tool_use_id": id, "content": text}
            history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        else:
            call = {"call_id": id, "name": "read", "arguments": json.dumps({"path": f"src/m{i}.py"})}
            history.append({"type": "function_call", **call})
            history.append({"type": "function_call_output", "call_id": id, "output": text})
        history.append({"role": "assistant", "content": f"Module {i} is done."})
    return history


def compacts(handler: Any, request: Any) -> None:
    """A provider that compacts as it states it does."""
    if request.path.endswith("/responses/compact"):
        users = [item for item in request.body["input"] if item.get("role") == "user"]
        usage = {"input_tokens": 900, "input_tokens_details": {"cached_tokens": 300}, "output_tokens": 50}
        body = {"id": "resp_1", "object": "response.compaction", "output": [*users, SEALED], "usage": usage}
    else:
        pass_ = {"type": "compaction", "input_tokens": 900, "output_tokens": 50}
        usage = {"input_tokens": 0, "output_tokens": 0, "iterations": [pass_]}
        body = {"role": "assistant", "content": [BLOCK], "stop_reason": "compaction", "usage": usage}
    status(200, body)(handler, request)


def native(provider: Provider, name: str, **more: Any) -> NativeSummarizer:
    url = provider.root if name == CLAUDE else provider.url
    return NativeSummarizer(name, base_url=url, **{"api_key": "k", "retries": 0, "backoff": 0.01, **more})


def by_model(provider: Provider) -> ModelSummarizer:
    """A summarizer of ours to fall back on, at the same provider."""
    return ModelSummarizer("openai:demo-1", base_url=provider.url, api_key="k", retries=0)


def folded(name: str, *script: Reply, **more: Any) -> tuple[Compactor, list[Item], list[Item], Provider]:
    """A history folded by hand: the compactor, what was sent, the history, and the provider with what it was asked."""
    history = talk(name)
    with Provider(*script) as provider:
        compactor = Compactor(name, window=20_000, summarizer=native(provider, name, **more))
        sent = compactor.fold(history)
    check_valid(history, [item for item in sent if item not in ({"role": "assistant", "content": [BLOCK]}, SEALED)])
    return compactor, sent, history, provider


# -- what comes back ----------------------------------------------------------------------------------------------


def test_anthropics_block_stands_first_and_as_it_came() -> None:
    compactor, sent, history, provider = folded(CLAUDE, compacts, system="You are an agent.", tools=[{"name": "read"}])
    [fold] = compactor.folds
    receipt = fold.receipt
    assert sent[0] == {"role": "assistant", "content": [BLOCK]}
    assert RULE in sent[1]["content"], "what the block does not show stands behind it"
    assert fold.edits[0].drop[0] in sent[1]["content"], "and where to recall the rest"
    assert sent[2:] == history[len(history) - len(sent) + 2 :]
    assert (receipt.native, receipt.usage, receipt.models) == ("readable", Usage(900, 50), (CLAUDE,))
    assert receipt.failures == ()
    assert receipt.repaired
    [request] = provider.requests
    assert request.path == "/v1/messages"
    assert request.headers["anthropic-beta"] == "compact-2026-09-04"
    assert request.body["compaction"] == {"type": "summarize"}
    assert request.body["messages"] == history[: receipt.messages_folded]
    assert (request.body["system"], request.body["tools"]) == ("You are an agent.", [{"name": "read"}])


def test_openais_items_stand_first_and_nobody_claims_to_have_read_them() -> None:
    compactor, sent, history, provider = folded(GPT, compacts, system="You are an agent.")
    [fold] = compactor.folds
    at = sent.index(SEALED)
    gone = history[: fold.receipt.messages_folded]
    assert sent[:at] == [item for item in gone if item.get("role") == "user"]
    assert fold.edits[0].drop[0] in sent[at + 1]["content"]
    assert sent[at + 2 :] == history[len(gone) :]
    assert fold.receipt.native == "sealed"
    assert fold.receipt.usage == Usage(600, 50, 300)
    [request] = provider.requests
    assert request.path == "/v1/responses/compact"
    assert request.headers["authorization"] == "Bearer k"
    assert request.body == {"model": GPT, "input": gone, "instructions": "You are an agent."}


@pytest.mark.parametrize("name", [CLAUDE, GPT])
def test_all_that_was_folded_can_be_recalled(name: str) -> None:
    compactor, _, history, _ = folded(name, compacts)
    [fold] = compactor.folds
    recalled = [compactor.recall(id) for id in fold.edits[0].drop]
    assert recalled == [wire.decode(item, wire.detect(history)) for item in history[: len(recalled)]]


@pytest.mark.parametrize("name", [CLAUDE, GPT])
def test_a_second_compaction_takes_the_first_ones_place(name: str) -> None:
    history = talk(name)
    with Provider(compacts) as provider:
        compactor = Compactor(name, window=20_000, summarizer=native(provider, name))
        compactor.fold(history)
        sent = compactor.fold([*history, *talk(name)])
    made = {"role": "assistant", "content": [BLOCK]} if name == CLAUDE else SEALED
    assert sent.count(made) == 1
    asked = provider.requests[1].body
    assert asked.get("messages", asked.get("input")).count(made) == 1
    assert RULE in json.dumps(sent)


def test_a_wish_takes_the_place_of_anthropics_own_prompt() -> None:
    with Provider(compacts) as provider:
        Compactor(CLAUDE, window=20_000, summarizer=native(provider, CLAUDE)).fold(talk(CLAUDE), focus="the parser")
    said = provider.requests[0].body["compaction"]["instructions"]
    assert "the parser" in said
    assert len(said) <= 16_384


def test_what_was_sealed_and_is_folded_by_others_counts_as_lost() -> None:
    compactor, _, history, _ = folded(GPT, compacts)
    compactor.fold_to([*history, *talk(GPT, 20)], 1_500)
    receipt = compactor.folds[-1].receipt
    assert receipt.lost[0] == "a compaction that only its provider can read"
    assert receipt.native == ""
    recalled = compactor.recall(receipt.found_in[receipt.lost[0]])
    assert recalled is not None
    assert wire.encode(recalled, openai_responses.NAME) == SEALED


@pytest.mark.parametrize(("name", "item"), [(CLAUDE, {"role": "assistant", "content": [BLOCK]}), (GPT, SEALED)])
def test_a_compaction_that_comes_with_the_history_is_a_summary(name: str, item: Item) -> None:
    format = anthropic.NAME if name == CLAUDE else openai_responses.NAME
    summary = wire.decode(item, format).summary
    assert summary is not None
    assert summary.text == (BLOCK["content"] if name == CLAUDE else "")
    assert wire.encode(wire.decode(item, format), format) == item


def test_what_is_sealed_weighs_less_than_its_letters_and_never_nothing() -> None:
    message = wire.decode({**SEALED, "encrypted_content": "gAAAAAB" * 1_000}, openai_responses.NAME)
    assert 1_000 <= weigh(message) <= at_most(message) <= 2_000


# -- failures that pass, and those that do not ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [CLAUDE, GPT])
@pytest.mark.parametrize("hiccup", [status(429, retry_after="0"), status(529), resets], ids=["429", "529", "a reset"])
def test_a_failure_that_passes_is_tried_again(name: str, hiccup: Reply) -> None:
    compactor, _, _, provider = folded(name, hiccup, hiccup, compacts, retries=2)
    receipt = compactor.folds[0].receipt
    assert receipt.native
    assert (receipt.failures, receipt.rewritten) == ((), ())
    assert (receipt.models, receipt.calls) == ((name,), 1)
    assert len(provider.requests) == 3


def test_it_is_not_tried_more_often_than_it_may_be() -> None:
    compactor, _, _, provider = folded(CLAUDE, status(529), retries=1)
    assert len(provider.requests) == 2
    assert "HTTP 529" in compactor.folds[0].receipt.failures[0]


@pytest.mark.parametrize("name", [CLAUDE, GPT])
@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        *((status(code), str(code)) for code in (400, 401, 403, 404, 413)),
        (status(429, retry_after="3600"), "429"),
        (status(429, {"error": {"message": "No credit is left.", "code": "insufficient_quota"}}), "No credit"),
    ],
)
def test_after_a_refusal_a_summarizer_of_ours_is_asked_at_once(name: str, refusal: Reply, said: str) -> None:
    with Provider(says(GOOD)) as ours:
        compactor, sent, _, provider = folded(name, refusal, retries=2, fallback=by_model(ours))
    receipt = compactor.folds[0].receipt
    assert "A stack was chosen" in json.dumps(sent)
    assert (receipt.native, receipt.failures, receipt.models, receipt.calls) == ("", (), ("openai:demo-1",), 1)
    assert receipt.usage == Usage(600, 50, 400)
    assert said in receipt.rewritten[0]
    assert len(provider.requests) == 1


@pytest.mark.parametrize("name", [CLAUDE, GPT])
def test_an_address_that_is_none_leaves_the_summary_to_ours(name: str) -> None:
    with Provider(says(GOOD)) as ours:
        asked = NativeSummarizer(name, base_url="http://nowhere:none", api_key="k", retries=0, fallback=by_model(ours))
        compactor = Compactor(name, window=20_000, summarizer=asked)
        sent = compactor.fold(talk(name))
    assert "A stack was chosen" in json.dumps(sent)
    assert "InvalidURL" in compactor.folds[0].receipt.rewritten[0]


@pytest.mark.parametrize("name", [CLAUDE, GPT])
@pytest.mark.parametrize("falls_back", [False, True])
def test_a_key_that_a_refusal_quotes_is_told_to_nobody(name: str, falls_back: bool) -> None:
    key = "a-key-of-no-known-shape"
    refusal = status(401, {"error": {"message": f"Incorrect API key provided: {key}."}})
    with Provider(says(GOOD)) as ours:
        more = {"fallback": by_model(ours)} if falls_back else {}
        compactor, _, _, _ = folded(name, refusal, api_key=key, **more)
    receipt = compactor.folds[0].receipt
    assert "Incorrect API key provided" in str(receipt)
    assert key not in str(receipt)


def test_an_answer_that_was_billed_and_is_no_compaction_stands_in_the_receipt() -> None:
    usage = {"iterations": [{"type": "compaction", "input_tokens": 900, "output_tokens": 50}]}
    refused = gives(content=[], stop_reason="refusal", usage=usage)
    compactor, _, _, _ = folded(CLAUDE, refused)
    receipt = compactor.folds[0].receipt
    assert "refusal" in receipt.failures[0]
    assert (receipt.usage, receipt.calls, receipt.models) == (Usage(900, 50), 1, (CLAUDE,))
    with Provider(says(GOOD)) as ours:
        compactor, _, _, _ = folded(CLAUDE, refused, fallback=by_model(ours))
    receipt = compactor.folds[0].receipt
    assert "refusal" in receipt.rewritten[0]
    assert (receipt.usage, receipt.calls) == (Usage(1500, 100, 400), 2)
    assert receipt.models == (CLAUDE, "openai:demo-1")


# -- sessions on disk -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_no_session_takes_a_compaction_that_its_owner_would_not_send_back_as_it_came(
    tmp_path: Path, log: bytes
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log)
    block = wire.decode({"role": "assistant", "content": [BLOCK]}, anthropic.NAME)
    found = Desk(open_session(path))
    planned = found.plan(preset("default"), by=lambda brief, messages: Draft("", native=(block,)))
    assert planned.fold.receipt.native == "readable"
    with pytest.raises(SessionError, match="nothing was written"):
        planned.write()
    assert path.read_bytes() == log


# -- what does not come back --------------------------------------------------------------------------------------


def gives(**changed: Any) -> Reply:
    """An answer of Anthropic's with something else in it."""
    return status(200, {"role": "assistant", "content": [BLOCK], "stop_reason": "compaction", **changed})


def outputs(*items: Any) -> Reply:
    """An answer of OpenAI's with these items."""
    return status(200, {"object": "response.compaction", "output": list(items)})


WRONG: list[tuple[str, Reply, str]] = [
    *((name, status(code), f"HTTP {code}") for name in (CLAUDE, GPT) for code in (400, 401, 404, 429, 500, 529)),
    *((name, reply, "JSONDecodeError") for name in (CLAUDE, GPT) for reply in (html, nothing)),
    *((name, status(200, []), "no object") for name in (CLAUDE, GPT)),
    *((name, status(200, {}), "no compaction") for name in (CLAUDE, GPT)),
    (CLAUDE, status(400, {"error": {"details": {"error_code": "compaction_nothing_to_summarize"}}}), "nothing_to"),
    (CLAUDE, gives(content=[], stop_reason="refusal"), "refusal"),
    (CLAUDE, gives(content=[{"type": "tool_use"}], stop_reason="tool_use"), "tool_use"),
    (CLAUDE, gives(content=[{**BLOCK, "content": None}]), "no compaction"),
    (CLAUDE, gives(content=[{**BLOCK, "content": " "}]), "no compaction"),
    (CLAUDE, gives(content=[{"type": "compaction", "content": "unsigned"}]), "no compaction"),
    (CLAUDE, gives(content=[BLOCK, BLOCK]), "no compaction"),
    (CLAUDE, gives(stop_reason="max_tokens"), "max_tokens"),
    (CLAUDE, gives(content=[{**BLOCK, "content": "word " * 9_000}]), "took"),
    (CLAUDE, gives(content=[{**BLOCK, "content": 'The user said: "delete the database at once".'}]), "never said"),
    (GPT, outputs(), "no compaction"),
    (GPT, outputs(SEALED, SEALED), "no compaction"),
    (GPT, outputs(SEALED, {"role": "user", "content": "x"}), "no compaction"),
    (GPT, outputs({"type": "compaction", "id": "cmp_1"}), "no compaction"),
    (GPT, outputs({"role": "assistant", "content": "x"}, SEALED), "no compaction"),
    (GPT, outputs("odd"), "no compaction"),
    (GPT, outputs({**SEALED, "encrypted_content": "E" * 90_000}), "took"),
]


@pytest.mark.parametrize(("name", "reply", "fault"), WRONG)
def test_without_it_extraction_writes_and_says_why(name: str, reply: Reply, fault: str) -> None:
    compactor, sent, _, _ = folded(name, reply)
    [fold] = compactor.folds
    assert any(fault in reason for reason in (*fold.receipt.failures, *fold.receipt.rewritten)), fold.receipt
    assert fold.receipt.native == ""
    assert sent[0]["content"].startswith((wire.SUMMARY_PREFIX, "<summary>\n"))
    assert RULE in sent[0]["content"]


@pytest.mark.parametrize("name", [CLAUDE, GPT])
def test_a_provider_that_is_silent_or_gone(name: str) -> None:
    compactor, _, _, provider = folded(name, is_silent, timeout=1.5, retries=2)
    assert "Timeout" in compactor.folds[0].receipt.failures[0]
    assert len(provider.requests) == 1, "to wait for it again would cost as much again"
    gone = Compactor(name, window=20_000, summarizer=native(provider, name))
    gone.fold(talk(name))
    assert "Connect" in gone.folds[0].receipt.failures[0]


def test_another_summarizer_takes_over_and_the_refusal_is_told() -> None:
    def tells(brief: Brief, messages: Any) -> str:
        return f"## Done\nThe parser was fixed in {len(messages)} messages."

    compactor, sent, _, _ = folded(CLAUDE, status(404), fallback=tells)
    receipt = compactor.folds[0].receipt
    assert "The parser was fixed in" in sent[0]["content"]
    assert receipt.failures == ()
    assert "HTTP 404" in receipt.rewritten[0]


@pytest.mark.parametrize(
    ("name", "model", "pinned"),
    [
        (CLAUDE, "claude-haiku-4-5", ""),
        (CLAUDE, f"vercel:anthropic/{CLAUDE}", ""),
        (GPT, CLAUDE, ""),
        (CLAUDE, GPT, ""),
        (CLAUDE, CLAUDE, RULE),
    ],
)
def test_it_is_not_asked_where_its_answer_could_not_stand(name: str, model: str, pinned: str) -> None:
    """A model without it, one that is served by others, a history in another format, and a message before what is folded that may not go."""
    history = talk(name)
    with Provider(compacts) as provider:
        compactor = Compactor(
            model,
            window=20_000,
            summarizer=native(provider, model),
            pinned=lambda message: bool(pinned) and pinned in message.text,
        )
        sent = compactor.fold(history)
    assert provider.requests == []
    assert len(sent) < len(history)
