"""Annulus: rings and queues between processes, from and to Rust, C, C++, Zig and Python (Linux).

A broadcast ring has a name, and each subscriber sees every message. The ring says what its messages are, so
they come as NumPy records:

>>> import annulus
>>> prices = annulus.publish("doc-package", [("bid", "f8"), ("ask", "f8")])      # usually another process
>>> sub = annulus.subscribe("doc-package")
>>> prices.send((1.0921, 1.0922))
>>> sub.recv()["ask"]
np.float64(1.0922)
>>> prices.close()

In a queue, each message reaches one consumer: see `spsc` and `mpsc`. See `subscribe` and `publish` for the
rest, and `message` for messages as dataclasses. NumPy is optional: without it, messages are bytes,
dataclasses or ctypes structures.

**Threads.** A handle may be used by several threads, and each verb by one at a time: another thread waits for
it, and two threads that receive share the messages. The GIL is released while a verb waits and while it
copies.

**Processes.** A handle belongs to the process that made it: in a forked child its verbs raise `ForkedError`.
The `ring` of a handle can be an argument of another process, which opens an end of its own: see `Ring`. A
ring whose name is `None` is for the threads of one process.
"""

from __future__ import annotations

from . import schema
from ._annulus import (
    AnnulusError,
    ClosedError,
    DirectoryError,
    ForkedError,
    FullError,
    LentError,
    MismatchError,
    NameTakenError,
    NoSeatError,
    PermissionError,
    RefusedError,
    RingNotFoundError,
    SchemaError,
    TimeoutError,
)
from ._frame_rings import Frame, FrameLoan, FramePublisher, FrameSubscriber
from ._frames import collect, columns, frame
from ._handles import (
    BytesConsumer,
    BytesProducer,
    Claimed,
    Consumer,
    Producer,
    Publisher,
    Subscriber,
    WorkQueue,
)
from ._lent import Lent, LentRecord
from ._message import (
    Array,
    Comment,
    EnumOf,
    MessageError,
    Name,
    NonZero,
    Text,
    Unit,
    char,
    f32,
    f64,
    from_bytes,
    i8,
    i16,
    i32,
    i64,
    i128,
    message,
    to_bytes,
    u8,
    u16,
    u32,
    u64,
    u128,
)
from ._newest import Change, Changes, NewestReader, NewestSender
from ._numpy import set_text, text
from ._open import (
    Entry,
    Info,
    consume,
    consume_bytes,
    info,
    join_publisher,
    join_service,
    mpmc,
    mpsc,
    names,
    produce,
    produce_bytes,
    publish,
    publish_frames,
    publish_newest,
    read_newest,
    serve,
    spsc,
    subscribe,
    subscribe_frames,
)
from ._ring import Ring
from ._services import Client, PendingAnswer, Request, Server
from .schema import Schema

__version__ = "0.1.0"

__all__ = [
    "AnnulusError",
    "Array",
    "BytesConsumer",
    "BytesProducer",
    "Change",
    "Changes",
    "Claimed",
    "Client",
    "ClosedError",
    "Comment",
    "Consumer",
    "DirectoryError",
    "Entry",
    "EnumOf",
    "ForkedError",
    "Frame",
    "FrameLoan",
    "FramePublisher",
    "FrameSubscriber",
    "FullError",
    "Info",
    "Lent",
    "LentError",
    "LentRecord",
    "MessageError",
    "MismatchError",
    "Name",
    "NameTakenError",
    "NewestReader",
    "NewestSender",
    "NoSeatError",
    "NonZero",
    "PendingAnswer",
    "PermissionError",
    "Producer",
    "Publisher",
    "RefusedError",
    "Request",
    "Ring",
    "RingNotFoundError",
    "Schema",
    "SchemaError",
    "Server",
    "Subscriber",
    "Text",
    "TimeoutError",
    "Unit",
    "WorkQueue",
    "char",
    "collect",
    "columns",
    "consume",
    "consume_bytes",
    "f32",
    "f64",
    "frame",
    "from_bytes",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "info",
    "join_publisher",
    "join_service",
    "message",
    "mpmc",
    "mpsc",
    "names",
    "produce",
    "produce_bytes",
    "publish",
    "publish_frames",
    "publish_newest",
    "read_newest",
    "schema",
    "serve",
    "set_text",
    "spsc",
    "subscribe",
    "subscribe_frames",
    "text",
    "to_bytes",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
]
