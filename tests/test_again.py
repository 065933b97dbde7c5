"""Whether something is said again, in several languages: what is open until a later text takes it up."""

from __future__ import annotations

import pytest

from foldline._facts.again import said_again


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("Next: wire the export button into the settings page.", "The export button is in the settings page now."),
        ("Use src/a.py for the journal.", "I moved the journal into src/a.py"),
        ("다음: 점장 화면에 버튼 추가", "점장 화면에 재출력 버튼을 추가했습니다."),
        ("次は、設定画面にボタンを追加します。", "設定画面にボタンを追加しました。"),
        ("下一步：给设置页面加导出按钮", "设置页面的导出按钮已经加好了。"),
    ],
)
def test_what_is_taken_up_is_said_again_and_another_thing_is_not(text: str, later: str) -> None:
    assert said_again(text, later)
    for other in (
        "The nightly backup ran.",
        "영수증 프린터의 포트는 9105입니다.",
        "請求書を印刷しました。",
        "发票已经打印。",
        "",
    ):
        assert not said_again(text, other)


def test_what_tells_nothing_is_never_said_again() -> None:
    assert not said_again("ok, do so", "ok, do so")
