"""The paper workflow's compaction (seed document 5): each audited point, with the words of the document that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, groupby, islice
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import conversations
from foldline import (
    Brief,
    Compactor,
    ConfigError,
    Message,
    ModelSummarizer,
    Session,
    Skipped,
    SummaryFailed,
    SummaryFellBack,
)
from foldline.extend import Draft, Model, preset
from provider_rules import check_valid
from providers import Provider
from providers import says as replies
from talk import runs, says, user
from test_properties import (
    SUMMARIZERS,
    Setting,
    a_second_fit_changes_nothing,
    everything_folded_can_be_recalled,
    pins_stay_byte_for_byte,
    steps,
    what_is_untouched_is_the_same_object_and_nothing_grows,
)

STAGES = (
    "Gagasan", "Topik", "Outline", "Abstrak", "Pendahuluan", "Tinjauan Literatur", "Metodologi", "Hasil", "Diskusi",
    "Kesimpulan", "Daftar Pustaka", "Lampiran", "Judul",
)  # fmt: skip
"""The thirteen stages of a paper."""

PASSING = (
    "ok",
    "ya",
    "lanjut",
    "oke siap",
    "ok lanjut",
    "baik",
    "sip",
    "setuju",
    "terima kasih",
    "mantap",
    "ya lanjutkan",
    "paham",
)

TALK = """
fokuskan pada dampak media sosial terhadap remaja kota lalu tambahkan data survei nasional tahun lalu metode campuran lebih
cocok karena sampel kecil hubungkan temuan dengan teori pembelajaran rujukan utama dari jurnal terakreditasi lima tahun terakhir
"""


def discussion(messages: int, *, passing: Sequence[int] = (), words: int = 20, of: str = "") -> list[Message]:
    """So many messages, the user's and the agent's in turn; at the places `passing` the user says something in passing."""
    said, chat = cycle(TALK.split()), cycle(PASSING)
    told = (f"{of} {at} " + " ".join(islice(said, words)) for at in range(messages))
    texts = (next(chat) if at in passing else text for at, text in enumerate(told))
    return [says(text) if at % 2 else user(text) for at, text in enumerate(texts)]


def filled(compactor: Compactor) -> float:
    """How full the window is after the last `fit`."""
    return compactor.count.tokens / compactor.budget.window


def window_for(messages: Sequence[Message], fill: float) -> int:
    """The window that some messages fill to a share."""
    measured = Compactor(window=1_000_000, policy="paper")
    measured.fit(messages)
    return round(measured.count.tokens / fill)


def paper(window: int, **more: Any) -> Compactor:
    return Compactor(**{"window": window, "reserve": 0, "policy": "paper", **more})


def told(compactor: Compactor) -> list[str]:
    """The strategies that edited the history, in turn."""
    return [by for by, _ in groupby(edit.by for fold in compactor.folds for edit in fold.edits)]


def decisions(digests: Sequence[Message]) -> list[str]:
    """What stands in the digests of stages."""
    return [message.text.partition("] ")[2] for message in digests]


def staged(compactor: Compactor, stages: dict[str, list[Message]]) -> list[Message]:
    """A conversation that works at the stages in turn and closes all but the last; it is fitted as it grows."""
    messages: list[Message] = []
    for name in stages:
        compactor.stage(name)
        messages += stages[name]
        compactor.fit(messages)
        if name != list(stages)[-1]:
            compactor.close_stage(name, digest=f"Keputusan {name}: disetujui.")
    return messages


# -- when ------------------------------------------------------------------------------------------------------------


def test_compaction_is_triggered_at_85_percent_of_the_context_window() -> None:
    """ "COMPACTION_TRIGGER = 0.85  // 85% of context window"."""
    messages = discussion(60, passing=range(10, 30))
    below, above = (paper(window_for(messages, fill)) for fill in (0.84, 0.86))
    assert [*map(id, below.fit(messages))] == [*map(id, messages)]
    assert len(above.fit(messages)) < len(messages)


def test_the_trigger_is_configurable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """ "Configurable via `aiProviderConfigs` (same pattern as `primaryContextWindow`)"."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOLDLINE_POLICY", "paper")
    monkeypatch.setenv("FOLDLINE_COMPACTION__AUTO_THRESHOLD_PERCENT", "70")
    messages = discussion(120, words=60)
    below, above = (
        Compactor.from_settings(window=window_for(messages, fill), reserve=0, summarizer=points())
        for fill in (0.69, 1.4)
    )
    assert len(below.fit(messages)) == len(messages)
    above.fit(messages)
    assert told(above)[-1] == "keep_newest"
    assert filled(above) <= 0.70


@pytest.mark.parametrize(("named", "share"), [({"model": "gemini-2.5-flash"}, 0.026), ({"window": 128_000}, 0.2)])
def test_the_window_is_the_models_or_the_one_that_is_stated(named: dict[str, Any], share: float) -> None:
    """ "With Gemini 2.5 Flash (1M context) this is ~2.6% usage. With 128K default window, ~20%." of ~26,500 tokens."""
    assert 26_500 / Compactor(**named, policy="paper").budget.limit == pytest.approx(share, rel=0.04)


def test_nothing_happens_below_the_trigger() -> None:
    """ "→ Under 85% threshold → NO compaction triggered → Full context preserved"."""
    stages = {name: discussion(20, passing=[4], of=name) for name in STAGES[:8]}
    compactor = paper(30_000)
    messages = staged(compactor, stages)
    assert [*map(id, compactor.fit(messages))] == [*map(id, messages)]
    assert compactor.folds == []


# -- the worked flows ------------------------------------------------------------------------------------------------


def test_a_heavy_discussion_at_87_percent_loses_only_what_was_said_in_passing() -> None:
    """ "P1: Strip chitchat → removes 12 "ok"/"ya" messages → ~108,500 tokens (85%) → STOP … Full context minus 12 chitchat messages"."""
    sizes = [18, 17, 13, 20, 20, 20, 20, 20, 22, 25, 25]
    passing = {0: [4], 1: [4], 2: [4], 3: [6], 4: [6], 5: [6], 6: [6], 7: [6], 8: [6, 10], 9: [6, 10]}
    parts = {
        name: discussion(size, passing=passing.get(n, []), words=3, of=str(n))
        for n, (name, size) in enumerate(zip(STAGES, sizes))
    }
    messages = [message for part in parts.values() for message in part]
    assert len(messages) == 220
    compactor = paper(window_for(messages, 0.87))
    staged(compactor, parts)
    sent = compactor.fit(messages)
    gone = [message.text for message in messages if message not in sent]
    assert len(gone) == 12
    assert set(gone) <= set(PASSING)
    assert told(compactor) == ["strip_chitchat"]
    assert 0.80 < filled(compactor) <= 0.85


def test_an_extreme_case_at_92_percent_has_the_two_oldest_stages_as_digests() -> None:
    """ "Stages 1-2 replaced by paperMemoryDigest entries. Stages 3+ still have full messages. Current stage untouched."."""
    sizes = [18, 17, 13, 20, 20, 20, 20, 20, 22, 25, 25]
    parts = {
        name: discussion(size, passing=[4, 8], words=8 if n < 2 else 18, of=str(n))
        for n, (name, size) in enumerate(zip(STAGES, sizes))
    }
    messages = [message for part in parts.values() for message in part]
    compactor = paper(window_for(messages, 0.92))
    staged(compactor, parts)
    sent = compactor.fit(messages)
    assert told(compactor) == ["strip_chitchat", "digest_stages"]
    assert decisions([message for message in sent if message not in messages]) == [
        f"Keputusan {name}: disetujui." for name in STAGES[:2]
    ]
    later = [message for name in STAGES[2:11] for message in parts[name]]
    assert sent[2:] == [message for message in later if message.text not in PASSING]
    assert 0.80 < filled(compactor) <= 0.85


def test_no_summary_is_prepared_ahead_while_what_goes_before_it_may_be_enough() -> None:
    """ "Run priorities **sequentially**. Stop as soon as tokens drop below 85%"."""
    messages = discussion(80, passing=range(10, 22, 2), words=4)
    asked: list[Sequence[Message]] = []
    compactor = paper(window_for(messages, 0.86), ahead=0.3, summarizer=points(asked))
    for stop in range(60, 81, 4):
        sent = compactor.fit(messages[:stop])
    assert not compactor.preparing
    assert asked == []
    assert len(sent) == 74


def test_general_chat_of_80_messages_at_86_percent_loses_what_was_said_in_passing() -> None:
    """ "Not paper mode → P2/P4 skipped. P1: Strip chitchat → removes 6 messages → ~84% → STOP. Result: 74 messages"; "Each priority
    re-estimates tokens after execution"."""
    messages = discussion(80, passing=range(10, 22, 2), words=4)
    compactor = paper(window_for(messages, 0.86))
    sent = compactor.fit(messages)
    assert len(sent) == 74
    assert told(compactor) == ["strip_chitchat"]
    assert filled(compactor) <= 0.85


def test_general_chat_of_120_messages_at_91_percent_has_its_oldest_20_summarized() -> None:
    """ "P3: LLM summarize oldest 20 messages → 1 summary system message → ~82% → STOP. Result: 1 summary + 94 recent messages."."""
    messages = discussion(120, passing=range(30, 42, 2), words=8)
    asked: list[Sequence[Message]] = []
    compactor = paper(window_for(messages, 0.91), summarizer=points(asked))
    sent = compactor.fit(messages)
    assert [[message.text for message in messages[:20]]] == [[message.text for message in each] for each in asked]
    assert len(sent) == 95
    assert sent[1:] == [message for message in messages[20:] if message.text not in PASSING]
    assert filled(compactor) <= 0.85


def test_a_summary_stands_as_a_system_message_of_3_to_5_points_in_indonesian_and_its_cost_is_known() -> None:
    """ "LLM summarize via Gemini Flash → 3-5 bullet points (Indonesian). Replace with 1 system message `[RINGKASAN DISKUSI SEBELUMNYA]`"."""
    messages = [{"role": message.role, "content": message.text} for message in discussion(120, words=30)]
    many = "\n".join(f"- Poin {n}." for n in range(7))
    with Provider(replies(many), replies(POINTS)) as provider:
        summarizer = ModelSummarizer("openai:gpt-4o-mini", base_url=provider.url, api_key="k")
        compactor = paper(window_for(discussion(120, words=30), 0.90), summarizer=summarizer)
        first, *rest = compactor.fit(messages)
    assert first["role"] == "system"
    assert first["content"].startswith(f"[RINGKASAN DISKUSI SEBELUMNYA]\n{POINTS}\n\n[folded: 20 messages")
    assert rest == messages[20:]
    asked, again = (request.text for request in provider.requests)
    assert "Write 3 to 5 points" in asked
    assert "Write in Indonesian." in asked
    assert "the summary had 7 points where 3 to 5 were asked for" in again
    receipt = compactor.folds[0].receipt
    assert receipt.usage is not None
    assert receipt.calls == 2
    assert receipt.cost is not None
    assert 0 < receipt.cost < 0.01


def test_without_a_model_the_points_are_what_the_agent_said_in_its_turns() -> None:
    messages = discussion(120, words=8)
    sent = paper(window_for(messages, 0.88)).fit(messages)
    lines = sent[0].text.split("\n\n")[0].splitlines()
    assert lines == [f"- {messages[at].text.strip()}" for at in (1, 5, 9, 15, 19)]


def test_the_next_points_carry_on_those_before_them() -> None:
    messages = discussion(120, words=8)
    compactor = paper(window_for(messages, 0.88))
    first, *_ = compactor.fit(messages)
    messages += discussion(24, words=8, of="lagi")
    second, *_ = compactor.fit(messages)
    assert len(compactor.folds) == 2
    points = second.text.split("\n\n")[0].splitlines()
    assert len(points) == 5
    assert points[0] == first.text.splitlines()[0]
    assert "folded" not in " ".join(points)


POINTS = "- Topik dipersempit ke media sosial.\n- Metode campuran dipilih.\n- Rujukan dari lima tahun terakhir."


def points(asked: list[Sequence[Message]] | None = None) -> Any:
    """A model that sums up a discussion."""

    def summarize(brief: Brief, messages: Sequence[Message]) -> Draft:
        if asked is not None:
            asked.append(messages)
        return Draft(POINTS)

    return summarize


# -- P1 --------------------------------------------------------------------------------------------------------------

STAY = [
    (says("Kerangka ini disetujui?"), user("ya")),
    (says("Pilih gaya sitasi?\n1. APA\n2. MLA"), user("ok")),
    (says("Sudah saya tulis."), user("ya?")),
    (says("Sudah saya tulis."), user("lanjut!")),
    (says("Sudah saya tulis."), user("pakai APA")),
    (says("Sudah saya tulis."), user("Bab 3 saja")),
    (says("Sudah saya tulis."), user("tidak")),
    (says("Sudah saya tulis."), says("ok")),
    (says("Sudah saya tulis."), user("ok " * 20)),
]


def stripped(before: Message, message: Message, **more: Any) -> bool:
    """Whether a message behind another one is stripped from a window that is too full."""
    messages = [*discussion(4), before, message, *discussion(40, words=6), *[user("ok"), says("Selesai.")] * 4]
    compactor = paper(window_for(messages, 0.855), **more)
    sent = compactor.fit(messages)
    assert len(sent) <= len(messages) - 4
    return sum(each is message for each in sent) == 0


@pytest.mark.parametrize(("before", "message"), STAY, ids=lambda message: message.text[:20])
def test_what_asks_orders_answers_or_is_a_reply_is_never_stripped(before: Message, message: Message) -> None:
    """ "User messages < 15 chars that are NOT questions and NOT commands. Keep assistant responses (they contain substance)"."""
    assert not stripped(before, message)


def test_a_pin_and_the_last_message_are_never_stripped() -> None:
    before, message = says("Sudah saya tulis."), user("oke siap")
    assert stripped(before, message)
    assert not stripped(before, message, pinned=lambda each: each is message)
    messages = [*discussion(60, passing=range(10, 30)), user("lanjut")]
    assert paper(window_for(messages, 0.86)).fit(messages)[-1] is messages[-1]


@pytest.mark.parametrize(
    "text",
    ["ok", "ya", "lanjut", "Okay, thanks", "got it 👍", "terima kasih", "好的，谢谢", "了解です", "네 알겠습니다", "vale, gracias",
     "alles klar", "d’accord", "obrigado", "شكرا لك", "ठीक है"],
)  # fmt: skip
def test_what_is_said_in_passing_is_known_in_eleven_languages(text: str) -> None:
    """ "Only strip user-side confirmations ("ok", "ya", "lanjut", etc.)"."""
    assert stripped(says("Sudah saya tulis."), user(text))


# -- P2 to P5 --------------------------------------------------------------------------------------------------------


def worked(words: int = 20, last: int = 20) -> dict[str, list[Message]]:
    """Six stages of a paper, the last of which is being worked at."""
    sizes = [20, 20, 20, 20, 20, last]
    return {name: discussion(size, words=words, of=name) for name, size in zip(STAGES, sizes)}


def fitted(
    stages: dict[str, list[Message]], fill: float, **more: Any
) -> tuple[Compactor, list[Message], list[Message]]:
    """A compactor over staged work that fills its window to a share, its messages, and what the model sees of them."""
    roomy = paper(1_000_000)
    messages = staged(roomy, stages)
    compactor = paper(window_for(messages, fill), **more)
    compactor.load(roomy.dump())
    return compactor, messages, compactor.fit(messages)


def test_the_messages_of_the_current_stage_are_summarized_where_the_closed_ones_are_not_enough() -> None:
    """ "Paper mode: Summarize oldest messages **within current stage only**"."""
    stages = worked(last=200)
    asked: list[Sequence[Message]] = []
    compactor, _, sent = fitted(stages, 0.99, summarizer=points(asked))
    assert told(compactor) == ["digest_stages", "summarize_oldest"]
    assert [message.text for message in asked[0]] == [message.text for message in stages[STAGES[5]][:20]]
    assert sent[-180:] == stages[STAGES[5]][20:]
    assert stages[STAGES[2]][0] in sent


def test_a_failed_summary_goes_on_to_the_recent_stages() -> None:
    """ "**Fallback:** If LLM call fails → skip P3, continue to P4/P5"."""

    def fail(brief: Brief, messages: Sequence[Message]) -> str:
        raise SummaryFailed("no model today")

    heard: list[Any] = []
    stages = worked(last=200)
    compactor, _, sent = fitted(stages, 0.99, summarizer=fail, on_event=heard.append)
    assert told(compactor) == ["digest_stages"]
    assert [event for event in heard if isinstance(event, SummaryFellBack)]
    assert sent[-200:] == stages[STAGES[5]]
    assert decisions(sent[:3]) == [f"Keputusan {name}: disetujui." for name in STAGES[:3]]


def test_recent_stages_are_folded_too_before_anything_is_cut() -> None:
    """ "P4: Same as P2 but now compact **more recent** stages. Last resort before brute prune."."""
    stages = worked(last=40)
    compactor, _, sent = fitted(stages, 1.5, summarizer=points())
    assert told(compactor) == ["digest_stages", "summarize_oldest", "digest_stages"]
    assert decisions(sent[:3]) == [f"Keputusan {name}: disetujui." for name in STAGES[:3]]
    assert stages[STAGES[4]][0] in sent
    assert sent[-20:] == stages[STAGES[5]][20:]


def test_at_last_the_last_50_messages_are_kept() -> None:
    """ "P5: Keep last 50 messages, discard rest."; "Existing 80% brute prune remains as last-resort safety net"."""
    messages = discussion(120, words=60)
    compactor = paper(window_for(messages, 1.6), summarizer=points())
    sent = compactor.fit(messages)
    assert told(compactor)[-1] == "keep_newest"
    assert sent[-50:] == messages[-50:]
    assert len(sent) == 51
    assert filled(compactor) <= 0.80
    for id, message in compactor.messages():
        assert compactor.recall(id) == message


@pytest.mark.parametrize(("fill", "left"), [(0.84, 0.84), (1.6, 0.80), (4.0, 0.80)])
def test_the_net_brings_down_to_80_percent_what_nothing_else_did_and_is_not_in_the_way_before(
    fill: float, left: float
) -> None:
    """ "BRUTE_PRUNE_TRIGGER = 0.80 // existing safety net (no change)"; "Brute prune (existing, 80% threshold)"."""
    messages = discussion(120, words=60)
    compactor = paper(window_for(messages, fill), summarizer=points())
    sent = compactor.fit(messages)
    assert filled(compactor) <= left + 0.005
    assert (sent == messages) == (fill < 0.85)


# -- the memory digest and the stages' data -------------------------------------------------------------------------------

HEADING = "MEMORY DIGEST (keputusan tersimpan per tahap):"


def test_the_memory_digest_is_there_at_all_times() -> None:
    """ "**When visible in prompt:** Always — even without compaction active. ~2.6K char max (200 char × 13 stages)"."""
    compactor = paper(100_000)
    assert compactor.digest(HEADING) == ""
    messages: list[Message] = []
    for name in STAGES:
        compactor.stage(name)
        messages += discussion(4, of=name)
        compactor.fit(messages)
        compactor.close_stage(name, digest=f"Keputusan {name}: " + "panjang sekali " * 40)
    heading, *lines = compactor.digest(HEADING).split("\n")
    assert heading == HEADING
    assert [line.partition(": ")[0] for line in lines] == [f"- {name}" for name in STAGES]
    assert all(len(line) <= 200 + len(f"- {name}: ") for name, line in zip(STAGES, lines))
    before = compactor.digest(HEADING)
    compactor.fold_to(messages, 1_500)
    assert compactor.folds
    assert compactor.digest(HEADING) == before


def test_a_rewind_supersedes_the_digest_of_its_stage() -> None:
    """ "Entries marked `superseded: true` on rewind … .filter(d => !d.superseded)"."""
    compactor = paper(100_000)
    staged(compactor, worked())
    assert "- Outline: Keputusan Outline: disetujui." in compactor.digest()
    compactor.reopen("Outline")
    assert "Outline" not in compactor.digest()
    compactor.close_stage("Outline", digest="Enam bab.")
    assert "- Outline: Enam bab." in compactor.digest()


def test_a_rewind_takes_back_the_digest_that_stands_in_the_history() -> None:
    compactor, messages, sent = fitted(worked(), 1.05)
    assert decisions(sent[:2]) == [f"Keputusan {name}: disetujui." for name in STAGES[:2]]
    compactor.reopen(STAGES[0])
    rewound = compactor.fit(messages)
    assert "reopened" in rewound[0].text
    assert decisions(rewound[:2]) == ["", f"Keputusan {STAGES[1]}: disetujui."]
    assert rewound[2:] == sent[2:]
    messages += discussion(10, of="lagi")
    assert compactor.fit(messages)[-10:] == messages[-10:]


def test_a_stage_that_is_reopened_and_closed_anew_at_once_leaves_no_old_digest_in_the_history() -> None:
    compactor, messages, _ = fitted(worked(), 1.05)
    compactor.reopen(STAGES[0])
    compactor.close_stage(STAGES[0], digest="Tema lain.")
    sent = compactor.fit(messages)
    assert "Keputusan Gagasan" not in "".join(message.text for message in sent)
    assert compactor.digest().split("\n")[1] == "- Gagasan: Tema lain."
    folds = len(compactor.folds)
    assert compactor.fit(messages) == sent
    assert len(compactor.folds) == folds


LISTS = {"Referensi": [f"Penulis {n} (2024)" for n in range(9)], "Kutipan": ["satu", "dua"]}


def noted(compactor: Compactor) -> dict[str, str]:
    """The notes of the stages, by the stage."""
    return {note.partition("\n")[0][3:]: note.partition("\n")[2] for note in compactor.stage_notes().split("\n\n")}


def closed_in_detail(compactor: Compactor, names: Sequence[str], words: int = 20) -> list[Message]:
    """A conversation whose stages are closed with all that there is to say of them."""
    messages: list[Message] = []
    for name in names:
        compactor.stage(name)
        messages += discussion(20, words=words, of=name)
        compactor.fit(messages)
        compactor.close_stage(name, digest="r" * 400, detail="d" * 1_400, lists=LISTS)
    return messages


def test_the_three_newest_stages_are_told_in_detail_and_lists_are_capped() -> None:
    """ "last 3 completed stages get `ringkasanDetail`, rest get 280-char `ringkasan`. Cap 5 refs + 5 citations per stage."."""
    compactor = paper(100_000)
    closed_in_detail(compactor, STAGES[:5])
    notes = noted(compactor)
    assert list(notes) == list(STAGES[:5])
    first = {name: note.partition("\n")[0] for name, note in notes.items()}
    assert [len(first[name]) for name in STAGES[:5]] == [280, 280, 1_000, 1_000, 1_000]
    assert all("Penulis 4 (2024)" in note and "Penulis 5 (2024)" not in note for note in notes.values())
    assert all("Kutipan: satu; dua" in note for note in notes.values())


def test_the_notes_shrink_to_280_characters_once_recent_stages_are_folded() -> None:
    """ "P4 active: **all** stages get `ringkasan` only (280 char each)"."""
    roomy = paper(1_000_000)
    messages = [*closed_in_detail(roomy, STAGES[:5]), *discussion(6)]
    compactor = paper(window_for(messages, 2.0), summarizer=points())
    compactor.load(roomy.dump())
    compactor.fit(messages)
    assert told(compactor)[-1] == "digest_stages"
    assert {len(note.partition("\n")[0]) for note in noted(compactor).values()} == {280}


# -- where a stage begins and ends ----------------------------------------------------------------------------------------


def test_approval_alone_gives_a_stage_its_messages() -> None:
    """ "`stageMessageBoundaries` … Populated during `approveStage` mutation."."""
    compactor = paper(1_000_000)
    messages: list[Message] = []
    for name in STAGES[:5]:
        messages += discussion(20, of=name)
        compactor.fit(messages[:-1])
        compactor.close_stage(name, digest=f"Keputusan {name}: disetujui.")
    messages += discussion(20, of="sekarang")
    compactor.fit(messages)
    small = paper(window_for(messages, 1.05))
    small.load(compactor.dump())
    sent = small.fit(messages)
    assert decisions(sent[:2]) == [f"Keputusan {name}: disetujui." for name in STAGES[:2]]
    assert all("20 messages" in digest.text for digest in sent[:2])
    assert sent[2:] == messages[40:]


def test_a_stage_that_is_begun_amid_a_turn_begins_behind_what_was_being_done() -> None:
    compactor = paper(1_000_000)
    messages = discussion(20, of="Gagasan")
    compactor.stage("Gagasan")
    compactor.fit(messages)
    approve, answer = runs("approve", {"stage": "Gagasan"}, "disetujui")
    compactor.close_stage("Gagasan", digest="Media sosial.")
    compactor.stage("Topik")
    messages += [approve, answer, says("Gagasan selesai."), *discussion(80, of="Topik")]
    compactor.fit(messages)
    small = paper(window_for(messages, 1.2), summarizer=points())
    small.load(compactor.dump())
    sent = small.fit(messages)
    assert decisions(sent[:1]) == ["Media sosial."]
    assert "23 messages" in sent[0].text


def test_a_conversation_that_is_rewound_goes_on_at_the_stage_that_the_host_is_at() -> None:
    compactor, messages, _ = fitted(worked(), 0.8)
    rewound = [*messages[:30], *discussion(30, of="lain")]
    assert compactor.fit(rewound) == rewound
    compactor.close_stage(STAGES[5], digest="Tinjauan selesai.")
    assert compactor.digest().endswith("- Tinjauan Literatur: Tinjauan selesai.")
    compactor.undo()
    assert compactor.fit([*rewound, user("Lanjut ke metodologi.")])[-1].text == "Lanjut ke metodologi."


@pytest.mark.parametrize(
    ("say", "wrong"),
    [
        (lambda c: c.stage(""), "one line of words"),
        (lambda c: c.stage("Gagasan"), "reopen"),
        (lambda c: c.reopen("Hasil"), "there are: Gagasan"),
        (lambda c: c.close_stage("Hasil", lists={"Referensi": "satu"}), "a list of texts"),
    ],
)
def test_what_cannot_be_said_of_a_stage_is_refused_with_the_way_out(say: Any, wrong: str) -> None:
    compactor = paper(10_000)
    compactor.stage("Gagasan")
    compactor.close_stage("Gagasan", digest="Media sosial.")
    with pytest.raises(ConfigError, match=wrong):
        say(compactor)
    assert compactor.digest().endswith("- Gagasan: Media sosial.")


def test_a_stage_closed_without_a_digest_is_told_by_the_agents_last_words() -> None:
    compactor = paper(10_000)
    compactor.stage("Gagasan")
    compactor.fit([user("Mulai dari mana?"), says("Kita teliti media sosial.")])
    compactor.close_stage("Gagasan")
    assert compactor.digest(HEADING) == f"{HEADING}\n- Gagasan: Kita teliti media sosial."


def test_a_digest_made_of_the_agents_last_words_outlives_them(tmp_path: Path) -> None:
    stages = worked()
    window = window_for([message for part in stages.values() for message in part], 1.05)
    session = Session.create(tmp_path / "s.jsonl")
    compactor = paper(window, session=session)
    for name in stages:
        compactor.stage(name)
        for message in stages[name]:
            session.append(message)
        compactor.fit(session.context.messages)
        if name != STAGES[5]:
            compactor.close_stage(name)
    last = stages[STAGES[0]][-1].text
    assert last not in [message.text for message in session.context.messages]
    restarted = paper(window, session=Session(session.path))
    assert restarted.digest().split("\n")[1] == f"- Gagasan: {last}"


def labelled() -> list[Message]:
    return [
        message
        for name in STAGES[:5]
        for message in (user(f"[tahap: {name}] mulai"), *discussion(19, of=name)[1:], says(f"{name} selesai."))
    ]


def planned() -> list[Message]:
    """An agent that works through a plan of five items."""
    messages = [user("Tulis makalah.")]
    for n, name in enumerate(STAGES[:5]):
        todos = [
            {"content": each, "status": "completed" if i < n else "in_progress" if i == n else "pending"}
            for i, each in enumerate(STAGES[:5])
        ]
        messages += [
            *runs("TodoWrite", {"todos": todos}, id=f"t{n}"),
            *discussion(18, of=name),
            says(f"{name} selesai."),
        ]
    return messages


@pytest.mark.parametrize("messages", [labelled(), planned()], ids=["labels", "plan"])
def test_stages_are_read_off_labels_and_finished_plan_items_where_the_host_tells_none(messages: list[Message]) -> None:
    compactor = paper(window_for(messages, 0.92))
    sent = compactor.fit(messages)
    assert told(compactor) == ["digest_stages"]
    assert decisions([message for message in sent if message not in messages]) == ["Gagasan selesai."]
    lines = compactor.digest().split("\n")[1:]
    assert lines == [f"- {name}: {name} selesai." for name in STAGES[:4]]


# -- what survives ----------------------------------------------------------------------------------------------------------


def test_stages_survive_dump_and_load_and_undo() -> None:
    compactor, messages, sent = fitted(worked(), 1.05)
    other = paper(compactor.budget.window)
    other.load(compactor.dump())
    said = [message.text for message in sent]
    assert [message.text for message in other.fit(messages)] == said
    assert other.digest() == compactor.digest()
    assert other.undo()
    assert [message.text for message in other.fit(messages)] == said
    other.reopen(STAGES[0])
    assert "reopened" in other.fit(messages)[0].text


def test_stages_stand_in_the_log_of_a_session_and_a_new_process_goes_on_from_them(tmp_path: Path) -> None:
    stages = worked()
    messages = [message for part in stages.values() for message in part]
    window = window_for(messages, 1.05)
    path = Session.create(tmp_path / "s.jsonl").path
    for name in stages:
        paper(window, session=Session(path)).stage(name)
        session = Session(path)
        for message in stages[name]:
            session.append(message)
        paper(window, session=session).fit(session.context.messages)
        if name != STAGES[5]:
            paper(window, session=Session(path)).close_stage(name, digest=f"Keputusan {name}: disetujui.")
    shown = Session(path).context.messages
    assert decisions(shown[:2]) == [f"Keputusan {name}: disetujui." for name in STAGES[:2]]
    heard: list[Any] = []
    session = Session(path)
    restarted = paper(window, session=session, on_event=heard.append)
    assert restarted.digest().split("\n")[1:] == [f"- {name}: Keputusan {name}: disetujui." for name in STAGES[:5]]
    assert [entry.stage for entry in session.view().entries][2::20] == list(STAGES[2:6])
    restarted.reopen(STAGES[0])
    restarted.fit(session.context.messages)
    assert [event for event in heard if isinstance(event, Skipped)] == []
    again = Session(path)
    assert [message.text.partition(":")[0] for message in again.context.messages[:2]] == [
        f"[stage {STAGES[0]}, reopened",
        f"[stage {STAGES[1]}",
    ]
    assert [message.text for _, message in again.messages()][:20] == [message.text for message in stages[STAGES[0]]]
    assert paper(window, session=again).digest() == restarted.digest()


def test_what_folds_took_is_recalled_by_its_id_and_comes_back_by_undo() -> None:
    """The document discards; foldline's folds stay undoable and recallable all the same."""
    compactor, messages, sent = fitted(worked(), 1.6, summarizer=points())
    assert len(sent) < 60
    assert [message for _, message in compactor.messages()] == messages
    assert all(compactor.recall(id) == message for id, message in compactor.messages())
    while compactor.undo():
        pass
    assert compactor.folds == []
    assert compactor.digest()


def test_what_a_writer_rules_in_indonesian_stands_on_the_page() -> None:
    rules = ["Jangan ubah rumusan masalah.", "Selalu pakai gaya APA untuk daftar pustaka."]
    messages = [user("Halo, tolong bantu saya."), says("Baik."), user(" ".join(rules)), *discussion(61, words=40)[1:]]
    page = Compactor(window=20_000).fold_to(messages, 1_500)[0].text
    standing = page.partition("## Rules that stand\n")[2].partition("\n## ")[0]
    assert [line.removeprefix("- ") for line in standing.splitlines() if line] == rules


# -- the laws of every fold, over stages -------------------------------------------------------------------------------------


def goes_on(compactor: Compactor, what: str, stage: int) -> None:
    """What a host may say of its stages, in an order that is allowed."""
    closed = f"- stage {stage}:" in compactor.digest()
    match what:
        case "begin" if not closed:
            compactor.stage(f"stage {stage}")
        case "close":
            compactor.close_stage(f"stage {stage}", digest=f"Decided {stage}.")
        case "reopen" if closed:
            compactor.reopen(f"stage {stage}")


@hypothesis.settings(max_examples=12)
@given(data=st.data())
def test_whatever_a_host_says_of_its_stages_what_is_handed_out_is_valid_and_nothing_is_destroyed(
    data: st.DataObject,
) -> None:
    format = data.draw(st.sampled_from(("openai-chat", "anthropic", "bedrock-converse")))
    talk = data.draw(conversations(format))
    setting = Setting(
        data.draw(st.sampled_from((1_500, 2_500, 4_000))),
        preset("paper"),
        data.draw(st.sampled_from(SUMMARIZERS)),
        Model("free"),
    )
    heard: list[Any] = []
    compactor = setting.compactor(format, heard)
    skipped: list[Any] = []
    for step in steps(talk, compactor, heard):
        skipped += [event for event in heard if isinstance(event, Skipped)]
        a_second_fit_changes_nothing(compactor, step, heard)
        check_valid(step.history, step.sent)
        what_is_untouched_is_the_same_object_and_nothing_grows(talk, step)
        pins_stay_byte_for_byte(talk, step)
        sent = step
        goes_on(compactor, data.draw(st.sampled_from(("", "begin", "close", "reopen"))), data.draw(st.integers(1, 3)))
    assert skipped == []
    if compactor.folds:
        other = setting.compactor(format)
        other.load(compactor.dump())
        assert other.digest() == compactor.digest()
        assert other.fit(sent.history) == compactor.fit(sent.history)
    everything_folded_can_be_recalled(talk, compactor)
