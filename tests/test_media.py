"""Pictures, documents and sounds are counted from their headers."""

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Message
from foldline._tokens.media import UNKNOWN_IMAGE, image_size, image_tokens, media_bytes, media_tokens
from foldline.extend import Media, weigh


def png(w: int, h: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


def jpeg(w: int, h: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 5_002) + bytes(5_000)
    return b"\xff\xd8" + exif + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, h, w) + bytes(20)


def webp(w: int, h: int) -> bytes:
    size = (w - 1).to_bytes(3, "little") + (h - 1).to_bytes(3, "little")
    return b"RIFF" + bytes(4) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4) + size


def b64(data: bytes) -> str:
    return base64.b64encode(data + bytes(300)).decode()


@pytest.mark.parametrize(
    "data",
    [
        png(640, 480),
        jpeg(640, 480),
        webp(640, 480),
        b"GIF89a" + struct.pack("<HH", 640, 480),
        b"BM" + bytes(16) + struct.pack("<ii", 640, -480),
    ],
    ids=["png", "jpeg", "webp", "gif", "bmp"],
)
def test_size_from_the_header(data):
    assert image_size(data) == (640, 480)


@pytest.mark.parametrize(
    ("family", "size", "detail", "tokens"),
    [
        ("claude3", (1000, 1000), "auto", 1_296),  # stated by Anthropic
        ("claude3", (4000, 3000), "auto", 1_568),
        ("claude4.7", (4000, 3000), "auto", 4_784),
        ("o200k", (1024, 1024), "high", 765),  # stated by OpenAI: 85 + 4 tiles
        ("o200k", (2048, 4096), "high", 1_105),  # stated by OpenAI: 85 + 6 tiles
        ("o200k", (4096, 8192), "low", 85),
        ("gemma", (300, 300), "auto", 258),
        ("gemma", (1000, 1000), "auto", 1_032),
    ],
)
def test_tokens_of_a_picture(family, size, detail, tokens):
    assert image_tokens(size, family, detail) == tokens


def test_the_same_picture_in_every_wire():
    data = b64(png(1000, 1000))
    anthropic = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    openai = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    pi = {"type": "image", "data": data, "mimeType": "image/png"}
    assert {media_tokens("image", source, "claude3") for source in (anthropic, openai, pi)} == {1_296}
    assert {media_bytes(source) for source in (anthropic, openai, pi)} == {len(data)}


def test_what_cannot_be_seen_is_reckoned():
    assert (
        media_tokens("image", {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}) == UNKNOWN_IMAGE
    )


def test_pages_of_a_document():
    pdf = b"%PDF-1.4\n<< /Type /Pages /Count 7 >>"
    assert media_tokens("document", {"source": {"type": "base64", "data": b64(pdf)}}, "claude3") == 14_000


def test_seconds_of_a_sound():
    wav = b"RIFF" + bytes(4) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 16_000, 2, 16) + bytes(160_000)
    source = {"type": "input_audio", "input_audio": {"data": b64(wav), "format": "wav"}}
    assert media_tokens("audio", source, "o200k") == pytest.approx(100, abs=2)


def test_a_message_weighs_its_picture():
    picture = Media("image", {"type": "image", "data": b64(png(1000, 1000)), "mimeType": "image/png"})
    assert weigh(Message("user", (picture,)), "claude3") == pytest.approx(1_296, abs=8)


@given(st.binary(max_size=200))
def test_no_header_is_too_odd(data):
    for start in (b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"RIFF0000WEBP", b"RIFF0000WAVE", b"BM", b"GIF89a"):
        text = base64.b64encode(start + data).decode() * 2
        for kind in ("image", "document", "audio"):
            assert media_tokens(kind, {"data": text}, "gemma") >= 0
