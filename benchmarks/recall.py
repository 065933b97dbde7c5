"""What recall costs on 100 MB of text in 40 sessions: to index it, to keep up with it, to ask it.

    python benchmarks/recall.py [--runs N]

The text is the source of Python's own library, cut into messages of 0.2 to 12 KB as tools print them, and one message
in twenty in Chinese. Each question is asked of all sessions, and the file stamps are looked at each time. Beside it
stands a plain scan of the same files for the lines that hold every word of the question, in Python's own `in`, which
finds and does not rank.
"""

from __future__ import annotations

import json
import random
import sysconfig
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from foldline import Message, Session
from foldline._recall.index import Index, Within
from foldline.extend import Text
from measuring import Figure, Row, figure, heading, milliseconds, options, table

SIZE = 100_000_000
SESSIONS = 40

QUERIES = {
    "an identifier": "_parse_constant_value_17",
    "a path": "module_17/handlers.py",
    "three words": "socket timeout handler",
    "two common words": "return self",
    "six words, some common": "where is the certificate verification done",
    "Chinese": "连接超时",
}
NEEDLES = ("_parse_constant_value_17", "module_17/handlers.py")

CHINESE = "请修复数据库连接池的超时问题然后运行测试检查日志文件配置服务器接口返回错误用户登录失败重试三次更新版本发布"


def texts(size: int, seed: int = 7) -> Iterator[str]:
    """Messages of about `size` characters together."""
    chance = random.Random(seed)
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [path for path in sorted(library.rglob("*.py")) if "site-packages" not in path.parts]
    while size > 0:
        source = chance.choice(files).read_text("utf-8", "replace")
        at = chance.randrange(len(source) + 1)
        length = round(200 * 60 ** chance.random())
        text = source[at : at + length]
        if chance.random() < 0.05:
            text = "".join(chance.choices(CHINESE, k=length // 3))
        if chance.random() < 0.001:
            text += f"\n{chance.choice(NEEDLES)} socket timeout handler"
        size -= len(text)
        if text.strip():
            yield text


def write(folder: Path) -> list[Path]:
    """The sessions, as pi writes them."""
    paths = []
    for n in range(SESSIONS):
        paths.append(folder / f"{n:02}.jsonl")
        Session.create(paths[-1], cwd="/srv/invoices")
        with paths[-1].open("a", encoding="utf-8") as file:
            parent = None
            for i, text in enumerate(texts(SIZE // SESSIONS, seed=n)):
                id, role = f"{n:02x}{i:06x}", "assistant" if i % 2 else "user"
                message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}
                record = {"type": "message", "id": id, "parentId": parent, "message": message}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                parent = id
    return paths


def scan(paths: list[Path], query: str) -> int:
    """How many lines hold every word of a query."""
    words = [word.encode() for word in query.split()]
    hits = 0
    for path in paths:
        data = path.read_bytes()
        at = data.find(words[0])
        while at >= 0:
            end = data.find(b"\n", at)
            line = data[data.rfind(b"\n", 0, at) + 1 : end]
            hits += all(word in line for word in words)
            at = data.find(words[0], end)
    return hits


def built(index: Index, within: list[Within]) -> Figure:
    """The CPU time of the first question, which reads everything."""
    began = time.process_time()
    index.search("anything", within)
    return figure([time.process_time() - began], "s")


def grown(index: Index, path: Path, within: list[Within], runs: int) -> Figure:
    """The CPU time of a question after one more message."""
    session = Session(path)

    def append() -> str:
        return session.append(Message("user", (Text("one more message about the needle"),)))

    return milliseconds(lambda id: index.search("needle", within), runs, append)


def rows(asked: Namespace) -> list[Row]:
    """The table's rows."""
    found = [heading(f"recall, {SIZE // 1_000_000} MB of text in {SESSIONS} sessions")]
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder))
        within = [Within(str(path)) for path in paths]
        place = Path(folder) / "recall.sqlite"
        with Index(str(place)) as index:
            found.append(Row("index it", built(index, within), 15))
            size = sum(file.stat().st_size for file in place.parent.glob("recall.sqlite*"))
            found.append(Row("the index's size", Figure(size / 1e6, size / 1e6, "MB")))
            found.append(Row("ask after one more message", grown(index, paths[0], within, asked.runs), 20))
            for name, query in QUERIES.items():
                ours = milliseconds(lambda query=query: index.search(query, within), asked.runs)
                theirs = milliseconds(lambda query=query: scan(paths, query), min(asked.runs, 5))
                found.append(Row(f"ask: {name}", ours, 20, "plain scan with `in`", theirs))
            one = milliseconds(lambda: index.search("socket timeout handler", within[:1]), asked.runs)
            found.append(Row("ask one session: three words", one, 20))
    return found


def main() -> None:
    """Prints the table."""
    table(rows(options(__doc__).parse_args()))


if __name__ == "__main__":
    main()
