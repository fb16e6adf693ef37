"""The mutants of channels, of who may talk, and of what people do beside writing."""

from tests.mutants.mutant import Mutant

TELEGRAM = "tests/channels/telegram/test_contract.py::TestTelegram"
FEISHU = "tests/channels/feishu/test_contract.py::TestBySocket"
WECHAT = "tests/channels/wechat/test_contract.py::TestWechat"
MP = "tests/channels/wechat_mp/test_contract.py::TestWechatMp"
WECOM = "tests/channels/wecom/test_contract.py::TestWecom"
HOOKS = "tests/channels/test_hooks_attacks.py"
TLS = (
    "tests/channels/test_attacks_tls.py"
    "::test_S68_with_another_certificate_nothing_is_asked_and_nothing_is_sent"
)
PAIRING = "tests/bot/access/test_pairing.py"
ACTS = "tests/bot/commands/test_acts.py"
APPROVALS = "tests/bot/agent/test_approvals.py"
ATTACKS = "tests/bot/telemetry/test_log_attacks.py"
ROLES = "tests/bot/access/test_roles.py"
UNSTORED = "test_what_was_not_stored_is_not_confirmed_and_comes_again"
NO_ANSWER = "test_no_answer_in_time_is_called_unknown"
REFUSED = "test_an_error_behind_a_good_status_is_an_error"
AGAIN = "test_a_part_whose_answer_was_lost_is_sent_again_and_seen_once"
DEAD = "test_what_a_dead_process_had_not_stored_comes_to_the_next"
FLOODED = "test_I09_a_flooded_chat_delays_no_other"
SIGNATURE = "test_S15_a_signature_that_is_not_the_right_one_is_refused_however_it_is_wrong"
STORING = "channels/toolkit/delivery.py"

CHANNELS = (
    Mutant(
        name="feishu's events are confirmed though they could not be stored",
        guards="I1",
        file=STORING,
        target="store_with_retry",
        old=("await asyncio.sleep(pause)\npause = min(2 * pause, longest)"),
        new="return []",
        tests=(f"{FEISHU}::{UNSTORED}",),
    ),
    Mutant(
        name="wecom's messages are let go of though they could not be stored",
        guards="I1",
        file=STORING,
        target="store_with_retry",
        old=("await asyncio.sleep(pause)\npause = min(2 * pause, longest)"),
        new="return []",
        tests=(f"{WECOM}::{UNSTORED}", "tests/channels/wecom/test_channel.py"),
    ),
    Mutant(
        name="a call of the official account is answered though its message could not be stored",
        guards="I1",
        file="channels/wechat_mp/channel.py",
        target="WechatMp._answer_message",
        old=(
            "await self._pending.wait_for_hang_up(pending, number)\nreturn WebhookReply(status=503)"
        ),
        new="return WebhookReply(body=b'success')",
        tests=(f"{MP}::{UNSTORED}", "tests/channels/wechat_mp/test_replies.py"),
    ),
    Mutant(
        name="telegram's call is answered though its update could not be stored",
        guards="I1",
        file="channels/telegram/channel.py",
        target="Telegram.hook",
        old=(
            "log.warning('message not stored', error=type(err).__name__)\nreturn "
            "WebhookReply(status=503)"
        ),
        new=("log.warning('message not stored', error=type(err).__name__)\nreturn WebhookReply()"),
        tests=("tests/channels/telegram/test_webhook.py",),
    ),
    Mutant(
        name="feishu's call is answered though its event could not be stored",
        guards="I1",
        file="channels/feishu/channel.py",
        target="Feishu.hook",
        old=(
            "log.warning('event not stored', error=f'{type(err).__name__}: {err}')\nreturn "
            "WebhookReply(status=503)"
        ),
        new=(
            "log.warning('event not stored', error=f'{type(err).__name__}: {err}')\nreturn "
            "WebhookReply()"
        ),
        tests=("tests/channels/feishu/test_contract.py::TestByWebhook",),
    ),
    Mutant(
        name="wechat's cursor is kept before what stands before it",
        guards="I1",
        file="channels/wechat/channel.py",
        target="Wechat._store",
        old=(
            "await store_with_retry(lambda: deliver(messages, values), self.name)\n"
            "self._state.stored(values)"
        ),
        new=(
            "await self._state._write(values)\n"
            "self._state.stored(values)\n"
            "await store_with_retry(lambda: deliver(messages), self.name)"
        ),
        tests=(f"{WECHAT}::{DEAD}",),
    ),
    Mutant(
        name="what a channel keeps has a transaction of its own",
        guards="I1",
        file="memory/store/conversations/delivery.py",
        target="Delivery.accept_by_grants",
        old="accepted = await self._database.write(_accept_by_grants, delivered, admit, keep)",
        new=(
            "if keep:\n"
            "    await self._database.write(inbox_rows.accept, [], keep)\n"
            "accepted = await self._database.write(_accept_by_grants, delivered, admit, None)"
        ),
        tests=(f"{ATTACKS}::test_I01_what_a_channel_keeps_is_not_kept_where_its_messages_are_not",),
    ),
    Mutant(
        name="a part goes before one that has to wait",
        guards="I4",
        file="memory/store/conversations/outbox.py",
        target="_SELECT_NEXT",
        old=".order_by(outbox.c.line, outbox.c.part_no).limit(1)",
        new=(
            ".order_by(outbox.c.not_before, outbox.c.line, outbox.c.part_no).limit(1)\n"
            "_HAS_EARLIER_PART = _IS_ANOTHER_SENDING"
        ),
        tests=(
            (
                "tests/bot/gateway/test_gateway.py"
                "::test_parts_arrive_in_order_though_one_has_to_wait_in_the_middle"
            ),
        ),
    ),
    Mutant(
        name="a flood in one chat silences the channel",
        guards="I9",
        file="bot/gateway/gateway.py",
        target="Gateway._later",
        old=(
            "self._rates[name].pause('' if err.whole_channel else row.place.chat_id, "
            "time.monotonic(), wait)"
        ),
        new="self._rates[name].pause('', time.monotonic(), wait)",
        tests=(f"{TELEGRAM}::{FLOODED}",),
    ),
    Mutant(
        name="telegram's silence counts as sent",
        guards="I6",
        file="channels/telegram/client.py",
        target="BotApiClient.call",
        old="raise self._map_error(err) from err",
        new=(
            "if isinstance((found := self._map_error(err)), Ambiguous):\n"
            "    return {'message_id': 1}\n"
            "raise found from err"
        ),
        tests=(f"{TELEGRAM}::{NO_ANSWER}",),
    ),
    Mutant(
        name="wecom's silence counts as sent",
        guards="I6",
        file="channels/wecom/connection.py",
        target="Subscription._exchange",
        old="raise Ambiguous(f'no reply within {timeout:g} s') from err",
        new="return {'errcode': 0}",
        tests=(f"{WECOM}::{NO_ANSWER}",),
    ),
    Mutant(
        name="wechat's code behind a good status is not read",
        guards="I6",
        file="channels/wechat/client.py",
        target="_check_body",
        old="if code:",
        new="if False:",
        tests=(f"{WECHAT}::{REFUSED}",),
    ),
    Mutant(
        name="feishu's code behind a good status is not read",
        guards="I6",
        file="channels/feishu/client.py",
        target="FeishuClient.call",
        old=("if reply['code']:\n    raise _error_in_response(reply)"),
        new="",
        tests=("tests/channels/feishu/test_client.py",),
    ),
    Mutant(
        name="the official account's code behind a good status is not read",
        guards="I6",
        file="channels/wechat_mp/client.py",
        target="OfficialAccountClient._call_with_token",
        old=("if code:\n    raise error_for_code(code, text)"),
        new="",
        tests=(f"{MP}::{REFUSED}", "tests/channels/wechat_mp/test_replies.py"),
    ),
    Mutant(
        name="wecom's code in an answer is not read",
        guards="I6",
        file="channels/wecom/connection.py",
        target="error_in_reply",
        old="if code == 0:",
        new="if isinstance(code, int):",
        tests=(f"{WECOM}::{REFUSED}",),
    ),
    Mutant(
        name="each attempt at feishu has a key of its own",
        guards="I5",
        file="channels/feishu/cards.py",
        target="idempotency_key",
        old="return hashlib.sha256(key.encode()).hexdigest()[:40]",
        new="return hashlib.sha256(f'{key}{object()}'.encode()).hexdigest()[:40]",
        tests=(f"{FEISHU}::test_the_same_part_sent_again_is_seen_once",),
    ),
    Mutant(
        name="each attempt at wecom is a stream of its own",
        guards="I5",
        file="channels/wecom/messages.py",
        target="stream_id",
        old="return 's' + hashlib.sha256(name.encode()).hexdigest()[:31]",
        new="return 's' + hashlib.sha256(f'{name}{object()}'.encode()).hexdigest()[:31]",
        tests=(
            f"{WECOM}::{AGAIN}",
            "tests/channels/wecom/test_channel.py",
            "tests/channels/wecom/test_messages.py",
        ),
    ),
    Mutant(
        name="an edit is answered like a new message",
        guards="I12",
        file="bot/messages.py",
        target="_inbox_kind",
        old="if message.act in ('edit', 'delete', 'move'):",
        new="if message.act in ('delete', 'move'):",
        tests=(f"{ACTS}::test_I12_an_edit_of_what_was_answered_is_told_with_the_next_turn",),
    ),
    Mutant(
        name="each picture of an album has a turn",
        guards="I12",
        file="bot/messages.py",
        target="to_inbox_row",
        old=", album='' if admission.aside else message.album",
        new="",
        tests=(f"{ACTS}::test_I12_an_album_is_one_turn_with_all_its_pictures",),
    ),
    Mutant(
        name="what strangers send along is kept",
        guards="S01",
        file="bot/gateway/receiver.py",
        target="Receiver._to_row_with_files",
        old="attachments = () if admission.is_unread else message.attachments",
        new="attachments = message.attachments",
        tests=(f"{ATTACKS}::test_S01_where_the_allowlist_is_empty_nobody_is_let_in",),
    ),
    Mutant(
        name="who is an admin is one in every group",
        guards="S05",
        file="bot/access/permissions.py",
        target="cap_role",
        old="if where.kind == 'group' and actor.role == 'admin' and (not actor.admin_here):",
        new="if False:",
        tests=(
            "tests/bot/access/test_permissions.py",
            f"{ROLES}",
            "tests/bot/access/test_access_in_bot.py",
        ),
    ),
    Mutant(
        name="an allowed group lets its members in elsewhere",
        guards="S05",
        file="bot/access/permissions.py",
        target="listed_role",
        old="return 'user' if sender in allow else 'stranger'",
        new="return 'user' if allow else 'stranger'",
        tests=(
            f"{PAIRING}::test_S01_an_unpaired_member_of_an_allowed_group_is_a_guest_there_and_a_stranger_in_private",
        ),
    ),
    Mutant(
        name="anybody who knows the code says yes",
        guards="S08",
        file="memory/store/automation/approvals.py",
        target="_SELECT_BY_CODE",
        old="table.c.subject_id == bindparam('subject_id'",
        new="or_(table.c.subject_id == bindparam('subject_id'), table.c.id != literal_text('')",
        tests=(f"{APPROVALS}::test_S08_nobody_elses_yes_counts_and_it_stays_open_for_its_owner",),
    ),
    Mutant(
        name="an act that was approved runs at every press",
        guards="S08",
        file="memory/store/automation/approvals.py",
        target="_SET_STATE",
        old="table.c.state == bindparam('state'",
        new="or_(table.c.state == bindparam('state'), table.c.id != literal_text('')",
        tests=("tests/memory/store/test_access.py",),
    ),
    Mutant(
        name="a press is asked about again, whatever became of it",
        guards="S08",
        file="bot/agent/approvals.py",
        target="ApprovalService.begin",
        old="has_begun = row.state not in ('asked', 'approved')",
        new=("await self.access.move(row.id, row.state, 'asked')\nhas_begun = False"),
        tests=(
            f"{APPROVALS}::test_it_runs_once_with_the_very_arguments_that_were_shown",
            f"{ATTACKS}::test_S08_a_press_that_is_replayed_does_it_no_second_time",
        ),
    ),
    Mutant(
        name="telegram's call without a secret is believed",
        guards="S15",
        file="channels/telegram/receiver.py",
        target="_has_secret",
        old="return same and len(given) == 1",
        new="return not given or (same and len(given) == 1)",
        tests=(f"{HOOKS}::{SIGNATURE}",),
    ),
    Mutant(
        name="feishu's call without a signature is believed",
        guards="S15",
        file="channels/feishu/webhook.py",
        target="FeishuWebhookVerifier._verify_signature",
        old=("if not any(found):\n    return None"),
        new=("if not all(found):\n    return (str(int(time.time())), '')"),
        tests=(f"{HOOKS}::{SIGNATURE}",),
    ),
    Mutant(
        name="an encrypted call without its signature is believed",
        guards="S15",
        file="channels/wechat_mp/webhook.py",
        target="OfficialAccountWebhookVerifier._decrypt",
        old="if not is_signature_of(signature, (self._token, timestamp, nonce, encrypted)):",
        new="if False:",
        tests=(f"{HOOKS}::{SIGNATURE}",),
    ),
    Mutant(
        name="a file's path leads wherever the server says",
        guards="S32",
        file="channels/telegram/client.py",
        target="TelegramFileClient.fetch",
        old="if not path or path.startswith('/') or '..' in path.split('/'):",
        new="if not path:",
        tests=("tests/channels/telegram/test_media.py",),
    ),
    Mutant(
        name="a certificate is not looked at",
        guards="S68",
        file="channels/toolkit/http.py",
        target="create_http_client",
        old="create_tls_context()",
        new="False",
        tests=(TLS,),
    ),
)
