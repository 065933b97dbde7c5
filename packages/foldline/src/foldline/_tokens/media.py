"""Tokens of pictures, documents and sounds, from their headers: nothing is decoded beyond what says the size."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable, Mapping
from math import ceil

HEAD = 256 * 1024
"""Characters of base64 that are looked at: a JPEG may carry a thumbnail and a profile before it says its size."""

UNKNOWN_IMAGE = 1_600
"""A picture whose size is not to be had (a URL, a file id): Claude's cap is 1,568, agents reckon 1,200 to 2,000."""

PAGE = 2_000
"""A page of a PDF as text and picture together: Anthropic states 1,500 to 3,000."""

BYTES_PER_PAGE = 50_000
"""How large a page is taken to be where a PDF does not show its pages."""

TOKENS_PER_SECOND = {"gemma": 32, "o200k": 10}
"""Sound as billed: Gemini 32 tokens a second, OpenAI 10."""

BYTES_PER_SECOND = 16_000
"""Compressed sound of 128 kbit/s, where the header does not say."""

VIDEO_TOKENS_PER_SECOND = 288
"""A video as billed: Amazon Nova 288 tokens a second, Gemini 258 and 32 for its sound."""

VIDEO_BYTES_PER_SECOND = 125_000
"""A video of 1 Mbit/s, since its length is not looked for."""

UNKNOWN_VIDEO = 60 * VIDEO_TOKENS_PER_SECOND
"""A video that is only linked."""

Size = tuple[int, int]


def media_tokens(kind: str, source: Mapping[str, object], family: str = "o200k") -> int:
    """What a picture, document or sound costs in a request to a model of the tokenizer `family`; never raises."""
    data = inline_data(source)
    head = _decoded(data[:HEAD])
    if kind == "image":
        size = image_size(head)
        return image_tokens(size, family, _detail(source)) if size else UNKNOWN_IMAGE
    if kind == "document":
        return _document_tokens(source, data, head, family)
    if kind == "video":
        return len(data) * 3 // 4 * VIDEO_TOKENS_PER_SECOND // VIDEO_BYTES_PER_SECOND or UNKNOWN_VIDEO
    seconds = _seconds(head, len(data) * 3 // 4)
    return max(1, round(seconds * TOKENS_PER_SECOND.get(family, 25)))


def described(kind: str, source: Mapping[str, object]) -> str:
    """What it is in a few words: "image of 640×480 pixels, 31,204 bytes"."""
    data = inline_data(source)
    size = image_size(_decoded(data[:HEAD])) if kind == "image" else None
    said = f"{kind} of {size[0]}×{size[1]} pixels" if size else kind
    return f"{said}, {len(data) * 3 // 4:,} bytes" if data else said


def media_bytes(source: Mapping[str, object]) -> int:
    """The bytes that it adds to a request, as base64 stands there."""
    return len(inline_data(source))


def inline_data(source: Mapping[str, object]) -> str:
    """The base64 inside a wire item of any format, or an empty text where it holds none."""
    stack: list[object] = [source]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            for key in ("data", "file_data", "url", "image_url", "bytes", "result"):
                if isinstance(text := value.get(key), str) and (text.startswith("data:") or len(text) > 256):
                    return text.partition(",")[2] if text.startswith("data:") else text
                if isinstance(text, bytes):
                    return base64.b64encode(text).decode()
            stack += [v for v in value.values() if isinstance(v, Mapping)]
    return ""


def image_tokens(size: Size, family: str, detail: str = "auto") -> int:
    """Tokens of a picture of `size` pixels, width and height.

    Claude: 28-pixel patches, at most 1,568 tokens within 1,568 pixels, from 4.7 on 4,784 within 2,576. OpenAI's tiled
    models: 85, and 170 for each 512-pixel tile. Gemini: 258 for each 768-pixel tile. Qwen: 28-pixel patches.
    """
    return _FORMULAS.get(family, _openai)(size, detail)


def _claude(edge: int, cap: int) -> Callable[[Size, str], int]:
    def tokens(size: Size, detail: str) -> int:
        w, h = _within(size, edge)
        return max(1, min(cap, ceil(w / 28) * ceil(h / 28)))

    return tokens


def _openai(size: Size, detail: str) -> int:
    if detail == "low":
        return 85
    w, h = _within(size, 2_048)
    shrink = min(1.0, 768 / max(1, min(w, h)))
    return 85 + 170 * ceil(w * shrink / 512) * ceil(h * shrink / 512)


def _gemini(size: Size, detail: str) -> int:
    w, h = size
    return 258 if max(w, h) <= 384 else 258 * ceil(w / 768) * ceil(h / 768)


def _qwen(size: Size, detail: str) -> int:
    return max(4, min(16_384, ceil(size[0] / 28) * ceil(size[1] / 28)))


_FORMULAS: dict[str, Callable[[Size, str], int]] = {
    "claude3": _claude(1_568, 1_568),
    "claude4.7": _claude(2_576, 4_784),
    "gemma": _gemini,
    "qwen": _qwen,
}


def _within(size: Size, edge: int) -> tuple[float, float]:
    shrink = min(1.0, edge / max(1, *size))
    return size[0] * shrink, size[1] * shrink


# -- headers -----------------------------------------------------------------------------------------------------


def image_size(head: bytes) -> Size | None:
    """Width and height in pixels from the first bytes of a PNG, GIF, BMP, WebP or JPEG, or None."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return _pair(">II", head, 16)
        if head[:6] in (b"GIF87a", b"GIF89a"):
            return _pair("<HH", head, 6)
        if head.startswith(b"BM"):
            w, h = struct.unpack_from("<ii", head, 18)
            return w, abs(h)
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp(head)
        if head.startswith(b"\xff\xd8"):
            return _jpeg(head)
    except (struct.error, IndexError):
        pass
    return None


def _pair(form: str, head: bytes, at: int) -> Size:
    w, h = struct.unpack_from(form, head, at)
    return w, h


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        w, h = _pair("<HH", head, 26)
        return w & 0x3FFF, h & 0x3FFF
    return None


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while at + 9 < len(head):
        if head[at] != 0xFF:
            return None
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            h, w = struct.unpack_from(">HH", head, at + 5)
            return w, h
        at += 1 if marker == 0xFF else 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return None


def _document_tokens(source: Mapping[str, object], data: str, head: bytes, family: str) -> int:
    inner = source.get("source")
    if isinstance(inner, Mapping) and inner.get("type") == "text":
        return len(str(inner.get("data", ""))) // 3
    if not data:
        return UNKNOWN_IMAGE
    counts = [int(n) for n in re.findall(rb"/Count\s+(\d{1,5})", head)]
    pages = max(counts, default=0) or len(re.findall(rb"/Type\s*/Page[^s]", head))
    pages = pages or ceil(len(data) * 3 / 4 / BYTES_PER_PAGE)
    return pages * (258 if family == "gemma" else PAGE)


def _seconds(head: bytes, size: int) -> float:
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE" and len(head) >= 32:
        rate = int.from_bytes(head[28:32], "little")
        return size / rate if rate else 0.0
    return size / BYTES_PER_SECOND


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data[: len(data) // 4 * 4], validate=False)
    except (binascii.Error, ValueError):
        return b""


def _detail(source: Mapping[str, object]) -> str:
    inner = source.get("image_url")
    detail = inner.get("detail") if isinstance(inner, Mapping) else source.get("detail")
    return detail if isinstance(detail, str) else "auto"
