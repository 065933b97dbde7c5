"""A streamed reply on its way to who asked for it: every chunk is handed on as it came, and looked at once."""

from __future__ import annotations

from typing import Any, Protocol, Self

from foldline._engine.driving import Steps, adriven, driven


class Watcher(Protocol):
    """Who looks at a stream."""

    def look(self, chunk: Any) -> None:
        """Looks at a chunk that came."""

    def again(self, error: Exception) -> Steps:
        """The stream that takes the place of one that failed before anything came of it; raises the error where there is none."""

    def learn(self, error: Exception) -> None:
        """Looks at why a stream broke off in its middle."""


class _Watched:
    """A stream as the library made it, for who reads it; it passes for one of that class."""

    def __init__(self, stream: Any, watcher: Watcher) -> None:
        self._stream = stream
        self._watcher = watcher
        self._chunks: Any = None
        self._began = False

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_stream"), name)

    def _came(self, chunk: Any) -> Any:
        self._began = True
        self._watcher.look(chunk)
        return chunk

    def _again(self, error: Exception) -> Steps:
        """The steps to a stream in place of one that failed; raises the error where something came of it already."""
        if self._began:
            self._watcher.learn(error)
            raise error
        return self._watcher.again(error)


class Passing(_Watched):
    """A stream that is waited for."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        self._chunks = self._chunks or iter(self._stream)
        try:
            chunk = next(self._chunks)
        except StopIteration:
            raise
        except Exception as error:  # noqa: BLE001 - raised again, or recovered from
            self._stream = driven(self._again(error))
            self._chunks = iter(self._stream)
            chunk = next(self._chunks)
        return self._came(chunk)

    def __enter__(self) -> Self:
        if hasattr(self._stream, "__enter__"):
            self._stream.__enter__()
        return self

    def __exit__(self, *failed: Any) -> Any:
        return self._stream.__exit__(*failed) if hasattr(self._stream, "__exit__") else None


class AwaitedPassing(_Watched):
    """A stream that is awaited."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        self._chunks = self._chunks or aiter(self._stream)
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            self._stream = await adriven(self._again(error))
            self._chunks = aiter(self._stream)
            chunk = await anext(self._chunks)
        return self._came(chunk)

    async def __aenter__(self) -> Self:
        if hasattr(self._stream, "__aenter__"):
            await self._stream.__aenter__()
        return self

    async def __aexit__(self, *failed: Any) -> Any:
        return await self._stream.__aexit__(*failed) if hasattr(self._stream, "__aexit__") else None
