"""Services: questions of several clients to a server, and its answers, in any order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, cast

from . import _annulus, _asyncio
from ._annulus import ClosedError
from ._forms import Asked, Form, loader
from ._handles import State, _End, _no_pickle, _Polled, called
from .schema import Schema

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._ring import Ring

Q = TypeVar("Q")
A = TypeVar("A")


def asked_of(of: Any) -> Asked:
    """What a program says of a question or of an answer: a class, a dtype, a :class:`Schema`, or an ``int``,
    which is how many bytes it has; ``None``: nothing."""
    if isinstance(of, int) and not isinstance(of, bool):
        return Asked(None, None, of)
    return Asked(of, None, None)


class _Part:
    """Questions or answers, as Python has them."""

    def __init__(self, service: str, asked: Asked, text: str | None, size: int) -> None:
        form: Form[Any] = asked.form(service, text, size)
        self.schema = form.schema
        self.dump = form.dump
        self.load = loader(form)


class _Parts:
    def __init__(self, raw: Any, question: Asked, answer: Asked) -> None:
        service = called(raw.about.name)
        asked, answered = raw.types
        self.question = _Part(service, question, *asked)
        self.answer = _Part(service, answer, *answered)


class _ServiceEnd(_End):
    """What both ends of a service have."""

    def __init__(self, raw: Any, question: Asked, answer: Asked, ring: Ring[Any]) -> None:
        self._raw = raw
        self._ring = ring
        try:
            self._parts = _Parts(raw, question, answer)
        except BaseException:
            raw.close()
            raise

    @property
    def question_schema(self) -> Schema | None:
        """What a question is made of."""
        return self._parts.question.schema

    @property
    def answer_schema(self) -> Schema | None:
        """What an answer is made of."""
        return self._parts.answer.schema

    def __repr__(self) -> str:
        question, answer = self.question_schema, self.answer_schema
        return f"<annulus.{type(self).__name__} of {called(self.name)}: {question} to {answer}>"


class Request(Generic[Q, A]):
    """A question that a server has received, to be answered once. It may be kept, and answered in any order,
    by any thread. When nothing refers to it any more, it is refused; ``with request:`` refuses it at the end
    of the block, if it is not answered."""

    def __init__(self, raw: _annulus.RawRequest, parts: _Parts) -> None:
        self._raw = raw
        self._dump = parts.answer.dump
        self.question: Q = parts.question.load(raw.question())
        """The question."""

    def answer(self, answer: A) -> bool:
        """Answers the question, and returns whether the client was there. Never waits.

        Raises :class:`annulus.AnnulusError`: it is answered or refused already;
        :class:`annulus.MessageError`: a value that no answer can have.
        """
        return self._raw.answer(self._dump(answer))

    def refuse(self) -> None:
        """Refuses the question: its client gets a :class:`annulus.RefusedError`. Of a request that is answered
        it does nothing."""
        self._raw.refuse()

    @property
    def is_over(self) -> bool:
        """Whether it is answered or refused."""
        return self._raw.is_over

    @property
    def is_client_there(self) -> bool:
        """Whether the client can still receive an answer, as the kernel says."""
        return self._raw.is_client_there

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.refuse()

    def __repr__(self) -> str:
        return f"<annulus.Request {self.question!r}{', over' if self.is_over else ''}>"


class Server(_ServiceEnd, _Polled, Generic[Q, A]):
    """Receives the questions of all clients. :func:`annulus.serve` makes one."""

    _raw: _annulus.RawServer

    def _request(self, raw: _annulus.RawRequest) -> Request[Q, A]:
        return Request(raw, self._parts)

    def recv(self, timeout: float | None = None) -> Request[Q, A]:
        """Receives the next question, and waits for it, at most ``timeout`` seconds. Ctrl-C ends the wait.

        Raises :class:`annulus.ClosedError`: the service is closed, and all was received;
        :class:`annulus.TimeoutError`.
        """
        return self._request(self._raw.recv(timeout))

    def try_recv(self) -> Request[Q, A] | None:
        """As :meth:`recv`, without a wait: ``None`` if no question is there."""
        raw = self._raw.try_recv()
        return None if raw is None else self._request(raw)

    def __iter__(self) -> Iterator[Request[Q, A]]:
        """The questions as they come, until the service is closed. (A loop lets a request go only when it has
        the next: answer it, or refuse it.)"""
        while True:
            try:
                request = self.recv()
            except ClosedError:
                return
            yield request
            del request

    async def recv_async(self) -> Request[Q, A]:
        """As :meth:`recv`, for ``asyncio``. One task at a time receives."""
        while True:
            request = self.try_recv()
            if request is not None:
                return request
            await _asyncio.readable(self)

    async def __aiter__(self) -> AsyncIterator[Request[Q, A]]:
        """The questions as they come, as by ``for``."""
        while True:
            try:
                request = await self.recv_async()
            except ClosedError:
                return
            yield request
            del request

    def __len__(self) -> int:
        """How many questions wait to be received."""
        return len(self._raw)

    def __bool__(self) -> Literal[True]:
        return True

    @property
    def clients(self) -> int:
        """How many clients are there."""
        return self._raw.clients

    @property
    def most_open(self) -> int:
        """How many questions each client may have open at one time."""
        return self._raw.open


class PendingAnswer(Generic[A]):
    """The answer to a question, which is to come. ``await`` it, or ask for its :meth:`result`. When nothing
    refers to it any more, the answer is given up."""

    _awaited = False

    def __init__(self, raw: _annulus.RawPendingAnswer, load: Callable[[bytes], A]) -> None:
        self._raw = raw
        self._load = load
        self._result: A | None = None
        self._error: BaseException | None = None
        self._done = False

    def _got(self, receive: Callable[[], bytes | None]) -> bool:
        """Whether the answer is there, or an error that stays."""
        if self._done:
            return True
        try:
            message = receive()
        except (_annulus.RefusedError, ClosedError) as error:
            self._error = error
        else:
            if message is None:
                return False
            self._result = self._load(message)
        self._done = True
        return True

    def _told(self) -> A:
        if self._error is not None:
            raise self._error
        return cast(A, self._result)

    def result(self, timeout: float | None = None) -> A:
        """The answer. Waits for it, at most ``timeout`` seconds. Ctrl-C ends the wait. A second call returns
        the same.

        Raises :class:`annulus.RefusedError`; :class:`annulus.ClosedError`, whose ``peer_died`` is true: the
        server has died, and had not answered; :class:`annulus.TimeoutError`: it may still come.
        """
        self._got(lambda: self._raw.recv(timeout))
        return self._told()

    def done(self) -> bool:
        """Whether :meth:`result` would not wait."""
        return self._got(self._raw.try_recv)

    def __await__(self) -> Generator[Any, None, A]:
        return self._awaited_result().__await__()

    async def _awaited_result(self) -> A:
        while not self._got(self._raw.try_recv):
            await _asyncio.readable(self)
        return self._told()

    def fileno(self) -> int:
        """A descriptor for ``select``, which is readable when the answer is there, after :meth:`arm`."""
        return self._raw.fileno()

    def arm(self) -> bool:
        """Asks for a wake-up by the descriptor. ``False``: the answer is there."""
        return self._raw.arm()

    def __repr__(self) -> str:
        return f"<annulus.PendingAnswer{', done' if self._done else ''}>"

    def __reduce__(self) -> NoReturn:
        raise _no_pickle(self)


class Client(_ServiceEnd, Generic[Q, A]):
    """Asks a server. :func:`annulus.join_service` makes one."""

    _raw: _annulus.RawClient

    def ask(self, question: Q) -> PendingAnswer[A]:
        """Asks, and returns the answer that is to come. Never waits. Several questions may be open, up to
        :attr:`most_open`, and their answers come in any order.

        Raises :class:`annulus.FullError`: so many are open; :class:`annulus.ClosedError`: the service is
        closed; :class:`annulus.MessageError`: a value that no question can have.
        """
        return PendingAnswer(self._raw.ask(self._parts.question.dump(question)), self._parts.answer.load)

    @property
    def open(self) -> int:
        """How many questions are open: not answered, or their answers not received."""
        return self._raw.open

    @property
    def most_open(self) -> int:
        """How many questions may be open at one time."""
        return self._raw.most_open

    @property
    def state(self) -> State:
        """Whether the server is there: ``alive``, ``closed``, ``dead``."""
        return self._raw.state
