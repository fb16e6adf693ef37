"""Frames of Feishu's long connection, which are Protocol Buffers messages."""

from functools import cache
from typing import Any

CONTROL = 0  # method of a control frame; all others carry data

# Fields of the message `Frame`: name, type, label. Their numbers count from 1.
# Source: pbbp2.proto in lark-oapi 1.7, lark_oapi/ws/pb.
_FRAME_FIELDS = (
    ("SeqID", "TYPE_UINT64", "LABEL_REQUIRED"),
    ("LogID", "TYPE_UINT64", "LABEL_REQUIRED"),
    ("service", "TYPE_INT32", "LABEL_REQUIRED"),
    ("method", "TYPE_INT32", "LABEL_REQUIRED"),
    ("headers", "TYPE_MESSAGE", "LABEL_REPEATED"),
    ("payload_encoding", "TYPE_STRING", "LABEL_OPTIONAL"),
    ("payload_type", "TYPE_STRING", "LABEL_OPTIONAL"),
    ("payload", "TYPE_BYTES", "LABEL_OPTIONAL"),
    ("LogIDNew", "TYPE_STRING", "LABEL_OPTIONAL"),
)


@cache
def load_frame_class() -> Any:
    """Return the class of frames; the first call imports protobuf."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="pbbp2.proto", package="pbbp2", syntax="proto2")
    header = file.message_type.add(name="Header")
    for number, name in enumerate(("key", "value"), start=1):
        header.field.add(
            name=name, number=number, type=types.TYPE_STRING, label=types.LABEL_REQUIRED
        )
    frame = file.message_type.add(name="Frame")
    for number, (name, kind, label) in enumerate(_FRAME_FIELDS, start=1):
        field = frame.field.add(
            name=name, number=number, type=types.Type.Value(kind), label=types.Label.Value(label)
        )
        if kind == "TYPE_MESSAGE":
            field.type_name = ".pbbp2.Header"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pbbp2.Frame"))


def read_frame(raw: bytes) -> Any:
    """Parse a frame. Raises ValueError."""
    from google.protobuf.message import DecodeError

    frame = load_frame_class()()
    try:
        frame.ParseFromString(raw)
    except DecodeError as err:
        raise ValueError("not a frame") from err
    if not frame.IsInitialized():
        raise ValueError("a frame without its required fields")
    frame_headers(frame)  # text that is not UTF-8 is a ValueError where it is read
    return frame


def ping_frame(service: int) -> bytes:
    """Return a ping, which the platform answers by a pong."""
    frame = load_frame_class()(SeqID=0, LogID=0, service=service, method=CONTROL)
    frame.headers.add(key="type", value="ping")
    return bytes(frame.SerializeToString())


def ack_frame(frame: Any, milliseconds: int) -> bytes:
    """Return the acknowledgement of a frame that was processed in so many milliseconds."""
    frame.headers.add(key="biz_rt", value=str(milliseconds))
    frame.payload = b'{"code":200}'
    return bytes(frame.SerializeToString())


def frame_headers(frame: Any) -> dict[str, str]:
    """Return a frame's headers by name."""
    return {header.key: header.value for header in frame.headers}
