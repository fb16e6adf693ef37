"""The vendor's own client against the emulator: hears by long connection, answers by its API
client, streams a card.

A program, for importing the whole of lark-oapi takes seconds: arguments are the emulator's URL, app
id and secret. It prints what it did and ends after the message "end".
"""

import json
import os
import sys

import lark_oapi as lark
from lark_oapi.api.cardkit import v1 as cardkit
from lark_oapi.api.im import v1 as im

URL, APP_ID, SECRET = sys.argv[1:]


def client() -> lark.Client:
    return lark.Client.builder().app_id(APP_ID).app_secret(SECRET).domain(URL).timeout(10).build()


API = client()


def answer(event: im.P2ImMessageReceiveV1) -> None:
    message = event.event.message
    text = json.loads(message.content)["text"]
    body = (
        im.ReplyMessageRequestBody.builder()
        .msg_type("text")
        .content(json.dumps({"text": f"lark: {text[:40]}"}))
    )
    asked = (
        im.ReplyMessageRequest.builder()
        .message_id(message.message_id)
        .request_body(body.uuid(text[:9]).build())
    )
    reply = API.im.v1.message.reply(asked.build())
    print("replied", reply.code, bool(reply.data.message_id), flush=True)
    if text == "card":
        stream(message.chat_id)
    if text == "end":
        sys.stdout.flush()
        os._exit(0)


def stream(chat: str) -> None:
    elements = [{"tag": "markdown", "element_id": "md1", "content": ""}]
    config = {"update_multi": True, "streaming_mode": True}
    card = json.dumps({"schema": "2.0", "config": config, "body": {"elements": elements}})
    made = API.cardkit.v1.card.create(
        cardkit.CreateCardRequest.builder()
        .request_body(cardkit.CreateCardRequestBody.builder().type("card_json").data(card).build())
        .build()
    )
    id = made.data.card_id
    content = json.dumps({"type": "card", "data": {"card_id": id}})
    body = (
        im.CreateMessageRequestBody.builder()
        .receive_id(chat)
        .msg_type("interactive")
        .content(content)
        .build()
    )
    sent = API.im.v1.message.create(
        im.CreateMessageRequest.builder().receive_id_type("chat_id").request_body(body).build()
    )
    words = (
        cardkit.ContentCardElementRequestBody.builder()
        .content("streamed by lark")
        .sequence(1)
        .build()
    )
    put = API.cardkit.v1.card_element.content(
        cardkit.ContentCardElementRequest.builder()
        .card_id(id)
        .element_id("md1")
        .request_body(words)
        .build()
    )
    settings = json.dumps({"config": {"streaming_mode": False}})
    closing = cardkit.SettingsCardRequestBody.builder().settings(settings).sequence(2).build()
    closed = API.cardkit.v1.card.settings(
        cardkit.SettingsCardRequest.builder().card_id(id).request_body(closing).build()
    )
    print("card", made.code, sent.code, put.code, closed.code, flush=True)


handler = (
    lark.EventDispatcherHandler.builder("", "").register_p2_im_message_receive_v1(answer).build()
)
lark.ws.Client(
    APP_ID, SECRET, event_handler=handler, domain=URL, log_level=lark.LogLevel.ERROR
).start()
