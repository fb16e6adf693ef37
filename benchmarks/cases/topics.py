"""One conversation on three topics, with 50, 60 and 40 messages: a project is set up, gets an API,
and is tested.

The counts are those of the boundary seed; once in English, once in Chinese.
"""

from typing import Any

from benchmarks.cases.desk import CHAT_SYSTEM
from benchmarks.cases.script import Script
from benchmarks.cases.talk import Said, Theme, talk

MESSAGES = (50, 60, 40)

SETUP_EN = Theme(
    asks=(
        "How do I get {tool} to pick up the {folder} folder of the new project?",
        "The project does not start after I installed {tool}, what is missing?",
        (
            "Should {tool} and {other} both be installed, or is one of them enough for a new React "
            "project?"
        ),
        "Where does the setup of {tool} belong, in the root or in {folder}?",
        "Which version of Node do I need for {tool}?",
        "Is there a shorter way to set up {tool} in the workspace?",
        "What do I put into the {file} of the project for {tool}?",
    ),
    says=(
        (
            "Install {tool} as a development dependency and let {file} in the root of the project "
            "point to {folder}."
        ),
        (
            "The workspace has one lock file, so run the install from the root and never inside "
            "{folder}."
        ),
        (
            "{tool} reads {file} when the project starts; after a change the development server "
            "has to be restarted."
        ),
        (
            "For a new React project {tool} is enough, {other} would only repeat what the bundler "
            "does already."
        ),
        "Keep the sources under {folder} and the build output outside of it, then the bundler "
        "ignores what it has built.",
        "Pin Node in {file}, so that everybody who installs the project has the same toolchain.",
        (
            "With {tool} the first install takes about {n} seconds, the next ones come out of the "
            "cache."
        ),
        "The alias for {folder} has to stand twice: in {file} for the editor and in the bundler's "
        "settings for the build.",
        (
            "A script named dev starts the bundler, one named build makes the bundle; {tool} needs "
            "no script of its own."
        ),
        (
            "If the install complains about a peer dependency, raise {tool} by a minor version "
            "rather than forcing it."
        ),
        "Put {file} under version control and leave the installed packages out of it.",
        "The template of the project brings {other}; remove it before you install {tool}, or both "
        "format the same files.",
    ),
    words={
        "tool": ("Vite", "pnpm", "ESLint", "Prettier", "TypeScript", "Tailwind", "Husky", "SWC"),
        "other": ("Webpack", "Babel", "Yarn", "PostCSS", "Rollup", "Create React App"),
        "folder": ("src", "packages/web", "packages/ui", "public", "src/assets", "src/styles"),
        "file": (
            "package.json",
            "tsconfig.json",
            "vite.config.ts",
            ".npmrc",
            ".editorconfig",
            "pnpm-workspace.yaml",
        ),
    },
)
API_EN = Theme(
    asks=(
        "What should the {route} endpoint answer when the {record} does not exist?",
        "How do clients page through the list of {record}s?",
        "Is {method} the right verb for changing a {record}?",
        "Which status code fits when the {record} was changed by another request meanwhile?",
        "Do we need {guard} on the {route} route as well?",
        "How is the body of a request for {route} validated?",
        "Should the response of {route} hold the whole {record}?",
    ),
    says=(
        (
            "The {route} endpoint answers with status {code} and a body that names the field which "
            "is wrong."
        ),
        (
            "A request with {method} to {route} must be repeatable, so the client sends a key in a "
            "header."
        ),
        "Lists are paged by a cursor: the response holds the next cursor, and the client sends it "
        "with the next request.",
        (
            "Validate the request body with a schema before the handler runs; the handler then "
            "sees only a valid {record}."
        ),
        "{guard} belongs in front of the router, so that no endpoint can be added without it.",
        (
            "Let the response carry an ETag, then a client that sends it back gets {code} when the "
            "{record} is unchanged."
        ),
        "The handler for {route} only translates: request to query, {record} to response; the "
        "rules live in the service.",
        "Return the {record} as it is stored, with dates in UTC, and let the client format them.",
        (
            "For {method} on {route} the limit is {n} requests a minute per token, told in the "
            "response headers."
        ),
        "Do not nest {route} deeper; a query parameter for the {record} is easier for every client.",  # noqa: E501
        (
            "A refusal always has the same shape: a code for the client, a sentence for a person, "
            "a trace id."
        ),
        (
            "Describe {route} in the OpenAPI document first; types of the client and validation "
            "are generated from it."
        ),
    ),
    words={
        "route": (
            "/orders",
            "/orders/:id",
            "/customers",
            "/sessions",
            "/carts/:id/items",
            "/invoices",
            "/uploads",
        ),
        "record": ("order", "customer", "session", "cart", "invoice", "upload"),
        "method": ("PUT", "PATCH", "POST", "DELETE"),
        "guard": ("authentication", "rate limiting", "CORS", "request logging"),
        "code": ("404", "409", "422", "429", "304", "412"),
    },
)
TEST_EN = Theme(
    asks=(
        "How do I test the {part} without {double}?",
        "The test of the {part} is red only on the build server, how can that be?",
        "Is a snapshot a good assertion for the {part}?",
        "How many tests does the {part} need?",
        "Should {runner} run these tests in parallel?",
        "What is the difference between {double} and a fixture for this test?",
    ),
    says=(
        (
            "Test the {part} through what a person sees: find the element by its role, act, and "
            "assert on the text."
        ),
        (
            "Replace {double} by a small fake that is written once and shared by all tests of the "
            "{part}."
        ),
        (
            "A test that waits for a fixed time is flaky; wait for the assertion instead, {runner} "
            "polls it."
        ),
        (
            "Each test builds its own fixture, so that {runner} may run them in any order and in "
            "parallel."
        ),
        "A snapshot of the {part} breaks with every change of markup and nobody reads the "
        "difference; assert on one fact.",
        (
            "Coverage of the {part} is at {n} per cent; the missing branches are the refusals, "
            "which matter most."
        ),
        "With {runner} the suite takes {n} seconds, most of it in the tests of the {part}.",
        (
            "Fake timers make the test of the {part} fast, but restore them after each test or the "
            "next one hangs."
        ),
        "First write the test, see it turn red for the right reason, then mend the {part}.",
        (
            "Keep {double} at the edge: the test of the {part} should turn red when the contract "
            "with it is broken."
        ),
        (
            "An assertion without a message is hard to read in the report of {runner}; name what "
            "was expected."
        ),
        "Mark slow tests, and let {runner} leave them out while you work on the {part}.",
    ),
    words={
        "part": (
            "login form",
            "cart reducer",
            "price formatter",
            "order list",
            "upload dialog",
            "date picker",
        ),
        "double": ("a mock", "a stub", "the mocked clock", "a spy", "the fake server"),
        "runner": ("Vitest", "Playwright", "Testing Library", "the test runner"),
    },
)

SETUP_ZH = Theme(
    gap="",
    asks=(
        "新项目里{tool}怎么安装？",
        "装完{tool}之后项目启动不了，还缺什么？",
        "{tool}的配置放在根目录还是{folder}目录？",
        "{tool}和{other}要不要都装？",
        "{file}里要写什么，{tool}才能认出{folder}目录？",
        "项目的目录结构这样搭行吗，{folder}放哪里？",
    ),
    says=(
        "把{tool}装成开发依赖，再让根目录的{file}指向{folder}目录。",
        "整个工作区只有一个锁文件，安装要在根目录执行，不要进{folder}里装。",
        "{tool}在项目启动时读取{file}，改完配置要重启开发服务器。",
        "新建的 React 项目用{tool}就够了，{other}做的事打包工具已经做了。",
        "源码放在{folder}目录，打包产物放在外面，这样打包工具不会扫描自己的输出。",
        "在{file}里固定 Node 版本，大家安装出来的环境才一致。",
        "第一次安装大约{n}秒，之后都走本地缓存。",
        "{folder}的路径别名要写两处：{file}给编辑器看，打包配置给构建用。",
        "脚本 dev 启动开发服务器，脚本 build 负责打包，{tool}不用单独的脚本。",
        "安装时报对等依赖冲突，就把{tool}升一个小版本，不要强行安装。",
        "{file}要提交到仓库，安装下来的依赖目录不要提交。",
        "项目模板自带{other}，装{tool}之前先卸掉，否则两个工具会抢着格式化同一批文件。",
    ),
    words={
        "tool": ("Vite", "pnpm", "ESLint", "Prettier", "TypeScript", "Tailwind", "Husky"),
        "other": ("Webpack", "Babel", "Yarn", "PostCSS", "Rollup"),
        "folder": ("src", "packages/web", "packages/ui", "public", "src/assets"),
        "file": (
            "package.json",
            "tsconfig.json",
            "vite.config.ts",
            ".npmrc",
            "pnpm-workspace.yaml",
        ),
    },
)
API_ZH = Theme(
    gap="",
    asks=(
        "查不到{record}的时候，{route}接口应该返回什么？",
        "{record}列表怎么分页？",
        "修改{record}用{method}请求合适吗？",
        "{record}被别的请求改过了，该返回哪个状态码？",
        "{route}这条路由也要加{guard}吗？",
        "{route}的请求体怎么校验？",
    ),
    says=(
        "{route}接口返回状态码{code}，响应体里写明是哪个字段不对。",
        "对{route}发{method}请求必须可以重复，客户端在请求头里带上幂等键。",
        "列表用游标分页：响应里带下一页的游标，客户端下次请求再传回来。",
        "请求体先用模式校验，再进处理函数，处理函数只会看到合法的{record}。",
        "{guard}放在路由前面，这样新增接口不会漏掉。",
        "响应带上 ETag，客户端带着它来请求，{record}没变就返回{code}。",
        "{route}的处理函数只做转换：请求变查询，{record}变响应，业务规则放在服务层。",
        "{record}按存储的样子返回，时间用 UTC，由客户端自己格式化。",
        "对{route}的{method}请求限制为每个令牌每分钟{n}次，写在响应头里。",
        "{route}不要再往下嵌套，用查询参数传{record}，各个客户端都省事。",
        "拒绝时的响应格式固定：给客户端的代码、给人看的一句话、追踪编号。",
        "先在接口文档里写好{route}，客户端类型和校验都由文档生成。",
    ),
    words={
        "route": (
            "/orders",
            "/orders/:id",
            "/customers",
            "/sessions",
            "/carts/:id/items",
            "/invoices",
        ),
        "record": ("订单", "客户", "会话", "购物车", "发票"),
        "method": ("PUT", "PATCH", "POST", "DELETE"),
        "guard": ("身份认证", "限流", "跨域检查", "请求日志"),
        "code": ("404", "409", "422", "429", "304"),
    },
)
TEST_ZH = Theme(
    gap="",
    asks=(
        "不用{double}，{part}怎么测试？",
        "{part}的用例只在构建机上是红的，是什么原因？",
        "{part}用快照断言合适吗？",
        "{part}要写多少个测试用例？",
        "这些用例让{runner}并行跑行不行？",
        "这个用例里{double}和测试夹具有什么区别？",
    ),
    says=(
        "测试{part}要从人看到的地方入手：按角色找元素，操作，再断言文字。",
        "用一个写好的替身代替{double}，{part}的所有用例共用它。",
        "固定等待几秒的用例一定不稳定，应该等断言成立，{runner}会自己轮询。",
        "每个用例自己准备夹具，{runner}才能乱序、并行地跑。",
        "{part}的快照一改标记就变红，没人会看差异，不如只断言一件事。",
        "{part}的覆盖率是百分之{n}，没覆盖的都是拒绝分支，恰恰最重要。",
        "用{runner}跑完整套用例要{n}秒，大半花在{part}的用例上。",
        "假时钟能让{part}的用例变快，但每个用例之后要还原，否则下一个会卡住。",
        "先写用例，看它因为正确的原因变红，再去修{part}。",
        "{double}只放在边界上，约定变了，{part}的用例就该变红。",
        "断言不写说明，{runner}的报告很难读，要写清期望是什么。",
        "给慢的用例打上标记，改{part}的时候让{runner}先跳过它们。",
    ),
    words={
        "part": ("登录表单", "购物车逻辑", "价格格式化", "订单列表", "上传对话框", "日期选择器"),
        "double": ("模拟对象", "桩函数", "模拟时钟", "间谍函数", "假服务器"),
        "runner": ("Vitest", "Playwright", "Testing Library", "测试运行器"),
    },
)

TOLD_EN = (
    (
        Said(
            at=1,
            user="Help me set up a new React project. It shall be called harbour-desk.",
            reply="Gladly.",
            asked=(("What shall the new React project be called?", "harbour-desk"),),
        ),
        Said(
            at=6,
            user="We are bound to Node 20.11.1, operations allow nothing newer.",
            reply="Then that is pinned.",
            asked=(
                (
                    "Which version of Node are we bound to, as operations allow nothing newer?",
                    "20.11.1",
                ),
            ),
        ),
        Said(
            at=13,
            user="The port 5173 is taken here. Let the development server use another one.",
            reply="It now listens on port 4319.",
            asked=(("On which port does the development server listen now?", "4319"),),
        ),
        Said(
            at=19,
            user="npm install dies with ERESOLVE.",
            reply=(
                "react-grid-kit wants React 17. Version 3.4.0 of it was the remedy: it accepts 18."
            ),
            asked=(("Which version of react-grid-kit was the remedy for ERESOLVE?", "3.4.0"),),
        ),
        Said(
            at=24,
            user="Our colours: the primary one is #1F6F8B.",
            reply="Entered into the theme.",
            asked=(("What is our primary colour?", "#1F6F8B"),),
        ),
    ),
    (
        Said(
            at=1,
            user="Great! Now let us turn to the API.",
            reply="Let us begin with the resources.",
        ),
        Said(
            at=5,
            user="The API must live under /v2/harbour because of the gateway.",
            reply="Noted.",
            asked=(("Under which path must the API live because of the gateway?", "/v2/harbour"),),
        ),
        Said(
            at=12,
            user="Tokens must not be valid for longer than 20 minutes.",
            reply="Then we refresh them silently.",
            asked=(("For how long may tokens be valid at most?", "20 minutes"),),
        ),
        Said(
            at=18,
            user="Shall deleting be immediate?",
            reply="We decided on soft deletion with a grace of 45 days.",
            asked=(("What grace did we decide on for soft deletion?", "45 days"),),
        ),
        Said(
            at=27,
            user="Who has to approve changes of the API?",
            reply="According to your wiki Tomasz approves them.",
            asked=(("Who approves changes of the API according to the wiki?", "Tomasz"),),
        ),
    ),
    (
        Said(
            at=1,
            user="Perfect. On to testing.",
            reply="We begin with the components that carry most.",
        ),
        Said(
            at=6,
            user="The test of the date picker fails after 18:00.",
            reply="It took the local day; setting TZ=UTC was the remedy.",
            asked=(
                ("What was the remedy for the date picker test that fails after 18:00?", "TZ=UTC"),
            ),
        ),
        Said(
            at=12,
            user="We want at least 83 % coverage.",
            reply="Set as the threshold.",
            asked=(("What coverage do we want at least?", "83 %"),),
        ),
    ),
)
TOLD_ZH = (
    (
        Said(
            at=1,
            user="帮我设置一个新的 React 项目，名字叫“听潮”。",
            reply="好的。",
            asked=(("新的 React 项目名字叫什么？", "听潮"),),
        ),
        Said(
            at=6,
            user="运维只允许 Node 20.11.1，不能更新。",
            reply="那就固定这个版本。",
            asked=(("运维只允许哪个 Node 版本？", "20.11.1"),),
        ),
        Said(
            at=13,
            user="5173 端口被占用了，开发服务器换一个。",
            reply="已改成 4319 端口。",
            asked=(("开发服务器改成了哪个端口？", "4319"),),
        ),
        Said(
            at=19,
            user="安装时报 ERESOLVE。",
            reply="react-grid-kit 只认 React 17，升到 3.4.0 就解决了。",
            asked=(("ERESOLVE 是把 react-grid-kit 升到哪个版本解决的？", "3.4.0"),),
        ),
        Said(
            at=24,
            user="我们的主色是 #1F6F8B。",
            reply="已写进主题。",
            asked=(("我们的主色是什么？", "#1F6F8B"),),
        ),
    ),
    (
        Said(at=1, user="太好了！现在让我们处理 API。", reply="先定资源。"),
        Said(
            at=5,
            user="因为网关的关系，接口必须放在 /v2/tide 下面。",
            reply="记下了。",
            asked=(("因为网关，接口必须放在哪个路径下面？", "/v2/tide"),),
        ),
        Said(
            at=12,
            user="令牌有效期不能超过二十分钟。",
            reply="那就静默刷新。",
            asked=(("令牌有效期不能超过多久？", "二十分钟"),),
        ),
        Said(
            at=18,
            user="删除要不要立即生效？",
            reply="我们决定软删除，保留四十五天。",
            asked=(("软删除决定保留多久？", "四十五天"),),
        ),
        Said(
            at=27,
            user="接口变更由谁批准？",
            reply="按你们的文档，由陆明远批准。",
            asked=(("接口变更由谁批准？", "陆明远"),),
        ),
    ),
    (
        Said(at=1, user="完美。继续测试。", reply="先测最要紧的组件。"),
        Said(
            at=6,
            user="日期选择器的用例晚上六点以后就失败。",
            reply="它取了本地日期，设置 TZ=UTC 之后好了。",
            asked=(("日期选择器的用例晚上失败，设置了什么之后好了？", "TZ=UTC"),),
        ),
        Said(
            at=12,
            user="覆盖率至少要百分之八十三。",
            reply="已设为门槛。",
            asked=(("覆盖率至少要多少？", "百分之八十三"),),
        ),
    ),
)
CHARS_EN = ((1_665, 2_205), (1_665, 2_205), (2_450, 3_150))
CHARS_ZH = ((610, 800), (610, 800), (700, 920))


def topics_en() -> dict[str, Any]:
    """The recording in English."""
    return _topics("topics_en", 50, (SETUP_EN, API_EN, TEST_EN), TOLD_EN, CHARS_EN)


def topics_zh() -> dict[str, Any]:
    """The recording in Chinese."""
    return _topics("topics_zh", 60, (SETUP_ZH, API_ZH, TEST_ZH), TOLD_ZH, CHARS_ZH)


def _topics(
    name: str,
    seed: int,
    themes: tuple[Theme, ...],
    told: tuple[tuple[Said, ...], ...],
    chars: tuple[tuple[int, int], ...],
) -> dict[str, Any]:
    script = Script(name=name, seed=seed, system=CHAT_SYSTEM)
    for theme, messages, items, size in zip(themes, MESSAGES, told, chars, strict=True):
        talk(script, theme, messages // 2, size, items)
    return script.written()
