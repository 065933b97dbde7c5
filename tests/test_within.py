"""A hard budget is held in the provider's tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from foldline import CannotFit, Compactor, Fold, Message, View
from foldline._compactor.within import fold_within
from foldline._tokens.exact import exact
from foldline._tokens.meter import TEXT_ERROR, Meter
from foldline._tokens.weigh import weigh_all, weigh_exactly
from foldline.extend import (
    Brief,
    Budget,
    Text,
    Thinking,
    decode_all,
    extract,
    model,
    replace,
    text_of,
    view_of,
    weigh,
)
from talk import runs, says, user

Item = dict[str, Any]

at_hand = exact("") is not None
"""Whether the vocabulary is on this machine."""


def size_of(messages: Sequence[Message]) -> int:
    """Tokens as a hard budget counts them: by the vocabulary where it is on this machine."""
    return weigh_exactly(messages) or sum(map(weigh, messages))


def dense(turns: int) -> list[Item]:
    """Tables and hashes, of which every estimate is wrong."""
    history: list[Item] = []
    for k in range(turns):
        rows = "\n".join(f"{n * 7919 % 9973:04x}{n * 104729 % 99991:05d};{k}.{n}" for n in range(60))
        call = {"name": "query", "arguments": json.dumps({"table": f"t{k}"})}
        history.append({"role": "user", "content": f"Read table t{k} for me."})
        calls = [{"id": f"c{k}", "type": "function", "function": call}]
        history.append({"role": "assistant", "content": None, "tool_calls": calls})
        history.append({"role": "tool", "tool_call_id": f"c{k}", "content": rows})
        history.append({"role": "assistant", "content": f"Table t{k} has 60 rows, the first is {rows[:12]}."})
    return history


@pytest.mark.parametrize("most", [600, 2_000, 8_000])
def test_a_hard_budget_is_kept_by_the_tokenizer_or_less_the_counts_own_error(most: int) -> None:
    compactor = Compactor("gpt-4o")
    messages = decode_all(compactor.fold_to(dense(30), most), "openai-chat")
    if at_hand:
        assert (weigh_exactly(messages) or 0) <= most
    else:
        assert sum(weigh_all(messages)) * (1 + TEXT_ERROR) <= most


def test_gpt_4_is_counted_by_its_own_vocabulary_where_that_is_here() -> None:
    messages = [Message("user", (Text("昨夜のジョブは二時半に止まりました。"),))]
    counted = exact("昨夜のジョブは二時半に止まりました。", "cl100k_base")
    assert weigh_exactly(messages, model("gpt-4").family) == (None if counted is None else counted + 4)


def test_what_fits_for_certain_is_left_as_it_is() -> None:
    history = dense(3)
    compactor = Compactor()
    compactor.fit(history)
    tokens = compactor.count.tokens
    assert compactor.fold_to(history, round(tokens * 1.2)) == history
    compactor.observe({"usage": {"prompt_tokens": tokens, "completion_tokens": 1}})
    assert compactor.fold_to(history, round(tokens * 1.01)) == history


def test_a_fold_that_the_tokenizer_finds_too_large_is_made_anew_and_smaller() -> None:
    asked: list[int] = []

    def fold(most: int) -> tuple[View, Fold]:
        asked.append(most)
        return view_of([Message("user", (Text("word " * (most - 4)),))], lambda m: m.text.count("word") + 4), Fold()

    def theirs(messages: Sequence[Message], family: str) -> int:
        return sum(round(1.25 * (m.text.count("word") + 4)) for m in messages)

    view, _ = fold_within(1_100, Meter(overhead=100), 0.1, fold, theirs)
    assert theirs(view.messages, "") <= 1_000
    assert asked == [1_000, 799]
    view, _ = fold_within(1_100, Meter(overhead=100), 0.1, fold, lambda messages, family: None)
    assert view.tokens == 909


def test_what_the_tokenizer_finds_too_large_whatever_is_done_is_refused() -> None:
    view = view_of([Message("user", (Text("a paste"),))], weigh)
    with pytest.raises(CannotFit) as refusal:
        fold_within(8, Meter(), 0.1, lambda most: (view, Fold()), lambda messages, family: 9)
    assert refusal.value.tokens > refusal.value.limit == 8


def test_the_limit_of_a_step_is_taken_less_the_error_where_no_reserve_covers_it() -> None:
    assert Budget(200_000, 40_000).less(0.1).limit == 160_000
    assert Budget(200_000).less(0.1).limit == 181_818
    assert Budget(200_000, 16_000, max_input=99_000).less(0.1).limit == 90_000


def test_what_is_counted_exactly_has_the_frames_of_the_estimate() -> None:
    messages = [Message("user", (Text("hello world"),))]
    assert weigh_exactly(messages, "claude3") is None
    assert weigh_exactly(messages) == (6 if at_hand else None)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7, 0.9])
def test_outputs_that_need_not_go_wholly_use_what_is_left_of_the_budget(share: float) -> None:
    steps = [runs("read", {"path": f"src/part_{n}.py"}, listing(n), id=f"c{n}") for n in range(8)]
    history = [user("What do these files have in common?"), *(m for step in steps for m in step)]
    whole = size_of(history)
    kept = Compactor(window=1_000_000).fold_to(history, int(whole * share))
    assert size_of(kept) >= 0.95 * int(whole * share)
    assert kept[-1] == history[-1]


@pytest.mark.parametrize(("steps", "lines", "share"), [(12, 150, 0.2), (12, 150, 0.3), (6, 400, 0.4), (4, 800, 0.5)])
def test_a_large_output_that_has_no_room_as_a_whole_fills_what_is_left(steps: int, lines: int, share: float) -> None:
    history = [user("Print the tables, one after the other.")]
    for n in range(steps):
        history.append(says("Here is the table, as it stands in the file now, " + f"x{n} " * 300))
        history += runs("read", {"path": f"a{n}.py"}, listing(n, lines), id=f"c{n}")
    most = int(size_of(history) * share)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    assert 0.9 * most <= size_of(kept) <= most
    assert kept[-1] == history[-1]


def listing(n: int, lines: int = 150) -> str:
    """An output of some two thousand tokens, or more."""
    return "\n".join(f"def value_{n}_{line}(): return {n * 1_000 + line}" for line in range(lines))


@pytest.mark.parametrize("share", [0.1, 0.15, 0.2, 0.25, 0.3])
def test_an_output_that_was_not_read_yet_has_the_room_of_a_page_that_says_little(share: float) -> None:
    history = [
        user("Which of the two listings is the longer one?"),
        *runs("read", {"path": "a.py"}, listing(1, 300), id="c1"),
        *runs("read", {"path": "b.py"}, listing(2, 600), id="c2"),
    ]
    most = int(size_of(history) * share)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    assert 0.9 * most <= size_of(kept) <= most


@pytest.mark.parametrize("share", [0.25, 0.3, 0.35])
def test_an_output_whose_ends_are_denser_than_its_middle_is_cut_until_it_fits(share: float) -> None:
    history = [user("Read the ids of the parcels, one list after the other.")]
    for n in range(6):
        ids = "\n".join(f"{k * 7919 % 9973:04x}{k * 104729 % 99991:05d};{n}" for k in range(200))
        history += runs("ids", {"list": n}, f"{ids}\n{'All is well. ' * 600}\n{ids}", id=f"c{n}")
    history.append(says("I have read them all."))
    most = int(size_of(history) * share)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    assert 0.9 * most <= size_of(kept) <= most


@pytest.mark.parametrize("share", [0.3, 0.35, 0.4])
def test_of_a_long_argument_as_much_stays_as_there_is_room_for(share: float) -> None:
    history = [user("Write the price lists, one file for each depot.")]
    for n in range(3):
        rows = "\n".join(f"depot {n} sells part {k} for {k * 17 % 89} euros" for k in range(200))
        history += runs("write", {"path": f"depot_{n}.txt", "content": rows}, "Written.", id=f"c{n}")
    history.append(says("All three are written."))
    most = int(size_of(history) * share)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    assert 0.9 * most <= size_of(kept) <= most


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_what_was_thought_gives_way_to_what_was_said_and_done(share: float) -> None:
    """A step that took long thinking has no room as a whole: it stays without that, and the budget is used."""
    history = [user("Look at each of the reports and tell me what they have in common.")]
    for number in range(30):
        call, result = runs(
            "read", {"path": f"reports/{number}.txt"}, f"Report {number} speaks of mills.", id=f"c{number}"
        )
        thought = Thinking("What could that mean for the mills by the river? " * 150, signature=f"s{number}")
        history += [replace(call, parts=(thought, *call.parts)), result]
    compactor = Compactor(window=1_000_000)
    compactor.due(history)
    budget = int(share * compactor.count.tokens)
    kept = compactor.fold_to(history, budget)
    assert compactor.count.tokens >= 0.9 * budget
    assert any(message.calls and not any(type(part) is Thinking for part in message.parts) for message in kept)


def test_with_more_room_a_hard_budget_tells_no_less_of_what_calls_brought() -> None:
    history = [user("Which of these orders are late?")]
    for n in range(10):
        record = json.dumps(
            {"order": f"W-{n}417", "status": "late", "log": [f"{n}{k:03x} scanned" for k in range(160)]}
        )
        history += [
            *runs("lookup", {"order": f"W-{n}417"}, record, id=f"c{n}"),
            says(f"W-{n}417 is with carrier K-{n}93."),
        ]
    whole = sum(map(weigh, history))
    known = []
    for share in (0.1, 0.3, 0.6):
        kept = Compactor(window=1_000_000).fold_to(history, int(whole * share))
        told = "\n".join(text for m in kept for text in (m.text, *map(text_of, m.results)))
        known.append(sum(f"order: W-{n}417" in told or f'"order": "W-{n}417"' in told for n in range(10)))
    assert known == sorted(known)
    assert known[-1] == 10


def written_and_read(modules: int) -> list[Message]:
    """A session in which the agent writes short modules, and scans gates between them, which bring long listings."""
    history = [user("Write a module for each of the depots.")]
    for n in range(modules):
        code = f"RATE_{n} = {n}417\n\ndef depot_{n}(weight):\n    return weight * RATE_{n} + surcharge_{n}\n"
        history += runs("write", {"path": f"src/depot_{n}.py", "content": code}, f"Wrote src/depot_{n}.py.", id=f"w{n}")
        history += runs("scan", {"gate": f"north-{n}"}, listing(n, 80), id=f"r{n}")
    return history


def test_a_hard_budget_that_has_room_tells_what_the_agent_wrote() -> None:
    history = written_and_read(20)
    most = int(sum(map(weigh, history)) * 0.2)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    told = "\n".join(text for m in kept for text in (m.text, *(call.arguments for call in m.calls)))
    assert [n for n in range(20) if f"surcharge_{n}" not in told] == []


def test_a_hard_budget_that_has_room_names_the_calls_that_only_looked() -> None:
    history = written_and_read(20)
    most = int(sum(map(weigh, history)) * 0.2)
    kept = Compactor(window=1_000_000).fold_to(history, most)
    told = "\n".join(text for m in kept for text in (m.text, *(call.arguments for call in m.calls)))
    assert [n for n in range(20) if f"north-{n}" not in told] == []


def test_a_page_that_has_no_budget_to_fill_leaves_in_its_file_what_the_agent_wrote() -> None:
    page = extract(Brief(4_000), written_and_read(20)).text
    assert "src/depot_3.py" in page
    assert "surcharge_3" not in page


def test_what_was_said_again_and_again_leaves_a_small_page_to_what_was_said_once() -> None:
    values = [f"The gate code of hall {n} is {n}4{n}7-{n}B." for n in range(1, 9)]
    history: list[Message] = []
    for value in values:
        history += [user(value), says("Noted.")]
        history += [
            user("The importer and its queues are being looked after by the night shift."),
            says("Good to know."),
        ]
    kept = Compactor(window=1_000_000).fold_to(history, 130)
    told = "\n".join(message.text for message in kept)
    assert "night shift" not in told
    assert sum(value in told for value in values) >= 4


def test_a_few_words_that_the_user_said_last_stand_on_a_small_page_however_often_they_were_said() -> None:
    history: list[Message] = []
    for n in range(1, 9):
        history += [user(f"The gate code of hall {n} is {n}4{n}7-{n}B."), says("Noted."), user("And hurry up, please.")]
        history += [*runs("read", {"path": f"halls/{n}.md"}, "", id=f"h{n}"), says(f"Hall {n} is read.")]
    kept = Compactor(window=1_000_000).fold_to(history, 130)
    assert "And hurry up" in "\n".join(message.text for message in kept)


SERVICE = (
    "Guten Tag, meine Waschmaschine pumpt seit gestern nicht mehr ab und zeigt den Fehler E18.",
    "Das tut mir leid. Haben Sie das Flusensieb schon geprüft? Es sitzt unten rechts hinter der Klappe.",
    "Ja, war sauber. Ich hätte gern einen Termin, aber nur vormittags, nachmittags bin ich im Kindergarten.",
    "Am Donnerstag zwischen acht und zehn Uhr kommt Herr Wolter, die Anfahrt kostet 49 Euro und wird verrechnet.",
    "In Ordnung. Bitte nicht klingeln, das Baby schläft dann. Lieber kurz anrufen, die Nummer haben Sie ja.",
    "Das habe ich vermerkt: anrufen statt klingeln, Rückruf unter der hinterlegten Nummer.",
    "Die Maschine ist vom März 2023, gilt da noch die Gewährleistung? Gekauft habe ich sie bei Ihnen in der Filiale.",
    "Die Gewährleistung ist im März 2025 abgelaufen. Ihre Zusatzversicherung deckt die Laugenpumpe aber noch bis 2028 ab.",
    "Sehr gut. Dann zahle ich also nur die Anfahrt, oder kommt noch der Arbeitslohn dazu?",
    "Nur die Anfahrt. Ersatzteile und Arbeitslohn übernimmt die Versicherung vollständig, Vertragsnummer 88-41702.",
    "Eine Bitte noch: Der Monteur soll die Schuhe ausziehen, wir haben gerade den Boden abgeschliffen.",
    "Auch das steht jetzt im Auftrag. Herr Wolter bringt Überzieher für die Schuhe mit.",
    "Und falls er sich verspätet, möchte ich das vor neun Uhr wissen, sonst muss ich die Betreuung absagen.",
    "Er meldet sich spätestens um halb neun bei Ihnen, wenn sich die Ankunft verschiebt.",
)
SERVICE_TOKENS = 753
"""What Claude takes for that dialogue: its texts as ctok 1.3 counts them (version 4.8), and four tokens for each message."""


@pytest.mark.parametrize("most", [200, 250, 300])
def test_what_the_estimate_is_off_by_in_german_is_no_overhead_that_leaves_a_small_budget_no_room(most: int) -> None:
    history = [{"role": ("user", "assistant")[n % 2], "content": line} for n, line in enumerate(SERVICE)]
    compactor = Compactor("claude-sonnet")
    compactor.fit(history)
    compactor.observe({"usage": {"input_tokens": SERVICE_TOKENS, "output_tokens": 1}})
    kept = compactor.fold_to(history, most)
    assert "halb neun" in kept[-1]["content"]
    assert compactor.count.tokens <= most


def test_a_small_page_spends_nothing_on_ids() -> None:
    history = dense(12)
    small, large = (
        next(
            m for m in decode_all(Compactor(window=1_000_000).fold_to(history, most), "openai-chat") if m.role == "user"
        )
        for most in (420, 2_000)
    )
    assert "can be recalled by its id" not in small.text
    assert "can be recalled by its id" in large.text


def told_at(history: Sequence[Message], tokens: int) -> str:
    return "\n".join(message.text for message in Compactor(window=1_000_000).fold_to(history, tokens))


HEARD = [
    *(m for n in range(1, 9) for m in (user(f"The gate code of hall {n} is {n}4{n}7-{n}B."), says("Noted."))),
    user("The night shift looks after the importer and its queues."),
]


def test_on_a_small_budget_an_acknowledgement_gives_way_like_any_other() -> None:
    def codes(answer: str) -> int:
        return sum(told_at([*HEARD, says(answer)], tokens).count("gate code") for tokens in range(80, 160, 2))

    assert codes("Acknowledged. Going on with the plan.") > codes("Which of them shall I change?")
    for said in ("Which of them shall I change?", "Acknowledged. The code of the gate is 99-X1."):
        assert said in told_at([*HEARD, says(said)], 90)
    worked = [*HEARD[:-1], user("Remove the old branch."), *runs("bash", {"command": "git branch -d old"}, "Deleted.")]
    assert told_at([*worked, says("Done.")], 110).endswith("Done.")


def test_a_small_page_tells_of_itself_only_where_room_is_left() -> None:
    full = told_at([*HEARD, says("Noted.")], 110)
    roomy = told_at([*HEARD, says("Noted.")], 190)
    assert "[folded: " not in full
    assert full.count("gate code") >= 5
    assert "[folded: " in roomy or roomy.count("gate code") == 8


def test_a_small_page_that_comes_back_as_text_is_carried_on_as_what_it_is() -> None:
    kept: list[Item] = [{"role": "user", "content": told_at([*HEARD, says("Noted.")], 75)}]
    assert kept[0]["content"].startswith("> ")
    kept[0]["content"] = f"<summary>\n{kept[0]['content']}\n</summary>"
    for n in range(3):
        kept += [
            {"role": "user", "content": f"Also look at hall number {n + 20} later today, before the porter leaves."},
            {"role": "assistant", "content": "I will, and I will report on it when it is done, for all of the halls."},
        ]
        kept = json.loads(json.dumps(Compactor(window=1_000_000).fold_to(kept, 75)))
    assert "an earlier summary" not in json.dumps(kept)


def test_what_a_german_page_is_wrapped_in_is_no_more_than_the_budget_has() -> None:
    begun = [user("Guten Tag, es geht um meine Bestellung TW-7741-B, der Schrank ist zu früh da. Was kann man tun, und kostet das etwas?")]  # fmt: skip
    begun += [says("Guten Tag! Wir können einen anderen Tag suchen, das kostet nichts.")]
    wishes = (
        "Der Schrank soll doch nicht am 9. kommen, mein Vater ist da auf Schicht und schläft. Lieferungen passen bei uns nur "
        "nachmittags, vormittags ist keiner da. Falls ja, das alte Sofa mitnehmen lassen, aber nur wenns unter 40 Euro bleibt. "
        "Am Telefon bin ich übrigens schlecht zu erreichen, alles Weitere per Mail, f.lindqvist@postfach.example."
    )
    noted = says("Das habe ich so vermerkt, der Schrank kommt dann am 16. Juni zwischen 12 und 16 Uhr zu Ihnen.")
    talk = [{"role": m.role, "content": m.text} for m in (*begun * 3, user(wishes), noted)]
    for budget in range(70, 240, 7):
        sent = Compactor(window=1_000_000).fold_to(talk, budget)
        assert sum(map(weigh, decode_all(sent, "openai-chat"))) <= budget


ASIDES = [
    user("I was thinking about lunch earlier, there was soup."),
    says("Sounds good."),
    user("And the weather is a little better than yesterday."),
    says("It is."),
]


@pytest.mark.parametrize(
    "said",
    [
        "Absolutely never assume the server timezone is UTC without configuring it. That is a hard line for this project.",
        "Scratch that. Let's instead keep CERT_PATH in vault-7 of GATEWAY_2, and rotate all of it by the job of every week.",
    ],
)
def test_the_smallest_page_tells_the_beginning_of_what_says_most_before_small_talk(said: str) -> None:
    told = told_at([user(said), says("Noted."), *ASIDES, user("What is next?")], 40)
    assert said[:40] in told
    assert "lunch" not in told
