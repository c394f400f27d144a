"""Rings between processes, as bytes in buffers. The package `annulus` wraps this module.

Each verb that waits releases the GIL, and a signal (Ctrl-C) ends the wait. `timeout` is in seconds: `None` waits for ever, and 0 does not wait.
What joins a ring by its name waits even with 0, for two seconds at most, where it has to ask a process of another user or container for the ring.

A handle may be used by several threads. A verb that finds the handle in another thread's hands waits for it: about 20 ms at most where the other
thread waits for a message. Two threads that receive from one handle share its messages.

A handle belongs to the process that made it: in a forked child each verb raises `ForkedError`.

An argument `buffer` has the buffer protocol: bytes, bytearray, memoryview, array.array, a NumPy array. It lies in one piece, in C order. TypeError: it is
no buffer. BufferError: it is read-only where something is received, or not in one piece. ValueError: its length does not fit. No other thread may
use its bytes meanwhile.

`directory` is where the names of rings are. `None` is the directory of this user. One that is not there is made where a ring is made.

`wait` says how the handle waits: block, backoff-spin, adaptive, busy-spin, pause-spin, monitor; see the library's `WaitStrategy`.
"""

import builtins
import os
import sys
from types import TracebackType
from typing import Any, Final, Literal, TypeAlias, TypedDict

from typing_extensions import Self

if sys.version_info >= (3, 12):
    from collections.abc import Buffer as _Buffer
else:
    _Buffer: TypeAlias = Any

_Kind: TypeAlias = Literal[
    "spsc", "mpsc", "lossy", "lossless", "bytes", "broadcast_bytes", "lossless_bytes", "mp_lossy", "mp_lossless", "frames", "lossless_frames", "watch", "service", "mpmc"
]
_State: TypeAlias = Literal["not_yet", "alive", "closed", "dead"]
_Start: TypeAlias = Literal["oldest", "newest"] | int
_WhenGone: TypeAlias = Literal["close", "wait"]
_Directory: TypeAlias = str | os.PathLike[str] | None

class AnnulusError(Exception):
    """What can go wrong with a ring."""

class ClosedError(AnnulusError):
    """The ring is closed, and all that was sent is received.

    `peer_died`: the process on the other side has died, in place of closing. `sent`: of `send_batch`, how many messages were sent before.
    """

    peer_died: bool
    sent: int

class TimeoutError(AnnulusError, builtins.TimeoutError):
    """It did not happen in that time."""

class FullError(TimeoutError):
    """No room came in the ring in that time."""

class RingNotFoundError(AnnulusError, LookupError):
    """There is no ring of this name."""

class NameTakenError(AnnulusError):
    """Another ring has this name."""

class MismatchError(AnnulusError, TypeError):
    """The ring's messages, or its kind, are not those that were asked for. The text shows both."""

class SchemaError(AnnulusError, ValueError):
    """The text is no schema."""

class PermissionError(AnnulusError, builtins.PermissionError):
    """The ring belongs to another user, or the system refuses access."""

class NoSeatError(AnnulusError):
    """Each seat of the lossless ring is taken, or each place for senders, or the place of the one consumer."""

class ForkedError(AnnulusError):
    """The handle belongs to the parent of this process: a forked child can't use it. Make one here."""

class DirectoryError(AnnulusError, OSError):
    """The directory can't be used for the names of rings."""

class LentError(AnnulusError, BufferError):
    """The handle lends memory of its ring, or what it has lent is still looked at."""

class RefusedError(AnnulusError):
    """The server has refused the question, or has closed the service before it received it."""

def canonical(text: str) -> str:
    """The text of a schema as rings write it: two texts that say the same have one canonical text. SchemaError."""

def schema_size(text: str) -> int:
    """How many bytes a message of this schema takes in a ring. SchemaError."""

def schema_json(text: str) -> str:
    """The structure of a schema as JSON: nodes of the kinds scalar, nonzero, text, array, struct, enum and option. SchemaError."""

def fingerprint(text: str) -> int:
    """A number of what a schema says of the layout: without units, comments and names of gaps. Two schemas with one fingerprint can share a ring."""

def directory_of_user() -> str:
    """Where the directory of this user is, or would be."""

class _Info(TypedDict):
    kind: _Kind
    capacity: int
    bytes: int
    alignment: int
    schema: str | None
    fingerprint: int
    creator: int
    identity: int

class _Entry(TypedDict):
    name: str
    state: _State
    process: int | None

def info(name: str | RawInvitation, directory: _Directory = None) -> _Info:
    """What a ring says of itself, without joining it: kind, capacity, size and alignment and schema of messages, its maker.

    RingNotFoundError, PermissionError, DirectoryError.
    """

def entries(directory: _Directory = None) -> list[_Entry]:
    """The names in a directory, with the state of each ring's process. DirectoryError."""

def make_lossy(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    deadline: float | None = None,
    continuing: bool = False,
) -> RawSender:
    """Makes a lossy broadcast ring and gives it a name, if there is one. Its messages have the schema, or only `bytes` bytes each.

    NameTakenError; SchemaError; ValueError: there is no such ring; DirectoryError.
    """

def make_lossless(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    seats: int = 16,
    deadline: float | None = None,
    continuing: bool = False,
) -> RawSender:
    """Makes a lossless broadcast ring, with seats for so many subscribers at one time."""

def make_mp(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    publishers: int = 16,
    seats: int | None = None,
    deadline: float | None = None,
) -> RawSender:
    """Joins the broadcast ring of several publishers of this name, or makes it where there is none: a lossy one, or with `seats` a lossless one.

    NoSeatError, MismatchError, too.
    """

def make_spsc(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    when_consumer_dies: _WhenGone = "close",
) -> RawSender:
    """Makes a queue of one producer and one consumer, and its producer."""

def make_mpsc(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    producers: int = 16,
    when_no_producer: _WhenGone = "wait",
    when_consumer_dies: _WhenGone = "close",
) -> RawReceiver:
    """Makes a queue of several producers, with places for so many at one time, and its one consumer."""

def make_mpmc(
    name: str | None,
    directory: _Directory,
    capacity: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
    producers: int = 16,
    consumers: int = 16,
    when_no_producer: _WhenGone = "wait",
    when_no_consumer: _WhenGone = "wait",
    unreceived: Literal["again", "drop"] = "again",
) -> RawQueue:
    """Makes a queue that several consumers share, with places for so many producers and consumers at one time."""

def join_sender(
    name: str | RawInvitation,
    directory: _Directory = None,
    schema: str | None = None,
    bytes: int | None = None,
    wait: str = "block",
    timeout: float | None = 0,
) -> RawSender:
    """Becomes a producer of a queue of several, or a publisher of a broadcast ring of several. Waits for the ring so long.

    `schema` or `bytes` is what the messages are to be; where both are None, they are what the ring says.
    RingNotFoundError: there is no such ring, and the timeout is 0. TimeoutError: none came. MismatchError; NoSeatError; ClosedError.
    """

def join_receiver(
    name: str | RawInvitation,
    directory: _Directory = None,
    start: _Start = "newest",
    schema: str | None = None,
    bytes: int | None = None,
    wait: str = "block",
    timeout: float | None = 0,
    awaited: bool = True,
) -> RawReceiver:
    """Subscribes to a broadcast ring, or becomes the consumer of a queue. Waits for the ring so long.

    `start` is for broadcast rings. With `awaited=False` it takes no seat in a lossless ring: then it loses messages where it falls behind.
    The errors of `join_sender`.
    """

class RawAbout:
    """What a ring is."""

    @property
    def name(self) -> str | None:
        """The ring's name; None if it has none."""
    @property
    def kind(self) -> _Kind:
        """Which ring it is."""
    @property
    def capacity(self) -> int:
        """How many messages the ring holds; a queue of several producers holds so many in all their places together.
        A queue of records: how many bytes. A table: how many cells."""
    @property
    def message_bytes(self) -> int:
        """How many bytes a message has."""
    @property
    def schema(self) -> str | None:
        """What the messages are, as the ring says it; None if only their size is known."""

class _End:
    @property
    def about(self) -> RawAbout:
        """What the ring is."""
    @property
    def is_closed(self) -> bool:
        """Whether the ring is closed. What was sent before may be left to receive."""
    def close(self) -> None:
        """Leaves the ring, as the end of the program does. A second call does nothing. Then other verbs raise ClosedError."""

class _Handle(_End):
    @property
    def invitation(self) -> RawInvitation | None:
        """What this process joins the ring by, if it has no name and was made by this handle."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

class RawInvitation:
    """The invitation to a ring without a name, for this process."""

class RawLoan:
    """What a handle has lent, until it is given back."""

    def view(self) -> memoryview:
        """A new memoryview of the bytes. LentError: they were given back."""
    def __len__(self) -> int:
        """How many messages there are, or there is room for; of a record, how many bytes."""
    def give_back(self, count: int | None) -> None:
        """Receives or sends the first `count` messages, or bytes of the record that is sent, and gives the rest back; None: neither.

        LentError: a view of them exists; then it happens once no view is left, and another verb of the handle is called. ClosedError: nothing was sent.
        """

class RawSender(_Handle):
    """The sending end of a ring."""

    def send(self, buffer: _Buffer, timeout: float | None = None) -> None:
        """Sends one message; waits for room where the ring waits for receivers. FullError (a TimeoutError), ClosedError."""
    def try_send(self, buffer: _Buffer) -> bool:
        """Sends one message without a wait. False: there is no room. ClosedError."""
    def send_batch(self, buffer: _Buffer, timeout: float | None = None) -> int:
        """Sends the messages of the buffer, one after the other, and returns how many: fewer than all if the time ends.

        The buffer's length is a multiple of `message_bytes`. ClosedError, whose `sent` says how many were sent before.
        """
    def reserve(self, most: int, timeout: float | None = None) -> RawLoan:
        """Reserves room in a queue for up to `most` messages, to write them there; waits for room for one. The room has any bytes at first.

        FullError (a TimeoutError), ClosedError, LentError. TypeError: a broadcast ring lends none.
        """
    def wait_for_subscribers(self, count: int, timeout: float | None = None) -> bool:
        """Waits until a lossless ring has so many subscribers, and returns whether it has: False if the ring is closed. True at once of other rings."""
    @property
    def sequence(self) -> int | None:
        """The number of the next message, of a broadcast ring with one publisher."""
    @property
    def owns_name(self) -> bool:
        """Whether this handle has given the ring its name, and takes it back when it is closed."""

class RawQueue(_End):
    """A queue that several consumers share, as a whole."""

    def __len__(self) -> int: ...
    @property
    def producers(self) -> int:
        """How many producers are there."""
    @property
    def consumers(self) -> int:
        """How many consumers are there."""
    @property
    def given_again(self) -> int:
        """How many messages were given again."""
    @property
    def dropped(self) -> int:
        """How many messages of dead consumers were dropped."""
    def end(self) -> None:
        """Closes the queue, for all processes."""
    @property
    def invitation(self) -> RawInvitation | None: ...

class RawClaimed:
    """A message that a consumer has claimed. Its end gives it back."""

    def message(self) -> builtins.bytes:
        """The message. AnnulusError: it is done, or given back."""
    def done(self) -> None:
        """It is received: nobody has it again. AnnulusError: it was given back before."""
    def give_back(self) -> None:
        """Gives it back. Of one that is done, it does nothing."""
    @property
    def is_over(self) -> bool: ...
    @property
    def given_before(self) -> int: ...

class RawReceiver(_Handle):
    """The receiving end of a ring."""

    def recv_into(self, buffer: _Buffer, timeout: float | None = None) -> bool:
        """Receives the next message into a buffer of `message_bytes` bytes. False: none came in time. ClosedError."""
    def try_recv_into(self, buffer: _Buffer) -> bool:
        """As `recv_into`, without a wait."""
    def recv_bytes(self, timeout: float | None = None) -> builtins.bytes:
        """Receives the next message as bytes. TimeoutError, ClosedError."""
    def try_recv_bytes(self) -> builtins.bytes | None:
        """As `recv_bytes`, without a wait; None if nothing is there. ClosedError."""
    def recv_batch_into(self, buffer: _Buffer, timeout: float | None = None) -> int:
        """Waits for a message, receives it and those that are there behind it, as many as fit, and returns how many. 0: none came in time.

        The buffer's length is a multiple of `message_bytes`. What lies behind the messages stays as it was. ClosedError.
        """
    def try_recv_batch_into(self, buffer: _Buffer) -> int:
        """As `recv_batch_into`, without a wait."""
    def readable(self, most: int | None = None, timeout: float | None = None) -> RawLoan:
        """Lends up to `most` messages where they lie in a queue, and waits for the first. They lie in one piece, so more may wait behind them.

        TimeoutError, ClosedError, LentError. TypeError: a broadcast ring lends none.
        """
    def latest_into(self, buffer: _Buffer) -> bool:
        """Receives the newest message that is there, and passes those before it, which count in `total_skipped` (of a lossy ring in `total_lagged`, too).

        Never the same message twice: False if nothing has come. ClosedError.
        """
    def latest_bytes(self) -> builtins.bytes | None:
        """As `latest_into`, as bytes; None if nothing has come."""
    def claim(self, timeout: float | None = None) -> RawClaimed:
        """Claims the next message of a queue that several consumers share. TimeoutError, ClosedError. TypeError: of another ring."""
    def try_claim(self) -> RawClaimed | None:
        """As `claim`, without a wait; None if nothing is there."""
    @property
    def deadline(self) -> float | None:
        """After how many seconds of silence the publisher is overdue; None if nobody has said that."""
    def overdue_after(self, seconds: float) -> None:
        """From now on the publisher is overdue after so many seconds, whatever it has promised. TypeError: of a queue."""
    @property
    def overdue(self) -> float | None:
        """For how many seconds the publisher has been silent, if it is overdue, and its process is there."""
    def make_values_by(self, dtype: Any) -> None:
        """From now on `recv_value` and its like make NumPy scalars of this dtype, whose itemsize is `message_bytes`.

        Needs NumPy. Once for each handle. ValueError: another itemsize, or the second call; TypeError: no dtype, or one of Python objects.
        """
    def recv_value(self, timeout: float | None = None) -> Any:
        """As `recv_bytes`; a NumPy scalar (of a structured dtype, `numpy.void`) after `make_values_by`."""
    def try_recv_value(self) -> Any:
        """As `try_recv_bytes`; a NumPy scalar after `make_values_by`."""
    def latest_value(self) -> Any:
        """As `latest_bytes`; a NumPy scalar after `make_values_by`."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Any:
        """As `recv_value`, without a limit; ends when the ring is closed and nothing is left. ClosedError: the process has died."""
    def __len__(self) -> int:
        """How many messages wait to be received."""
    def __bool__(self) -> Literal[True]: ...
    @property
    def cursor(self) -> int | None:
        """The number of the next message, of a broadcast ring."""
    @property
    def total_lagged(self) -> int:
        """How many messages it has lost because it fell behind."""
    @property
    def total_skipped(self) -> int:
        """How many messages `latest_into` and its like have passed."""
    @property
    def state(self) -> _State:
        """Whether the process that sends is there, or one of several. After the end: `dead` if it has died, and `closed` if it has closed."""
    def fileno(self) -> int:
        """A descriptor that is readable when something can be received, after `arm`. For select, poll, epoll, asyncio. Only poll for it."""
    def arm(self) -> bool:
        """Asks for a wake-up by the descriptor. False: something is there already, so receive it and do not wait. Call it before each wait."""

class RawBytesProducer(_End):
    """The producer of a queue of records, which are bytes of any length."""

    def send(self, record: _Buffer, timeout: float | None = None) -> None:
        """Sends a record. FullError (a TimeoutError), ClosedError. ValueError: it is longer than `max_len`."""
    def try_send(self, record: _Buffer) -> bool:
        """Sends a record without a wait. False: there is no room."""
    def reserve(self, max_bytes: int, timeout: float | None = None) -> RawLoan:
        """Reserves room for a record of up to so many bytes, to write it there; waits for room. The errors of `send`; LentError."""
    @property
    def max_len(self) -> int:
        """How long a record may be: half the capacity."""
    @property
    def invitation(self) -> RawInvitation | None:
        """What this process joins the queue by, if it has no name and was made by this handle."""
    @property
    def state(self) -> _State:
        """Whether the consumer's process is there."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

class RawBytesConsumer(_End):
    """The consumer of a queue of records."""

    def recv(self, timeout: float | None = None) -> builtins.bytes:
        """Receives a record. TimeoutError, ClosedError."""
    def readable(self, timeout: float | None = None) -> RawLoan:
        """Lends the next record where it lies in the queue, and waits for it. TimeoutError, ClosedError, LentError."""
    def try_recv(self) -> builtins.bytes | None:
        """Receives a record without a wait; None if nothing is there. ClosedError."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> builtins.bytes: ...
    @property
    def max_len(self) -> int: ...
    @property
    def state(self) -> _State:
        """Whether the producer's process is there."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
    def fileno(self) -> int: ...
    def arm(self) -> bool: ...

def make_bytes(
    name: str | None, directory: _Directory, capacity: int, wait: str = "block", when_consumer_dies: _WhenGone = "close"
) -> RawBytesProducer:
    """Makes a queue of records with so many bytes, and its producer."""

def join_bytes(
    name: str | RawInvitation, directory: _Directory = None, wait: str = "block", timeout: float | None = 0
) -> RawBytesConsumer:
    """Becomes the consumer of a queue of records. Waits for the queue so long."""

class RawFrame:
    """A frame that is held."""

    def view(self) -> memoryview:
        """A new memoryview of the bytes in place, read-only. It holds the frame."""
    def __len__(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def index(self) -> int: ...

class RawFramePublisher(_End):
    """The publisher of a ring of frames."""

    def loan(self, nbytes: int, timeout: float | None = None) -> RawLoan:
        """Lends a frame of so many bytes, to write to; waits for room where the ring is lossless.

        ValueError: it is more than `frame_bytes`. FullError (a TimeoutError), ClosedError, LentError.
        """
    def publish(self, content: _Buffer, timeout: float | None = None) -> None:
        """Publishes a copy of the bytes; waits for room where the ring is lossless. The errors of `loan`."""
    def wait_for_subscribers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until a lossless ring has so many subscribers; True at once for a lossy one."""
    @property
    def sequence(self) -> int: ...
    @property
    def held(self) -> int:
        """How many frames subscribers hold, of those that the ring no longer keeps."""
    @property
    def frame_bytes(self) -> int: ...
    @property
    def frames(self) -> int: ...
    @property
    def invitation(self) -> RawInvitation | None: ...

class RawFrameSubscriber(_End):
    """The subscriber of a ring of frames."""

    def recv(self, timeout: float | None = None) -> RawFrame:
        """Receives a frame. TimeoutError; ClosedError; LentError: as many are held as may be."""
    def try_recv(self) -> RawFrame | None:
        """Receives a frame without a wait; None if none is there. ClosedError, LentError."""
    def latest(self) -> RawFrame | None:
        """Receives the newest frame, and passes those before it. ValueError: the publisher waits for this subscriber."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> RawFrame: ...
    def __len__(self) -> int: ...
    @property
    def total_lagged(self) -> int: ...
    @property
    def cursor(self) -> int: ...
    @property
    def state(self) -> _State: ...
    @property
    def frame_bytes(self) -> int: ...
    @property
    def most_held(self) -> int: ...
    def fileno(self) -> int: ...
    def arm(self) -> bool: ...

def make_frames(
    name: str | None,
    directory: _Directory,
    frame_bytes: int,
    capacity: int = 4,
    schema: str | None = None,
    subscribers: int = 8,
    held: int = 2,
    alignment: int = 64,
    lossless: bool = False,
    wait: str = "block",
) -> RawFramePublisher:
    """Makes a ring of frames of up to so many bytes, and its publisher."""

def join_frames(
    name: str | RawInvitation,
    directory: _Directory = None,
    start: _Start = "newest",
    wait: str = "block",
    timeout: float | None = 0,
    awaited: bool = True,
) -> RawFrameSubscriber:
    """Subscribes to a ring of frames. Waits for the ring so long."""

class _RawServiceEnd(_End):
    @property
    def types(self) -> list[tuple[str | None, int]]:
        """The schema and the length of a question, and those of an answer."""
    @property
    def state(self) -> _State: ...

class RawServer(_RawServiceEnd):
    """The server of a service."""

    def recv(self, timeout: float | None = None) -> RawRequest:
        """Receives a question. TimeoutError, ClosedError."""
    def try_recv(self) -> RawRequest | None:
        """Receives a question without a wait; None if none is there. ClosedError."""
    def __len__(self) -> int: ...
    @property
    def clients(self) -> int: ...
    @property
    def open(self) -> int:
        """How many questions each client may have open."""
    @property
    def invitation(self) -> RawInvitation | None: ...
    def fileno(self) -> int: ...
    def arm(self) -> bool: ...

class RawRequest:
    """A question that is to be answered. Its end refuses it."""

    def question(self) -> builtins.bytes:
        """The question. AnnulusError: it is answered."""
    def answer(self, answer: _Buffer) -> bool:
        """Answers it, without a wait. False: the client is gone. ValueError: the answer has another length."""
    def refuse(self) -> None:
        """Refuses it. Of one that is answered, it does nothing."""
    @property
    def is_over(self) -> bool: ...
    @property
    def is_client_there(self) -> bool: ...

class RawClient(_RawServiceEnd):
    """A client of a service."""

    def ask(self, question: _Buffer) -> RawPendingAnswer:
        """Asks, without a wait. FullError: as many questions are open as may be. ClosedError. ValueError: the question has another length."""
    @property
    def open(self) -> int:
        """How many questions are open now."""
    @property
    def most_open(self) -> int: ...

class RawPendingAnswer:
    """The answer to a question, which is to come."""

    def recv(self, timeout: float | None = None) -> builtins.bytes:
        """The answer, for each call. TimeoutError; RefusedError; ClosedError: the server has died."""
    def try_recv(self) -> builtins.bytes | None:
        """The answer without a wait; None if it is not there. The errors of `recv`."""
    def fileno(self) -> int: ...
    def arm(self) -> bool: ...
    def close(self) -> None:
        """Gives the answer up."""

def make_service(
    name: str | None,
    directory: _Directory,
    open: int,
    clients: int,
    question: str | None = None,
    question_bytes: int | None = None,
    answer: str | None = None,
    answer_bytes: int | None = None,
    wait: str = "block",
) -> RawServer:
    """Makes a service, with places for so many clients, each with so many open questions, and its server."""

def join_service(
    name: str | RawInvitation,
    directory: _Directory = None,
    question: str | None = None,
    question_bytes: int | None = None,
    answer: str | None = None,
    answer_bytes: int | None = None,
    wait: str = "block",
    timeout: float | None = 0,
) -> RawClient:
    """Joins a service as a client. Waits for it so long."""

class RawNewestSender(_End):
    """Writes the values of a table."""

    def send_to(self, cell: int, buffer: _Buffer) -> None:
        """Replaces the value of a cell. Never waits. IndexError, ClosedError."""
    def get(self, cell: int) -> Any:
        """The newest value of a cell, as bytes, or as a NumPy scalar after `make_values_by`; None if nothing was sent to it. IndexError."""
    def cell(self, key: str) -> int:
        """The cell of this key, which gets one if it has none. ValueError: there can be no such key. NoSeatError: all cells have others."""
    def make_values_by(self, dtype: Any) -> None:
        """From now on `get` makes NumPy scalars of this dtype. Once for each handle."""
    @property
    def invitation(self) -> RawInvitation | None: ...

class RawNewestReader(_End):
    """Reads the values of a table."""

    def get(self, cell: int) -> Any:
        """The newest value of a cell, as of `RawNewestSender.get`. AnnulusError: the sender has replaced it at each look."""
    def find(self, key: str) -> int | None:
        """The cell of a key; None if no cell has it yet."""
    def keys(self) -> list[tuple[int, str]]:
        """Each cell that has a key, and its key, in the order in which they were added."""
    def changes(self, cell: int | None = None) -> RawChanges:
        """Waits for changes of a cell, or of all: it begins with the values that are there. IndexError."""
    def make_values_by(self, dtype: Any) -> None:
        """From now on `get` makes NumPy scalars of this dtype. Once for each handle."""
    @property
    def state(self) -> _State: ...

class RawChanges:
    """Waits for changes of a table."""

    def recv(self, timeout: float | None = None) -> tuple[int, Any]:
        """Receives the next change: its cell, and the newest value. Waits for it. TimeoutError, ClosedError."""
    def try_recv(self) -> tuple[int, Any] | None:
        """As `recv`, without a wait; None if nothing has changed. ClosedError."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[int, Any]: ...
    def key(self, cell: int) -> str | None:
        """The key of a cell; None if it has none yet."""
    def make_values_by(self, dtype: Any) -> None:
        """From now on `recv` and its like make NumPy scalars of this dtype. Once for each handle."""
    @property
    def state(self) -> _State: ...
    @property
    def is_closed(self) -> bool: ...
    def fileno(self) -> int: ...
    def arm(self) -> bool: ...
    def close(self) -> None: ...

def make_newest(
    name: str | None,
    directory: _Directory,
    cells: int,
    schema: str | None,
    bytes: int | None = None,
    alignment: int = 1,
    wait: str = "block",
) -> RawNewestSender:
    """Makes a table of newest values, and its sender."""

def join_newest(
    name: str | RawInvitation,
    directory: _Directory = None,
    schema: str | None = None,
    bytes: int | None = None,
    wait: str = "block",
    timeout: float | None = 0,
) -> RawNewestReader:
    """Opens a table of newest values, to read them. Waits for it so long."""
