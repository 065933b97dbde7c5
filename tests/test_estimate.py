"""The estimator: how near it is to real tokenizers, and that no text harms it."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline._tokens import families
from foldline._tokens.estimate import FAMILIES, estimate_all
from foldline._tokens.exact import exact
from foldline._tokens.long_texts import long_tokens
from foldline._tokens.short_texts import LONGEST, short_tokens
from foldline.extend import estimate

TABLES = Path(families.__file__).parent
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
every_family = pytest.mark.parametrize("family", FAMILIES)


def digests(n: int) -> bytes:
    """Bytes without a pattern, the same on every machine."""
    return b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(n))


TEXTS = {
    "English": (
        "The nightly job stopped at half past two because the disk was full. I moved the old archives to the second "
        "volume, which gave us about forty gigabytes, and started it again from the last checkpoint. It finished "
        "without errors, but it took twice as long as usual, so I looked at what it was doing. Most of the time went "
        "into reading the same configuration file for every customer. Nobody had noticed, because until last month "
        "there were only a few hundred of them. A small cache in front of the reader brings the whole run back to "
        "under ten minutes; the change is eleven lines, and the tests that cover it pass on both machines.\n"
    ),
    "Python": '''
def parse_header(line: str, *, strict: bool = False) -> tuple[str, dict[str, str]]:
    """Split `line` into its value and its parameters."""
    value, _, rest = line.partition(";")
    params: dict[str, str] = {}
    for item in rest.split(";"):
        name, found, raw = item.strip().partition("=")
        if not found:
            if strict:
                raise ValueError(f"parameter without a value: {item!r}")
            continue
        params[name.lower()] = raw.strip('"')
    return value.strip().lower(), params


class Reader:
    def __init__(self, path, chunk_size=65536):
        self._file = open(path, "rb")
        self.chunk_size = chunk_size
        self.bytes_read = 0

    def __iter__(self):
        while chunk := self._file.read(self.chunk_size):
            self.bytes_read += len(chunk)
            yield chunk
''',
    "JSON": '{"orders": ['
    + ", ".join(
        f'{{"id": {104723 + 17 * i}, "customer": "cust_{i * 7919:05d}", "total": {19.9 + i * 3.35:.2f}, "currency": "EUR", '
        f'"paid": {"true" if i % 3 else "false"}, "items": [{{"sku": "A-{i:03d}", "quantity": {i % 4 + 1}}}]}}'
        for i in range(8)
    )
    + "]}",
    "log": "".join(
        f"2026-03-{i + 1:02d}T02:{i * 7 % 60:02d}:{i * 13 % 60:02d}.{i * 137 % 1000:03d}Z INFO worker-{i % 4} billing.server "
        f"GET /v1/invoices?page={i} 200 {i * 3.7:.1f}ms from=10.0.3.{i * 5 % 256} bytes={i * 48271 % 100000}\n"
        for i in range(12)
    ),
    "hex": "\n".join(hashlib.sha256(str(i).encode()).hexdigest() for i in range(12)),
    "base64": base64.b64encode(digests(20)).decode(),
    "Markdown": """# Upgrading to version 3

Read this **before** you upgrade: two defaults changed, and one command has a new name.

## What changed

| Setting | Before | Now |
|---------|--------|-----|
| `cache.size` | 64 MB | 256 MB |
| `retry.limit` | unlimited | 5 |

- `sync --all` is now `sync --everything`; the old name prints a warning until 3.2.
- The [configuration file](docs/config.md) may be YAML *or* TOML.

```bash
pip install --upgrade example-tool
example-tool migrate --dry-run
```

> **Note:** a migration cannot be undone once the `--commit` flag was given.
""",
    "HTML": """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Orders</title><link rel="stylesheet" href="/static/main.css"></head>
<body class="page page--orders">
  <nav id="menu"><ul><li><a href="/orders?state=open">Open</a></li><li><a href="/orders?state=paid">Paid</a></li></ul></nav>
  <table class="table table-striped"><thead><tr><th>Number</th><th>Customer</th><th>Total</th></tr></thead>
    <tbody><tr data-id="17"><td>2026-0017</td><td>Miller &amp; Sons</td><td align="right">119.00&nbsp;€</td></tr></tbody>
  </table>
  <script>document.querySelectorAll("tr[data-id]").forEach(row => row.addEventListener("click", open));</script>
</body>
</html>
""",
    "Chinese": (
        "昨天夜里的任务在两点半停止了,因为磁盘已经满了。我把旧的归档文件移到第二个卷上,腾出了大约四十吉字节,然后从最后一个检查点"
        "重新开始。任务顺利完成,没有任何错误,但是花了平时两倍的时间,所以我查看了它在做什么。大部分时间都用在为每个客户读取同一个配置文件"
        "上。以前没有人注意到这一点,因为直到上个月客户还只有几百个。在读取程序前面加一个小缓存,就能让整个过程回到十分钟以内。"
    ),
    "Japanese": (
        "昨夜のジョブはディスクが一杯になったため、二時半に止まりました。古いアーカイブを二つ目のボリュームに移して約四十ギガバイトを"
        "空け、最後のチェックポイントからもう一度始めました。エラーなしで終わりましたが、いつもの二倍の時間がかかったので、何をしているのか"
        "調べました。ほとんどの時間は、顧客ごとに同じ設定ファイルを読むことに使われていました。先月まで顧客は数百件しかなかったので、誰も気づ"
        "きませんでした。"
    ),
    "Korean": (
        "어젯밤 작업은 디스크가 가득 차서 두 시 반에 멈췄습니다. 오래된 보관 파일을 두 번째 볼륨으로 옮겨 약 사십 기가바이트를 "
        "확보하고 마지막 체크포인트부터 다시 시작했습니다. 오류 없이 끝났지만 평소보다 두 배나 오래 걸려서 무엇을 하고 있는지 살펴보았습니다. "
        "대부분의 시간은 고객마다 같은 설정 파일을 읽는 데 쓰였습니다. 지난달까지는 고객이 몇백 명뿐이어서 아무도 알아차리지 못했습니다."
    ),
    "Russian": (
        "Ночное задание остановилось в половине третьего, потому что на диске не осталось места. Я перенёс старые архивы на "
        "второй том, освободив около сорока гигабайт, и запустил его снова с последней контрольной точки. Оно завершилось без "
        "ошибок, но заняло вдвое больше времени, чем обычно, поэтому я посмотрел, что оно делает. Почти всё время уходило на "
        "чтение одного и того же файла настроек для каждого клиента."
    ),
    "Arabic": (
        "توقفت المهمة الليلية في الثانية والنصف لأن القرص امتلأ. نقلت الأرشيفات القديمة إلى وحدة التخزين الثانية، مما وفر نحو أربعين "
        "غيغابايت، ثم بدأتها من جديد من آخر نقطة حفظ. انتهت دون أخطاء، لكنها استغرقت ضعف الوقت المعتاد، فنظرت في ما كانت تفعله. "
        "كان معظم الوقت يذهب في قراءة ملف الإعدادات نفسه لكل عميل. لم يلاحظ أحد ذلك لأن عدد العملاء لم يتجاوز بضع مئات حتى الشهر الماضي."
    ),
    "Hindi": (
        "रात का काम ढाई बजे रुक गया क्योंकि डिस्क भर गई थी। मैंने पुराने संग्रह दूसरी डिस्क पर भेज दिए, जिससे लगभग चालीस गीगाबाइट जगह "
        "मिली, और उसे आखिरी जाँच बिंदु से फिर शुरू किया। वह बिना किसी त्रुटि के पूरा हुआ, लेकिन उसमें सामान्य से दोगुना समय लगा, इसलिए मैंने "
        "देखा कि वह क्या कर रहा था। अधिकतर समय हर ग्राहक के लिए एक ही फ़ाइल पढ़ने में जा रहा था।"
    ),
    "Thai": (
        "งานเมื่อคืนนี้หยุดตอนตีสองครึ่งเพราะดิสก์เต็ม ผมย้ายไฟล์เก่าไปไว้ที่ดิสก์ลูกที่สองจึงได้พื้นที่ว่างประมาณสี่สิบกิกะไบต์ แล้วเริ่มงานใหม่จากจุดตรวจสอบล่าสุด "
        "งานเสร็จโดยไม่มีข้อผิดพลาด แต่ใช้เวลานานกว่าปกติสองเท่า ผมจึงดูว่ามันทำอะไรอยู่ เวลาส่วนใหญ่หมดไปกับการอ่านไฟล์ตั้งค่าเดียวกันสำหรับลูกค้าทุกราย"
    ),
    "Indonesian": (
        "Pekerjaan tadi malam berhenti pada pukul setengah tiga karena cakramnya penuh. Saya memindahkan arsip lama ke volume "
        "kedua, sehingga tersedia sekitar empat puluh gigabita, lalu memulainya lagi dari titik pemeriksaan terakhir. Pekerjaan "
        "itu selesai tanpa kesalahan, tetapi memakan waktu dua kali lebih lama daripada biasanya, jadi saya memeriksa apa yang "
        "dilakukannya. Sebagian besar waktu habis untuk membaca berkas konfigurasi yang sama bagi setiap pelanggan. Sebelumnya "
        "tidak ada yang menyadarinya, karena sampai bulan lalu jumlah pelanggan hanya beberapa ratus.\n"
    ),
    "emoji": (
        "🎉 Release 2.4 is out! 🚀\n✅ faster start ⚡\n✅ dark mode 🌙\n❌ no more crashes 💥🐛\n⚠️ read the notes 📖 before you update 🙏\n"
        "👍🏽 👩‍💻 🧑‍🚀 🏳️‍🌈 🇫🇷 🇯🇵 🇧🇷 😀😂🤣😊😍🥰😎🤔😴🤯🥳😭😡👀💯🔥✨🌍🍕🍺🎂🎁🏆⚽🎸🎬📷💻📱🔒🔑🔧📦📊📈🗑️\n" * 3
    ),
    "spaces": " " * 3000,
    "one letter": "a" * 3000,
}

COUNTS = {
    "English": (131, 133, 180, 132, 131, 131, 130, 133, 131, 131, 131),
    "Python": (201, 250, 311, 246, 200, 203, 213, 215, 201, 202, 200),
    "JSON": (428, 460, 543, 508, 428, 516, 437, 541, 446, 427, 428),
    "log": (611, 671, 790, 845, 611, 809, 623, 821, 631, 611, 611),
    "hex": (458, 474, 520, 683, 454, 678, 462, 688, 512, 447, 454),
    "base64": (579, 750, 808, 606, 619, 642, 596, 650, 619, 576, 620),
    "Markdown": (153, 175, 226, 170, 153, 156, 161, 162, 153, 151, 153),
    "HTML": (212, 238, 307, 205, 207, 215, 216, 223, 207, 214, 207),
    "Chinese": (134, 198, 197, 111, 138, 111, 98, 159, 103, 92, 189),
    "Japanese": (144, 185, 184, 102, 138, 120, 131, 138, 135, 152, 201),
    "Korean": (119, 236, 235, 108, 128, 139, 144, 112, 173, 181, 211),
    "Russian": (103, 155, 155, 103, 116, 130, 119, 113, 109, 161, 173),
    "Arabic": (111, 248, 248, 122, 137, 135, 131, 106, 150, 181, 261),
    "Hindi": (103, 244, 244, 86, 175, 321, 210, 118, 347, 208, 347),
    "Thai": (120, 282, 282, 92, 150, 174, 117, 176, 281, 244, 281),
    "Indonesian": (123, 200, 272, 107, 167, 168, 145, 147, 168, 177, 168),
    "emoji": (447, 651, 671, 315, 603, 363, 459, 801, 603, 528, 612),
    "spaces": (24, 188, 188, 97, 24, 24, 25, 47, 8, 13, 24),
    "one letter": (375, 1001, 3000, 375, 375, 375, 375, 1500, 375, 375, 375),
}
"""Tokens of `TEXTS` in the order of `FAMILIES`, by splintr-rs 0.22 (o200k_base, gemma3, llama3, qwen3, deepseek_v3,
mistral_v3, glm4, kimi_k2, cl100k_base) and, for Claude, by ctok 1.3 (versions 3.0 and 4.8), which is a reconstruction."""

PAGE = (
    "Naskah undangan sudah selesai, tetapi lampirannya gagal diunggah: kuota penyimpanan penuh.\n"
    "- Pak Suryadi minta hurufnya dibesarkan, jadi jangan pakai ukuran di bawah empat belas.\n"
    "- nomor antrean KRT-2207, bisa dicoba lagi setelah pukul 20.30, tolong kabari warga lewat pengumuman.\n"
    "Susunan acara: pembukaan oleh ketua panitia, sambutan lurah, pembagian hadiah lomba, lalu makan bersama. Kursi tambahan "
    "dipinjam dari balai desa dan dikembalikan keesokan harinya sebelum tengah hari. Kalau hujan, acara dipindahkan ke gedung "
    "serbaguna dan pengeras suaranya disewa dari toko sebelah."
)
PAGE_COUNTS = (158, 219, 287, 150, 196, 200, 180, 185, 195, 198, 196)
"""A page in Indonesian as one writes it in chats, and its tokens, counted as those above."""

CHINESE_PAGE = (
    "小区停车位的抽签名单已经整理好,但公示的海报还没印出来:打印店的彩色机器坏了。\n"
    "- 周主任要求海报上写明车牌的后三位,不要写全,也不要写业主的电话。\n"
    "- 编号 PARK-0317,退款的三户要在月底以前到物业办手续,过期就顺延到下一批。\n"
    "接下来:先把名单贴在公告栏和业主群里,再给没抽中的住户打电话说明候补的次序。地下二层的灯管换完以后才能划线,"
    "施工队说周四上午来,如果下雨就改到周六。钥匙在门卫室的铁盒里,用完请放回原处,并在登记本上签名。"
)
CHINESE_PAGE_COUNTS = (178, 233, 233, 167, 194, 159, 143, 214, 150, 135, 242)
"""The same in Chinese, with signs of half width as they are typed."""

GERMAN_MESSAGES = (
    "Guten Tag, meine Waschmaschine pumpt seit gestern nicht mehr ab und zeigt den Fehler E18.",
    "Das tut mir leid. Haben Sie das Flusensieb schon geprüft? Es sitzt unten rechts hinter der Klappe.",
    "Ja, war sauber. Ich hätte gern einen Termin, aber nur vormittags, nachmittags bin ich im Kindergarten.",
    "Am Donnerstag zwischen acht und zehn Uhr kommt Herr Wolter, die Anfahrt kostet 49 Euro und wird verrechnet.",
    "In Ordnung. Bitte nicht klingeln, das Baby schläft dann. Lieber kurz anrufen, die Nummer haben Sie ja.",
)
GERMAN_COUNTS = (119, 181, 256, 123, 151, 153, 145, 136, 138, 165, 151)
"""Messages of a line in German, and the sum of their tokens."""

PROSE = [name for name in TEXTS if name not in ("spaces", "one letter")]


@every_family
def test_kinds_of_text_are_near_the_tokenizer(family: str) -> None:
    """These texts are short (0.5 to 1.4 kB): a single one may be 25 % off (a list of emoji 45 %), all together 8 %."""
    errors = {name: estimate(TEXTS[name], family) / COUNTS[name][FAMILIES.index(family)] - 1 for name in PROSE}
    assert {
        name: round(error, 3) for name, error in errors.items() if abs(error) > (0.45 if name == "emoji" else 0.25)
    } == {}
    assert sum(abs(error) for error in errors.values()) / len(errors) < 0.08


@every_family
def test_short_texts_are_near_too(family: str) -> None:
    """Lines as they come in messages: within 12 % of what the whole text costs, when all are added up."""
    lines = [
        line for name in ("English", "Python", "JSON", "log", "Markdown", "HTML") for line in cut(TEXTS[name], 200)
    ]
    expected = sum(
        COUNTS[name][FAMILIES.index(family)] for name in ("English", "Python", "JSON", "log", "Markdown", "HTML")
    )
    assert sum(estimate(line, family) for line in lines) == pytest.approx(expected, rel=0.12)


@every_family
def test_a_page_in_indonesian_is_no_tenth_too_low(family: str) -> None:
    assert estimate(PAGE, family) == pytest.approx(PAGE_COUNTS[FAMILIES.index(family)], rel=0.085)


@every_family
def test_a_page_in_chinese_is_no_tenth_off(family: str) -> None:
    assert estimate(CHINESE_PAGE, family) == pytest.approx(CHINESE_PAGE_COUNTS[FAMILIES.index(family)], rel=0.1)


@every_family
def test_a_dialogue_in_german_is_no_tenth_off(family: str) -> None:
    counted = sum(estimate(message, family) for message in GERMAN_MESSAGES)
    assert counted == pytest.approx(GERMAN_COUNTS[FAMILIES.index(family)], rel=0.1)


@every_family
@pytest.mark.parametrize("name", ["spaces", "one letter"])
def test_runs_are_counted_as_runs(family: str, name: str) -> None:
    """No tokenizer agrees with another on runs; the estimate keeps the order of magnitude."""
    expected = COUNTS[name][FAMILIES.index(family)]
    assert expected / 4 <= estimate(TEXTS[name], family) <= expected * 4


def cut(text: str, size: int) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


@given(ANY_TEXT, st.sampled_from(FAMILIES))
def test_any_text_is_counted(text: str, family: str) -> None:
    tokens = estimate(text, family)
    assert isinstance(tokens, int)
    assert (tokens == 0) == (text == "")
    assert tokens <= 3 * len(text.encode("utf-8", "surrogatepass")) + 1


@given(st.lists(ANY_TEXT, max_size=6), st.sampled_from(FAMILIES), st.integers(0, 4))
def test_many_at_once_have_the_figures_that_each_has_alone(texts: list[str], family: str, times: int) -> None:
    """Both ways of counting are asked directly: `estimate` would remember its first answer."""
    short = [text.encode("utf-8", "surrogatepass")[:LONGEST] for text in texts]
    long = [raw * 4**times for raw in short if raw]
    for count in (partial(short_tokens, plain=True), partial(short_tokens, plain=False)):
        assert list(count(short, family)) == [next(iter(count([raw], family))) for raw in short]
    assert long_tokens(long, family) == [long_tokens([raw], family)[0] for raw in long]
    assert estimate_all([*texts, *texts], family) == [estimate(text, family) for text in texts] * 2


@given(ANY_TEXT, ANY_TEXT)
def test_two_texts_cost_about_their_sum(one: str, two: str) -> None:
    """The seam moves a token or two; one text on either side of `LONGEST` is counted by other tables."""
    together, apart = estimate(one + two), estimate(one) + estimate(two)
    assert abs(together - apart) <= 4 + 0.5 * apart


@pytest.mark.parametrize("name", PROSE)
def test_the_two_sets_of_tables_agree_where_they_meet(name: str) -> None:
    text = (TEXTS[name] * 2).encode()
    below = text[:LONGEST].decode("utf-8", "ignore")
    above = text[: LONGEST + 4].decode("utf-8", "ignore")
    assert len(below.encode()) <= LONGEST
    # what stands above is four bytes more, which can be as many tokens
    assert estimate(below) == pytest.approx(estimate(above), rel=0.3, abs=4)


@pytest.mark.parametrize(
    "text", ["\ud800", "\udfff" * 5000, "\0" * 10_000, "\0", "a\ud83d" * 3000, "\U0010ffff" * 2000]
)
def test_odd_characters_do_no_harm(text: str) -> None:
    assert all(0 < estimate(text, family) <= 3 * len(text.encode("utf-8", "surrogatepass")) for family in FAMILIES)


@pytest.mark.parametrize("family", ["", "gpt", "O200K", "claude"])
@pytest.mark.parametrize("text", ["", "short", "long " * 1000])
def test_an_unknown_family_is_refused(text: str, family: str) -> None:
    with pytest.raises(ValueError, match="there are o200k, claude3"):
        estimate(text, family)


def test_the_tables_are_small() -> None:
    tables = sorted(TABLES.glob("*.bin"))
    assert len(tables) == 2
    assert sum(path.stat().st_size for path in tables) <= 2_000_000


def fresh(code: str, **environment: str) -> str:
    """What a new process prints."""
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return ran.stdout


def test_a_fold_of_texts_loads_no_numpy_and_a_flood_does() -> None:
    """Importing numpy takes as long as counting about a million bytes without it."""
    pytest.importorskip("numpy")
    code = (
        "import sys; from foldline._tokens.estimate import estimate_all as e; e([f'{i} word' * 100 for i in range(300)]);"
        "print('numpy' in sys.modules); e(['long ' * 400_000]); print('numpy' in sys.modules)"
    )
    assert fresh(code).split() == ["False", "True"]


def test_with_numpy_and_without_is_one_figure() -> None:
    pytest.importorskip("numpy")
    code = (
        "import random; from foldline._tokens.estimate import estimate_all; rng = random.Random(1);"
        "texts = [''.join(map(chr, rng.choices(range(rng.choice([128, 1000, 70_000])), k=rng.randrange(500, 9000)))) for _ in range(40)];"
        "print(sum((estimate_all(texts, family) for family in ('o200k', 'claude3')), []))"
    )
    figures = fresh("import numpy;" + code)
    assert figures.count(",") == 79
    assert fresh("import sys; sys.modules['numpy'] = None;" + code) == figures


@pytest.mark.parametrize("one", [" ", "a", "\n", "\0", "=", "é", "日"])
def test_a_megabyte_of_one_character_costs_no_more_than_other_text(one: str) -> None:
    pytest.importorskip("numpy")
    mixed = "".join(TEXTS[name] for name in PROSE)
    mixed = mixed * (1_000_000 // len(mixed.encode()))
    run = one * (1_000_000 // len(one.encode()))
    assert seconds(run) < 5 * seconds(mixed) + 0.01


def seconds(text: str) -> float:
    """The best of five: other work on the machine only ever adds. No text is the one before, which is remembered."""
    best = 9.0
    for turn in range(5):
        start = time.process_time()
        estimate(text[turn:])
        best = min(best, time.process_time() - start)
    return best


def test_exact_counts_or_says_that_it_cannot() -> None:
    known = exact("hello <|endoftext|> \ud800")
    assert known is None or 8 <= known <= 14
    assert exact("hello", "no such encoding") is None


needs_tiktoken = pytest.mark.skipif(exact("hello") is None, reason="tiktoken or its vocabulary is not on this machine")


@needs_tiktoken
def test_exact_is_what_the_tokenizer_counts() -> None:
    assert [exact(TEXTS[name]) for name in TEXTS] == [COUNTS[name][0] for name in TEXTS]


@needs_tiktoken
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (" " * 1_000_000, 7_813),
        ("_" * 200_000, 3_125),
        ("\n" * 200_000, 12_500),
        (("x" + " " * 4000) * 100, 3_300),
        ("=!" * 100_000, 100_001),
        ("\ud83d" * 10_000, 1_250),
        ("<|endoftext|>" * 1_000, 6_001),
    ],
)
def test_exact_survives_what_is_dear_or_deadly(text: str, tokens: int) -> None:
    """The figures are tiktoken's own, but the first, on which it panics: it has a token for 128 spaces."""
    start = time.process_time()
    assert exact(text) == pytest.approx(tokens, rel=0.002)
    assert time.process_time() - start < 8


def test_exact_downloads_nothing(tmp_path: Path) -> None:
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(b"not the vocabulary")
    code = "from foldline._tokens.exact import exact; print(exact('hello'))"
    assert fresh(code, TIKTOKEN_CACHE_DIR=str(tmp_path)).strip() == "None"
