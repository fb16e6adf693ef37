"""A long search for a fault in a login: more than 200 messages, 45 files read, 23 searches, 8
edits, in Chinese.

The counts, the size (about 180,000 tokens) and three of the edits are those the boundary seed
gives.
"""

import random
from typing import Any

from benchmarks.cases.beats import Beat, play
from benchmarks.cases.desk import TOOLS, system
from benchmarks.cases.script import Script

PROJECT = (
    "`gate` 是内部系统的登录服务：Express、Redis 会话、JWT。三个前端和一个手机应用都依赖它。"
    "回答用中文，代码和命令保持原样。"
)
BIG, SMALL = 0.97, 1.0  # on the sizes below, so that the whole is what the seed counts
BEATS = (
    Beat(
        said=(
            "调试认证系统：从昨天起有用户反复被踢下线。先看看，别急着改。注意：生产环境的 Redis "
            "不许执行 FLUSHALL。"
        ),
        steps=["read src/auth/auth.js 11000", "read logs/gate.log 12000", "search verifyToken 14"],
        fact=(
            "2026-03-01T22:14:07.551Z gate-2 auth WARN token rejected 4 812 times since deploy "
            "7f3c1e9"
        ),
        where=0.04,
        reply=(
            "被拒的都是刚签发的 token，从部署 7f3c1e9 开始。我先不改，继续找原因；FLUSHALL 不会碰。"
        ),
        asked=[
            ("从哪一次部署开始 token 被拒？", "7f3c1e9"),
            ("生产环境的 Redis 不许执行什么命令？", "FLUSHALL"),
        ],
    ),
    Beat(
        said="那次部署改了什么？",
        steps=[
            "bash git show --stat",
            "read src/auth/token.js 10500",
            "search expiresIn 9",
            "read config/default.json 8000",
        ],
        reply=(
            "三处：签名算法、过期时间的单位、Redis 的前缀。前缀改成了 `gate:v3:`，"
            "旧会话全部找不到。"
        ),
        asked=[("Redis 的前缀在那次部署里改成了什么？", "gate:v3:")],
    ),
    Beat(
        said="旧会话丢了只会踢一次，不会反复。继续看 token 验证。",
        steps=[
            "read src/auth/verify.js 11000",
            "search clockTolerance 7",
            "read docs/clock.md 9000",
            "read logs/verify.log 9500",
        ],
        fact="const CLOCK_TOLERANCE_MS = 5; // was 5000 before the clean-up",
        where=0.5,
        reply="容差少了三个零：毫秒当成了秒的写法。这能解释一部分，但解释不了全部。",
        asked=[("CLOCK_TOLERANCE_MS 在清理之前是多少？", "was 5000")],
        later=6,
    ),
    Beat(
        said="各台机器的时钟差多少？",
        steps=["bash chronyc tracking", "read logs/chrony.log 9000", "search ntpServer 5"],
        fact="gate-2 offset +1.912 s against pool, leap normal, stratum 4",
        where=0.5,
        reply="gate-2 快了将近两秒，其他机器都在十毫秒以内。",
        asked=[("gate-2 的 offset against pool 是多少秒？", "+1.912")],
    ),
    Beat(
        said="auth.js 里比较过期时间的地方给我看。",
        steps=[
            "read src/auth/auth.js 11000",
            "search payload.exp 8",
            "edit src/auth/auth.js 42",
            "fail auth",
        ],
        change=(
            "if (payload.exp < Date.now()) {",
            "if (payload.exp * 1000 + toleranceMs < Date.now()) {",
        ),
        fault="TypeError: toleranceMs is not defined",
        reply="在 auth.js 第 42 行找到问题：exp 是秒，却和毫秒比较。已修复 token 验证；"
        "第一次测试报 toleranceMs 没有定义，"
        "从 config 引入之后通过。",
        asked=[
            ("auth.js 的 token 验证问题在第几行？", "第 42 行"),
            ("payload.exp 的修复写成了什么表达式？", "payload.exp * 1000"),
        ],
    ),
    Beat(
        said="中间件遇到异常是直接断开的，能不能给出 401？",
        steps=[
            "read src/http/middleware.js 11500",
            "search asyncHandler 10",
            "edit src/http/middleware.js 78",
            "test middleware",
        ],
        change=(
            "await authenticate(req);",
            "try { await authenticate(req); } catch (error) { return next(unauthorised(error)); }",
        ),
        reply=(
            "middleware.js 第 78 行加了错误处理，验证失败返回 401，错误码 AUTH-EXP-02，"
            "不再断开连接。"
        ),
        asked=[("验证失败返回 401 时的错误码是什么？", "AUTH-EXP-02")],
    ),
    Beat(
        said="密钥是怎么读的？我记得以前写在配置里。",
        steps=[
            "read src/config/config.js 10500",
            "read src/config/secrets.js 9000",
            "search JWT_SECRET 12",
        ],
        fact="// JWT_SECRET falls back to 'dev-only-7731' when the file is empty",
        where=0.5,
        reply="文件为空时会退回一个写死的开发密钥，这很危险。",
        asked=[("文件为空时 JWT_SECRET falls back 到哪个值？", "dev-only-7731")],
    ),
    Beat(
        said="去掉这个退路，读不到就拒绝启动。",
        steps=["edit src/config/config.js 15", "test config", "read docs/config.md 8500"],
        change=("secret: read('JWT_SECRET') || DEV_SECRET,", "secret: required('JWT_SECRET'),"),
        reply="config.js 第 15 行更新了 JWT 密钥处理：读不到就以退出码 78 结束。",
        asked=[("读不到 JWT 密钥时以哪个退出码结束？", "退出码 78")],
    ),
    Beat(
        said="现在看刷新 token 的流程。",
        steps=[
            "read src/auth/refresh.js 11500",
            "read src/session/session.store.js 11000",
            "search rotateRefresh 11",
        ],
        reply="刷新时先删旧的再写新的，两步之间断了就两个都没有，用户会掉线。这正是“反复”的原因。",
    ),
    Beat(
        said="怎么改比较稳妥？给两个方案。",
        steps=["read docs/redis.md 9500", "search multi 9", "read docs/sessions.md 8500"],
        reply=(
            "方案甲：用 MULTI 包起来；方案乙：旧的留 30 秒宽限。我选方案乙，"
            "手机应用并发刷新时也不会互相踢。"
        ),
        asked=[("刷新 token 选了哪个方案？旧的留多久宽限？", "30 秒宽限")],
    ),
    Beat(
        said="同意。改吧。",
        steps=[
            "edit src/auth/refresh.js 57",
            "edit src/session/session.store.js 119",
            "fail refresh",
            "read logs/test.log 8000",
        ],
        change=("await store.delete(old);", "await store.expire(old, GRACE_SECONDS);"),
        fault="Error: Redis command EXPIRE needs an integer",
        reply="refresh.js 第 57 行和 session.store.js 第 119 行改好了。EXPIRE 要整数，宽限值加了 "
        "Math.trunc，测试通过。",
        asked=[("Redis 命令 EXPIRE 要整数，这个错误是怎么解决的？", "Math.trunc")],
    ),
    Beat(
        said="手机应用那边的日志也看一下。",
        steps=[
            "read logs/mobile.log 12500",
            "search deviceId 13",
            "read logs/device.log 10000",
            "read docs/push.md 9000",
        ],
        fact=(
            "2026-03-02T03:20:44.019Z edge-1 mobile INFO build 5.2.1 sends refresh twice within "
            "1.83 s on resume"
        ),
        where=0.5,
        reply="恢复到前台时会连续刷新两次，正好撞上那个空档。",
        asked=[("手机应用 on resume 时在多少秒内 sends refresh twice？", "1.83 s on")],
    ),
    Beat(
        said="手机组的联系人是周岚，改动要先给她看。",
        steps=["read docs/owners.md 7000", "search mobileOwner 5"],
        reply="记下了，涉及手机的改动先给她看。",
        asked=[("手机组的联系人是谁？", "周岚")],
    ),
    Beat(
        said="Cookie 的设置对不对？",
        steps=[
            "read src/http/cookies.js 9500",
            "search sameSite 8",
            "edit src/http/cookies.js 31",
            "test cookies",
        ],
        change=("sameSite: 'none',", "sameSite: 'lax', secure: true,"),
        reply="SameSite 写成了 none 又没有 secure，新版浏览器会丢掉。cookies.js 第 31 行已改。",
        asked=[("cookies.js 第几行改了 SameSite？", "第 31 行")],
    ),
    Beat(
        said="登录接口有没有限流？",
        steps=[
            "read src/http/limits.js 8000",
            "read src/login/login.controller.js 11000",
            "search rateLimit 10",
            "read config/limits.json 7500",
        ],
        fact=(
            "  // the limiter counts per proxy address, so an office behind one proxy shares 12 "
            "attempts per minute"
        ),
        where=0.5,
        reply="限流按代理地址计，一个办公室共用一份额度。",
        asked=[("一个办公室 behind one proxy 每分钟共用多少 attempts？", "12 attempts")],
    ),
    Beat(
        said="改成按账号加地址计。",
        steps=[
            "edit src/login/login.controller.js 203",
            "fail login",
            "search limiterKey 6",
            "read logs/login.log 9000",
        ],
        change=("const key = req.ip;", "const key = `${account}|${req.ip}`;"),
        fault="AssertionError: expected 429 but got 200",
        reply=(
            "login.controller.js 第 203 行改好。断言失败是因为测试没带账号，补上 account "
            "字段后通过。"
        ),
        asked=[("断言失败 expected 429 的原因是测试没带什么？", "没带账号")],
    ),
    Beat(
        said="会话在 Redis 里占多少内存？",
        steps=[
            "bash redis-cli info memory",
            "read logs/redis.log 9500",
            "search sessionTtl 7",
            "read config/redis.json 6500",
        ],
        fact="used_memory_human:2.37G maxmemory_policy:volatile-lru evicted_keys:90417",
        where=0.5,
        reply="内存已满，正在淘汰键，这也会让人掉线。",
        asked=[("Redis 的 evicted_keys 是多少？", "90417")],
    ),
    Beat(
        said="会话里都存了些什么？",
        steps=[
            "read src/session/session.model.js 10500",
            "read docs/serialize.md 9500",
            "search permissions 12",
        ],
        reply="每个会话都带着整份权限表，平均 11.4 KB，其实只要角色编号。",
        asked=[("每个会话带着权限表平均占多少 KB？", "11.4 KB")],
    ),
    Beat(
        said="只存角色编号，权限按需查。",
        steps=[
            "read logs/role.log 9500",
            "search roleCache 8",
            "edit src/session/serialize.js 64",
            "test session",
            "read logs/session.log 9000",
        ],
        reply="改好了，会话降到 0.6 KB。",
        asked=[("只存角色编号之后会话降到多少？", "0.6 KB")],
    ),
    Beat(
        said="有没有地方把 token 打到日志里？",
        steps=["search log.info 16", "read docs/logging.md 9000", "read src/http/trace.js 9500"],
        fact=(
            "  span.setAttribute('auth.header', req.headers.authorization); // full header, see "
            "TRC-118"
        ),
        where=0.5,
        reply="有一处：追踪里记了整个头部，单子上已经提过。",
        asked=[("追踪里记了整个 auth.header，对应哪张单子？", "TRC-118")],
    ),
    Beat(
        said="这个由安全组处理，我们不动。再看单点登录的回调。",
        steps=[
            "read src/sso/callback.js 11000",
            "read src/sso/metadata.js 9500",
            "search relayState 9",
        ],
        reply="回调没有检查 relayState 的长度，超过 80 字节会被对方截断，跳转就错了。",
        asked=[("relayState 超过多少字节会被截断？", "80 字节")],
    ),
    Beat(
        said="这算另一个问题，先记着。现在写一个回归测试。",
        steps=[
            "read docs/helpers.md 8500",
            "read test/fixtures.js 9000",
            "search fakeClock 6",
            "write test/auth.regression.js 3500",
            "test regression",
        ],
        reply="回归测试 auth.regression.js 覆盖了秒和毫秒、并发刷新、时钟偏差三种情况。",
    ),
    Beat(
        said="压测一下，和昨天比。",
        steps=[
            "bash npm run load",
            "read logs/load.log 10500",
            "read docs/load.md 7000",
            "search p95 6",
        ],
        fact=(
            "2026-03-02T10:41:00.000Z load-1 load INFO floor p95=412 ms now p95=166.4 ms at 900 rps"
        ),
        where=0.97,
        reply="快了一倍多，错误率为零。",
        asked=[("压测 now p95 是多少毫秒？", "166.4 ms")],
    ),
    Beat(
        said="预发布环境验证过了吗？",
        steps=[
            "bash kubectl get pods",
            "read logs/staging.log 10500",
            "search canary 6",
            "read config/staging.json 6500",
        ],
        reply="预发布跑了 40 分钟，没有一次掉线。上线窗口定在周四 21:30。",
        asked=[("上线窗口定在什么时候？", "周四 21:30")],
    ),
    Beat(
        said="监控要看哪几项？",
        steps=["read docs/alerts.md 8000", "read config/alerts.json 7500", "search alertRule 7"],
        reply="三项：401 的比例、evicted_keys、刷新失败数；超过千分之三就回滚。",
        asked=[("刷新失败数等监控超过多少就回滚？", "千分之三")],
    ),
    Beat(
        said="总结一下，在哪里找到问题的？",
        steps=["bash git status --short", "bash git commit -m auth"],
        reply="根源是过期时间的单位：在 auth.js 中秒与毫秒相比。另有刷新的空档、密钥的退路、"
        "Cookie、限流和会话过大，都已改好并提交。",
    ),
)


def debugging() -> dict[str, Any]:
    """The recording."""
    script = Script(
        name="debugging", seed=180, system=system(random.Random(42), 9_000, PROJECT), tools=TOOLS
    )
    play(script, BEATS, BIG, SMALL)
    return script.written()
