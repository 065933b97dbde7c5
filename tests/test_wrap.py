"""A wrapped client is used as before, and each conversation sent through it stays within its window."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import pytest

import foldline
from foldline import CannotFit, ConfigError, Event, Folded, Rewound, Skipped
from foldline.extend import Text
from providers import Provider, Request, answers, status
from strict import DIALECTS, Strict
from test_compactor import assistant, overflow, size, turns, user
from test_overflow import OTHERS, TOO_LONG, anthropic
from test_sdk_loops import AWAITED, LOOPS, OUTPUT, litellm, request

anthropic_sdk = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

WINDOW = 6_000
WINDOWS = 5
SETTINGS = {"window": WINDOW, "reserve": 500, "overhead": 100}

Item = dict[str, Any]


class Heard(list[Event]):
    """The events that were told; a wrapped client's listener."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


class Whole:
    """What the documented loops do for foldline, where it is done for them: nothing."""

    def __init__(self, provider: Strict) -> None:
        self._provider = provider

    def fit(self, messages: list[Any]) -> list[Any]:
        return messages

    async def afit(self, messages: list[Any]) -> list[Any]:
        return messages

    def observe(self, reply: Any) -> None: ...

    def messages(self) -> Iterator[tuple[str, Any]]:
        """As many words as the provider's replies brought about, for loops that ask how far they are."""
        yield "", foldline.Message("user", (Text("x" * (len(OUTPUT) * self._provider.turns)),))


# -- the loops of each library -------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_loop_that_knows_nothing_of_foldline_works_on_for_five_windows(loop: Any) -> None:
    run(loop)


@pytest.mark.filterwarnings("ignore")
def test_litellms_loop_that_knows_nothing_of_foldline_works_on_for_five_windows() -> None:
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed: its wrapped calls are not tested here (pip install litellm)")
    run(litellm)


@pytest.mark.parametrize("loop", AWAITED, ids=lambda loop: loop.__name__)
def test_an_awaited_loop_that_knows_nothing_of_foldline_works_on_for_five_windows(loop: Any) -> None:
    run(loop)


def run(loop: Any) -> None:
    heard = Heard()
    with Strict(WINDOW, wrap=lambda client: foldline.wrap(client, on_event=heard, **SETTINGS)) as provider:
        if asyncio.iscoroutinefunction(loop):
            history = asyncio.run(loop(provider, Whole(provider)))
        else:
            for history in loop(provider, Whole(provider)):  # noqa: B007 - the last one is looked at
                if provider.turns * len(OUTPUT) > WINDOWS * WINDOW * 4:
                    break
        check(provider, heard, history)


def check(provider: Strict, heard: Heard, history: list[Any]) -> None:
    assert provider.refused == []
    assert len(heard.of(Folded)) >= 3
    assert heard.of(Rewound) == heard.of(Skipped) == []
    for sent in provider.provider.requests:
        assert request(0) in sent.text
    asked = [turn for turn in range(len(history)) if request(turn) in str(history)]
    assert request(asked[-1]) in provider.provider.requests[-1].text


# -- what a caller sees --------------------------------------------------------------------------------------------


def client_of(provider: Provider | Strict, **settings: Any) -> Any:
    server = provider.provider if isinstance(provider, Strict) else provider
    client = server.serves(openai.OpenAI(base_url=server.url, api_key="none", max_retries=0))
    return foldline.wrap(client, **settings)


def ask(client: Any, messages: list[Any], **more: Any) -> Any:
    return client.chat.completions.create(**{"model": "gpt-5", "messages": messages, **more})


def sent_in(sent: Request) -> list[Item]:
    return next(each for part, each in DIALECTS.items() if part in sent.path).items(sent.body)


def test_a_wrapped_client_is_one_of_its_class_and_the_one_given_stays_as_it_was() -> None:
    with Provider(answers("Done.")) as provider:
        client = provider.serves(
            openai.OpenAI(base_url=provider.url, api_key="none", organization="org", max_retries=0)
        )
        wrapped = foldline.wrap(client, window=2_000)
        assert isinstance(wrapped, openai.OpenAI)
        assert wrapped.organization == "org"
        history = turns(40)
        ask(wrapped, history)
        ask(client, history)
        ask(wrapped.with_options(timeout=5), history)
        fitted, whole, other = map(sent_in, provider.requests)
    assert len(fitted) < len(whole) == len(history)
    assert other == fitted


def test_what_is_sent_is_what_was_given_while_it_fits() -> None:
    with Provider(answers("Done.", prompt_tokens=900, completion_tokens=3, total_tokens=903)) as provider:
        client = client_of(provider)
        reply = ask(client, turns(10), temperature=0.5, max_tokens=100)
        assert reply.choices[0].message.content == "Done."
        assert type(reply) is openai.types.chat.ChatCompletion
        whole = {"model": "gpt-5", "messages": turns(10), "temperature": 0.5, "max_tokens": 100}
        assert provider.requests[0].body == whole


def test_the_callers_history_is_not_changed() -> None:
    history = turns(40)
    with Provider(answers("Done.")) as provider:
        ask(client_of(provider, window=2_000), history)
    assert history == turns(40)


def test_raw_responses_are_handed_out_and_their_bills_taken() -> None:
    heard = Heard()
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)
        raw = client.chat.completions.with_raw_response.create(model="gpt-5", messages=turns(60))
        assert raw.headers["content-type"] == "application/json"
        assert raw.parse().usage.prompt_tokens == provider.billed
        assert provider.refused == []
    assert len(heard.of(Folded)) == 1


def test_a_reply_that_its_reader_reads_is_left_unread() -> None:
    with Strict(WINDOW) as provider:
        create = client_of(provider, **SETTINGS).chat.completions.with_streaming_response.create
        with create(model="gpt-5", messages=turns(60)) as response:
            assert not response.http_response.is_stream_consumed
            assert response.parse().usage.prompt_tokens == provider.billed
        assert provider.refused == []


def test_the_room_that_tools_and_the_reply_take_is_known_before_anything_was_billed() -> None:
    schema = {"type": "object", "properties": {f"field_{n}": {"type": "string"} for n in range(100)}}
    tool = {"type": "function", "function": {"name": "file", "description": "Files it.", "parameters": schema}}
    with Strict(WINDOW) as provider:
        client = client_of(provider, window=WINDOW)
        ask(client, turns(26), tools=[tool], max_tokens=1_000)
        first = provider.provider.requests[0].body
    assert provider.refused == []
    assert len(json.dumps(first)) // 4 <= WINDOW - 1_000
    assert first["tools"] == [tool]


def test_a_history_that_cannot_fit_is_told_before_it_is_sent() -> None:
    with Provider(answers("Done.")) as provider:
        client = client_of(provider, window=2_000)
        with pytest.raises(CannotFit):
            ask(client, [{"role": "system", "content": "It must be so. " * 2_000}, user("Why?")])
        assert provider.requests == []


# -- never in the way ----------------------------------------------------------------------------------------------


def test_what_foldline_cannot_read_is_sent_as_it_came_and_told() -> None:
    heard = Heard()
    with Provider(answers("Done.")) as provider:
        client = client_of(provider, window=2_000, on_event=heard)
        history = [{"role": "oracle", "content": "?"}, *turns(40)]
        ask(client, history)
        assert provider.requests[0].body["messages"] == history
    (skipped,) = heard.of(Skipped)
    assert "a history was sent as it came" in skipped.reason
    assert "oracle" in skipped.reason


def test_a_reply_that_foldline_cannot_read_is_handed_out() -> None:
    heard = Heard()
    empty = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    with Provider(answers("Done."), status(200, empty)) as provider:
        client = client_of(provider, window=4_000, recall=True, on_event=heard)
        ask(client, turns(30))
        assert ask(client, [*turns(30), user("And now?")]).choices == []
    (skipped,) = heard.of(Skipped)
    assert "not searched for recalls" in skipped.reason


def test_a_listener_and_a_summarizer_that_raise_stop_nothing() -> None:
    def raises(*_: Any) -> Any:
        raise RuntimeError("not my day")

    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=raises, summarizer=raises, **SETTINGS)
        ask(client, turns(60))
        assert provider.refused == []


@pytest.mark.parametrize(
    "fields",
    [
        {"input": "Why is it so?"},
        {"input": [user("Why?"), *turns(40)], "previous_response_id": "resp_1"},
        {"input": [user("Why?"), *turns(40)], "conversation": "conv_1"},
    ],
    ids=["a text", "goes on from a reply", "kept by the provider"],
)
def test_what_is_no_history_or_stands_at_the_provider_passes_through(fields: Item) -> None:
    reply = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "completed"}
    with Provider(status(200, reply)) as provider:
        client_of(provider, window=2_000).responses.create(model="gpt-5", **fields)
        assert provider.requests[0].body == {"model": "gpt-5", **fields}


def test_other_calls_pass_through() -> None:
    data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
    with Provider(status(200, {"object": "list", "data": data, "model": "m"})) as provider:
        reply = client_of(provider).embeddings.create(model="m", input=["one", "two"], encoding_format="float")
        assert reply.data[0].embedding == [0.5]
        assert provider.requests[0].body["input"] == ["one", "two"]


def test_what_is_no_client_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"wrap: client: no client of openai, .*, but a list"):
        foldline.wrap([])


@pytest.mark.parametrize("setting", [{"session": None}, {"format": "anthropic"}, {"window": -1}, {"policy": "no such"}])
def test_settings_that_cannot_be_used_are_refused_when_it_is_wrapped(setting: Item) -> None:
    with pytest.raises(ConfigError), closing(openai.OpenAI(api_key="none")) as client:
        foldline.wrap(client, **setting)


# -- overflows -----------------------------------------------------------------------------------------------------

REFUSED = [(name, body, code, tokens or 9_000) for name, body, code, _, tokens in TOO_LONG if code and code >= 400]
ALIKE = [(name, body, code) for name, body, code in OTHERS if code and code >= 400]


def as_large_as(tokens: int) -> list[Item]:
    """A history of some calls whose outputs are about so many tokens together, and a question."""
    history = [user("Read them all.")]
    for n in range(16):
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{n}"}}'}}
        output = "1,2,3,4,5,6,7,8\n" * (tokens // 16 // 16)
        history += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": output},
        ]
    return [*history, assistant("Done."), user("And now?")]


@pytest.mark.parametrize(("name", "body", "code", "tokens"), REFUSED, ids=[case[0] for case in REFUSED])
def test_each_overflow_is_recovered_once_and_the_call_sent_again(name: str, body: Any, code: int, tokens: int) -> None:
    with Provider(status(code, body), answers("Done.")) as provider:
        client = client_of(provider, window=2_000_000)
        assert ask(client, as_large_as(tokens)).choices[0].message.content == "Done."
        first, second = map(sent_in, provider.requests)
    assert len(json.dumps(second)) < len(json.dumps(first)) * 0.8
    assert second[-1] == first[-1]


@pytest.mark.parametrize(("name", "body", "code"), ALIKE, ids=[name for name, _, _ in ALIKE])
def test_what_looks_alike_is_raised_as_it_came(name: str, body: Any, code: int) -> None:
    body = body.decode() if isinstance(body, bytes) else body
    with Provider(status(code, body)) as provider:
        with pytest.raises(openai.APIStatusError) as raised:
            ask(client_of(provider), turns(40))
        assert raised.value.status_code == code
        assert len(provider.requests) == 1


def refuses_above(limit: int, body: Callable[[int], Any]) -> Any:
    """Answers what has at most so many tokens by our count, with a bill, and refuses the rest with the body for its size."""

    def reply(handler: Any, asked: Request) -> None:
        tokens = size(sent_in(asked))
        ok = answers("Done.", input_tokens=tokens, output_tokens=2)
        (ok if tokens <= limit else status(400, body(tokens)))(handler, asked)

    return reply


def five_at_once(url: str) -> None:
    """Five threads that send one history through one client at the same time, and a call behind them."""
    with closing(openai.OpenAI(base_url=url, api_key="none", max_retries=0)) as client:
        wrapped = foldline.wrap(client, window=1_000_000)
        together = threading.Barrier(5)

        def work() -> None:
            together.wait()
            ask(wrapped, as_large_as(17_000))

        with ThreadPoolExecutor(5) as pool:
            for done in [pool.submit(work) for _ in range(5)]:
                done.result()
        ask(wrapped, as_large_as(17_000))


def five_awaited(url: str) -> None:
    """The same by five tasks."""

    async def work() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            wrapped = foldline.wrap(client, window=1_000_000)
            create = wrapped.chat.completions.create
            await asyncio.gather(*(create(model="gpt-5", messages=as_large_as(17_000)) for _ in range(5)))
            await create(model="gpt-5", messages=as_large_as(17_000))

    asyncio.run(work())


UNSTATED = {"error": {"message": "Your input exceeds the context window.", "code": "context_length_exceeded"}}


@pytest.mark.parametrize("work", [five_at_once, five_awaited])
@pytest.mark.parametrize(
    ("limit", "body"), [(6_000, lambda tokens: overflow(6_000, tokens)), (15_000, lambda _: UNSTATED)]
)
def test_calls_that_are_refused_at_the_same_time_are_each_answered_by_one_fold(
    work: Any, limit: int, body: Any
) -> None:
    with Provider(refuses_above(limit, body)) as provider:
        work(provider.url)
        sizes = {size(sent_in(asked)) for asked in provider.requests}
    assert len(sizes) == 2
    assert min(sizes) <= limit < max(sizes)


def test_a_second_overflow_is_the_callers() -> None:
    with Provider(status(400, overflow(3_000, 9_000))) as provider:
        with pytest.raises(openai.BadRequestError):
            ask(client_of(provider), turns(40))
        assert len(provider.requests) == 2


def test_an_overflow_that_no_fold_helps_is_the_providers_own_error_with_a_note() -> None:
    system = {"role": "system", "content": "It must be so. " * 3_000}
    with Provider(status(400, overflow(3_000, 9_000))) as provider:
        with pytest.raises(openai.BadRequestError) as raised:
            ask(client_of(provider), [system, user("Why?")])
        assert len(provider.requests) == 1
    assert any("cannot fit" in note for note in raised.value.__notes__)


def test_a_reply_that_broke_off_since_the_window_was_full_is_asked_for_again() -> None:
    full = answers("Half of", stop="model_context_window_exceeded", input_tokens=9_000, output_tokens=2)
    with Provider(full, answers("Done.", input_tokens=2_000, output_tokens=2)) as provider:
        client = foldline.wrap(anthropic_sdk.Anthropic(base_url=provider.root, api_key="none", max_retries=0))
        reply = client.messages.create(model="claude-sonnet-5", max_tokens=1_000, messages=turns(40))
        assert reply.content[0].text == "Done."
        assert len(sent_in(provider.requests[1])) < len(sent_in(provider.requests[0]))


def test_an_overflow_is_recovered_where_the_call_is_awaited() -> None:
    async def work(url: str) -> Any:
        async with foldline.wrap(anthropic_sdk.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)) as client:
            return await client.messages.create(model="claude-sonnet-5", max_tokens=1_000, messages=turns(40))

    too_long = status(400, anthropic("prompt is too long: 9000 tokens > 4000 maximum"))
    with Provider(too_long, answers("Done.", input_tokens=2_000, output_tokens=2)) as provider:
        assert asyncio.run(work(provider.root)).content[0].text == "Done."
        assert len(provider.requests) == 2


def test_the_limit_that_an_overflow_taught_is_kept_by_the_next_call() -> None:
    with Provider(status(400, overflow(3_000, 9_000)), answers("Done.")) as provider:
        client = client_of(provider)
        ask(client, turns(40))
        ask(client, [*turns(40), *turns(10, first=40)])
        assert len(provider.requests) == 3
        assert len(json.dumps(sent_in(provider.requests[2]))) // 4 < 3_000


# -- conversations -------------------------------------------------------------------------------------------------


def grown(name: str, count: int) -> list[Item]:
    return [user(f"{name}, begin."), assistant("At once."), *turns(count)]


def test_conversations_that_take_turns_do_not_disturb_each_other() -> None:
    heard = Heard()
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)
        for count in range(10, 61, 10):
            for name in ("one", "two", "three"):
                ask(client, grown(name, count))
        assert provider.refused == []
        for name, sent in zip(("one", "two", "three"), provider.provider.requests[-3:]):
            assert f"{name}, begin." in sent.text
    assert heard.of(Rewound) == []
    folds = [event.fold for event in heard.of(Folded)]
    assert len(folds) % 3 == 0
    dropped = [tuple(edit.drop for edit in fold.edits) for fold in folds]
    assert len(set(dropped)) == len(dropped), "a fold was made twice"


def test_conversations_that_begin_alike_are_told_apart_by_how_they_go_on() -> None:
    heard = Heard()
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)
        for count in range(10, 61, 10):
            for name in ("one", "two"):
                ask(client, [user("Hello."), *grown(name, count)])
        assert provider.refused == []
    assert heard.of(Rewound) == []


def test_a_named_conversation_is_one_whatever_it_begins_with() -> None:
    heard = Heard()
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)
        with foldline.conversation("first"):
            ask(client, turns(60))
            ask(client, [user("It is ten o'clock."), *turns(60)[1:]])
        with foldline.conversation("second"):
            ask(client, turns(60))
    assert len(heard.of(Rewound)) == 1
    assert len(heard.of(Folded)) == 3


def test_a_conversation_that_parts_from_another_keeps_its_folds() -> None:
    heard = Heard()
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)
        shared = turns(60)
        ask(client, shared)
        summaries = len(heard.of(Folded))
        ask(client, [*shared, *(user(f"One {n}") if n % 2 == 0 else assistant("Yes.") for n in range(8))])
        ask(client, [*shared, *(user(f"Two {n}") if n % 2 == 0 else assistant("No.") for n in range(8))])
        one, two = (sent_in(sent) for sent in provider.provider.requests[-2:])
    assert summaries == len(heard.of(Folded)) == 1
    assert [a == b for a, b in zip(one, two)].index(False) > 3


def test_threads_share_a_client() -> None:
    heard = Heard()
    failed: list[BaseException] = []
    with Strict(WINDOW) as provider:
        client = client_of(provider, on_event=heard, **SETTINGS)

        def work(name: str) -> None:
            try:
                for count in range(10, 61, 10):
                    ask(client, grown(name, count))
            except BaseException as error:  # noqa: BLE001
                failed.append(error)

        workers = [threading.Thread(target=work, args=(f"thread {n}",)) for n in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert failed == provider.refused == []
    assert heard.of(Rewound) == []


def test_tasks_share_a_client_and_each_has_its_conversation() -> None:
    async def work(client: Any, name: str) -> None:
        with foldline.conversation(name):
            for count in range(10, 61, 25):
                await client.chat.completions.create(model="gpt-5", messages=turns(count))

    async def all_of_them(url: str) -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            wrapped = foldline.wrap(client, on_event=heard, **SETTINGS)
            await asyncio.gather(*(work(wrapped, name) for name in ("one", "two", "three")))

    heard = Heard()
    with Strict(WINDOW) as provider:
        asyncio.run(all_of_them(provider.provider.url))
        assert provider.refused == []
    assert heard.of(Rewound) == []
    assert len(heard.of(Folded)) % 3 == 0 < len(heard)


def test_as_many_conversations_are_remembered_as_are_asked_for() -> None:
    folds = []
    for most in (1, 2):
        heard = Heard()
        with Provider(answers("Done.")) as provider:
            client = client_of(provider, window=4_000, most=most, on_event=heard)
            for name in ("one", "two", "one", "two"):
                ask(client, grown(name, 30))
        folds.append(len(heard.of(Folded)))
    assert folds == [4, 2]


def test_another_model_has_a_window_of_its_own() -> None:
    with Provider(answers("Done.")) as provider:
        client = client_of(provider)
        history = as_large_as(200_000)
        ask(client, history, model="gpt-5")
        ask(client, history, model="gpt-4o")
        large, small = map(sent_in, provider.requests)
    assert large == history
    assert len(json.dumps(small)) < len(json.dumps(large)) * 0.8
