"""The checks of `mnema doctor` in Chinese."""

import os
from contextlib import suppress
from dataclasses import replace

from bot.cli.doctor.channels import DoctorCheck
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.errors import ConfigError
from bot.tools.mcp.stdio import WITHOUT_SANDBOX
from channels.toolkit.phrases import PhraseBook

# What checks are called in Chinese; of "channel NAME" and "mcp NAME" the first word.
TITLES = {
    "system": "系统",
    "configuration": "配置",
    "database": "数据库",
    "reminders": "提醒",
    "audit": "审计记录",
    "ledger": "消息账目",
    "index": "索引",
    "disk": "磁盘",
    "embedding": "向量模型",
    "model": "模型",
    "model health": "模型状态",
    "model window": "模型窗口",
    "summaries and facts": "摘要与事实",
    "newest error": "最近的错误",
    "counter": "token 计数",
    "clock": "时钟",
    "web token": "网页令牌",
    "privacy": "文件权限",
    "instance": "进程",
    "machine": "运行情况",
    "public address": "公网地址",
    "channels": "渠道",
    "channel": "渠道",
    "mcp": "MCP",
    "skills": "技能",
    "plug-ins": "插件",
    "exec": "命令执行",
    "web tools": "网页工具",
    "renamed files": "改名的文件",
}
SENTENCES = {
    # System.
    "It has all that mnema uses.": "mnema 用到的都有。",
    "It has no {}: mnema run and commands that write cannot work here.": (
        "缺少 {}：mnema run 和会写入的命令在这里无法工作。"
    ),
    "It has no {}: commands of the model and sandboxed MCP servers cannot work here.": (
        "缺少 {}：模型的命令和沙箱里的 MCP 服务器在这里无法工作。"
    ),
    "Run it on Linux or macOS; on Windows in WSL.": (
        "请在 Linux 或 macOS 上运行；Windows 上请用 WSL。"
    ),
    # Configuration, database, index, disk.
    "Fix it, then check again with mnema config check.": (
        "改好之后，用 mnema config check 再检查一遍。"
    ),
    "mnema --home {} init creates one.": "mnema --home {} init 会创建一个。",
    "There is no config.json; all settings have their defaults.": (
        "没有 config.json，所有设置都用默认值。"
    ),
    "{} is valid.": "{} 有效。",
    "There is none yet; the first start creates it.": "还没有，首次启动时创建。",
    "the database has the tables of {}, which is newer than this program's {}": (
        "数据库的表结构是 {}，比本程序的 {} 更新"
    ),
    "Start it with the newer version of mnema.": "请用更新版本的 mnema 启动。",
    "the database has the tables of {}, which this version cannot upgrade; go through commit {} "
    "first: its mnema migrate upgrades a database, its mnema restore a backup": (
        "数据库的表结构是 {}，这个版本无法升级；请先用提交 {} 过渡："
        "那里的 mnema migrate 升级数据库，mnema restore 恢复备份"
    ),
    "mnema migrate upgrades it; a kill meanwhile leaves it unchanged.": (
        "用 mnema migrate 升级；中途被终止也不会改动数据库。"
    ),
    "It opens.": "可以打开。",
    "It opens, and SQLite finds no damage.": "可以打开，SQLite 没有发现损坏。",
    "SQLite finds it damaged: {}.": "SQLite 发现它损坏了：{}。",
    (
        "Stop mnema and start it again: what can be read is kept, and a snapshot takes the place "
        "of the rest."
    ): ("请停止 mnema 再启动：能读出的内容会保留，其余由快照补上。"),
    "There are none.": "没有。",
    "{} reminders and tasks, {} of them paused.": "共有 {} 个提醒和任务，其中 {} 个已暂停。",
    "{} reminders and tasks, {} of them paused. {} are overdue.": (
        "共有 {} 个提醒和任务，其中 {} 个已暂停，{} 个已过期未执行。"
    ),
    "{} reminders and tasks, {} of them paused. {} came due while no bot ran.": (
        "共有 {} 个提醒和任务，其中 {} 个已暂停，{} 个在机器人没有运行时到期。"
    ),
    "The bot runs but does not fire them; its log says why. A restart sends them late.": (
        "机器人在运行，却没有执行它们；原因见日志。重启后会补发。"
    ),
    "Every act stands as it was written.": "每条记录都和写入时一致。",
    "The audit was altered; mnema audit list shows what is left of it.": (
        "审计记录被改动过；mnema audit list 显示剩下的内容。"
    ),
    "Act {} is not as it was written: {}.": "第 {} 条记录和写入时不一致：{}。",
    "Every message is in exactly one class: in view, folded or cleared.": (
        "每条消息都恰好属于一类：在视野内、已整理或已清空。"
    ),
    "It has {} fault; the first: {}.": "有 {} 处问题：{}。",
    "It has {} faults; the first: {}.": "有 {} 处问题，第一处：{}。",
    "No message is lost; keep a copy of data/ and report it with this sentence.": (
        "消息没有丢失；请备份 data/，并连同这句话一起反馈。"
    ),
    "{} is no folder that this user may write to, so that nothing can be searched.": (
        "{} 不是当前用户可写的文件夹，因此无法搜索。"
    ),
    "Remove {}, or fix its permissions; the index is rebuilt automatically.": (
        "请删除 {}，或修正权限；索引会自动重建。"
    ),
    "There is none yet; the first search creates it.": "还没有，首次搜索时创建。",
    "Nothing is lost: mnema memory index{} rebuilds it from the files and the database.": (
        "没有丢失任何内容：mnema memory index{} 会根据文件和数据库重建。"
    ),
    "The index of {} has a fault: {}.": "{} 的索引有问题：{}。",
    "It is sound: {} row for {} space.": "完好：{} 行，{} 个空间。",
    "It is sound: {} rows for {} space.": "完好：{} 行，{} 个空间。",
    "It is sound: {} row for {} spaces.": "完好：{} 行，{} 个空间。",
    "It is sound: {} rows for {} spaces.": "完好：{} 行，{} 个空间。",
    "Files changed since: {}; the next search reads them.": (
        "此后有 {} 个文件改动过，下次搜索时读取。"
    ),
    "{} cannot be written by this user.": "当前用户不能写入 {}。",
    "{} GB are free on the disk of {}.": "剩余 {} GB（{} 所在的磁盘）。",
    "Free some space: without it no message can be stored.": "请腾出一些空间，否则无法保存消息。",
    # Models, counter, clock, token, privacy, files.
    "Recall works by words alone; set memory.embedding to null if that is intended.": (
        "目前只按词回忆；如果这是你的本意，把 memory.embedding 设为 null。"
    ),
    "The running bot has no trouble with its models.": "运行中的机器人用各个模型都正常。",
    "The running bot gets no answer from {}: {}.": "运行中的机器人得不到 {} 的回答：{}。",
    "The next message tries it again; Try now on the page's Health does so at once.": (
        "下一条消息会再试；网页“状态”里的“立即再试”会马上试。"
    ),
    "{} answers: tools {}, sight {}, streaming {}, thinking {}.": (
        "{} 有回应：工具 {}，看图 {}，流式输出 {}，思考 {}。"
    ),
    (
        "Its server refuses tools ({}): choose a model that supports them, or enable them on the "
        "server."
    ): ("它的服务器不接受工具（{}）：请换一个支持工具的模型，或在服务器上打开工具支持。"),
    "{} answers with vectors of {} numbers.": "{} 有回应，向量有 {} 维。",
    "Set llm.api_key, or the environment variable it reads.": (
        "请设置 llm.api_key，或它读取的环境变量。"
    ),
    "The offline model answers: there is no key.": "没有密钥，由离线模型回答。",
    "The offline model answers: llm.api_key reads the environment variable {}, which is not set.": (
        "由离线模型回答：llm.api_key 读取环境变量 {}，但它没有设置。"
    ),
    "Set it where mnema is started, or write the key into config.json.": (
        "在启动 mnema 的地方设置它，或者把密钥直接写进 config.json。"
    ),
    "Tokens are counted with the o200k ranks.": "用 o200k 词表计数。",
    "Reinstall mnema: {} or tiktoken is missing.": "请重新安装 mnema：缺少 {} 或 tiktoken。",
    "Tokens are estimated by weight, less exactly.": "按权重估算，不太精确。",
    "It is {} in {}.": "现在是 {}（{}）。",
    "The clock is wrong; set it, or the daily log gets wrong days.": (
        "时钟不准，请校正，否则日志的日期会出错。"
    ),
    "There is none yet; mnema run creates it.": "还没有，mnema run 会创建。",
    "Other users may read it (mode {}).": "其他用户可以读取（权限 {}）。",
    "Run: chmod 600 {}": "请运行：chmod 600 {}",
    "Only its owner may read it.": "只有所有者可以读取。",
    "No other account can read the files here.": "其他账号都不能读取这里的文件。",
    "Other accounts may open {} (mode {}).": "其他账号可能打开 {}（权限 {}）。",
    "Other accounts may open {} (mode {}), and {} more.": (
        "其他账号可能打开 {}（权限 {}），另有 {} 个。"
    ),
    "Run: {}": "请运行：{}",
    "Run: {}; the next start of mnema closes the rest.": (
        "请运行：{}；其余的在 mnema 下次启动时收紧。"
    ),
    "mnema runs here as process {}.": "mnema 正在这里运行，进程号 {}。",
    "No instance runs on this home.": "这个主目录上没有正在运行的 mnema。",
    "Look into data/log/mnema.log.": "请查看 data/log/mnema.log。",
    "The running bot fails at {}: {}.": "正在运行的机器人在 {} 上出错：{}。",
    "It has {} of {} tokens.": "占 {} 个 token，上限 {}。",
    "Over {} tokens: every request pays for them; shorten it.": (
        "超过 {} 个 token：每次请求都要为它付费，请缩短。"
    ),
    "Put a plain file that the bot's account may read at {}; its last text stays in use.": (
        "请在 {} 放一个机器人账号可读的普通文件；在那之前沿用上一次的内容。"
    ),
    "It cannot be read: {}.": "无法读取：{}。",
    "Replace it by plain text of at most {} bytes; nothing is written to it until then.": (
        "请换成最多 {} 字节的纯文本；在那之前不会写入。"
    ),
    "It has {} byte.": "大小 {} 字节。",
    "It has {} bytes.": "大小 {} 字节。",
    "Move old lines to another file; a search finds them there too.": (
        "请把旧的行移到别的文件；在那里也搜得到。"
    ),
    "It has more than {} memories: the last {} are not tracked as memories.": (
        "记忆超过 {} 条：最后 {} 条没有作为记忆跟踪。"
    ),
    # Channels.
    "It has settings but does not start: {} is empty.": "有设置，但没有启动：{} 是空的。",
    "Set channels.{}, or the environment variable it reads.": (
        "请设置 channels.{}，或它读取的环境变量。"
    ),
    "It has credentials, but enabled is false: it does not start.": (
        "有凭据，但 enabled 是 false，所以不启动。"
    ),
    "Set channels.{}.enabled to true to start it.": "把 channels.{}.enabled 设为 true 就会启动。",
    (
        "Its calls are not encrypted: a machine on the way can forge them, so every user is only a "
        "guest."
    ): ("平台的调用没有加密，途中的机器可以伪造，因此所有人都只是访客。"),
    (
        "Choose safe mode (安全模式) at the platform, and set channels.wechat_mp.encoding_aes_key "
        "to its key."
    ): ("请在平台选择“安全模式”，并把 channels.wechat_mp.encoding_aes_key 设为它的密钥。"),
    "Look into data/log/mnema.log, or restart it.": "请查看 data/log/mnema.log，或重启机器人。",
    "data/log/mnema.log says why; mnema config check shows errors of the configuration.": (
        "原因见 data/log/mnema.log；mnema config check 会指出配置里的错误。"
    ),
    "It is on, but the running bot has not started it.": "已启用，但正在运行的机器人没有启动它。",
    "It is on.": "已启用。",
    "It is on; only mnema run can try it.": "已启用；只有 mnema run 才能实际尝试。",
    "It is on and answers: {}.": "已启用，有回应：{}。",
    "It gave no answer in {} seconds.": "{} 秒内没有回应。",
    "The check failed: {}: {}.": "检查失败：{}：{}。",
    "With mnema run running: mnema channels login {}, or scan the code under Channels in the page.": (  # noqa: E501
        "在 mnema run 运行时执行 mnema channels login {}，或在网页的“渠道”里扫码。"
    ),
    "Update the credentials in channels.{}; the platform refuses the present ones.": (
        "请更新 channels.{} 里的凭据；平台不接受现在的。"
    ),
    "Stop the other program that uses this account, or set channels.{}.enabled to false here.": (
        "请停掉使用这个账号的另一个程序，或在这里把 channels.{}.enabled 设为 false。"
    ),
    "Check the network, and addresses and proxy in channels.{}; mnema run tries it again by itself.": (  # noqa: E501
        "请检查网络，以及 channels.{} 里的地址和代理；mnema run 会自动重试。"
    ),
    # The public address.
    "The certificate of {} is right; mnema run is not running, so no more was tried.": (
        "{} 的证书没有问题；mnema run 没有运行，所以没有再往下检查。"
    ),
    "Start it, then check again.": "启动之后再检查一遍。",
    "{} reaches the page: certificate, Host, Origin, body size and event stream are right.": (
        "可以通过 {} 打开网页：证书、Host、Origin、请求体大小和事件流都没有问题。"
    ),
    "Renew it for {}, and serve it with its whole chain.": "请为 {} 更新证书，并提供完整的证书链。",
    "The certificate of {} is not accepted: {}.": "{} 的证书不被接受：{}。",
    "Let the proxy serve TLS 1.2 or later on this port.": (
        "请让代理在这个端口上提供 TLS 1.2 或更高版本。"
    ),
    "{} does not support TLS: {}.": "{} 不支持 TLS：{}。",
    "Start the proxy, and look at the DNS entry of {} and at the firewall.": (
        "请启动代理，并检查 {} 的 DNS 记录和防火墙。"
    ),
    "{} cannot be reached: {}.": "无法连接 {}：{}。",
    (
        "Let it pass every path of this host to {} as it is; set public_url to the address without "
        "redirect."
    ): ("请让它把这个主机的所有路径原样转发到 {}；public_url 应设为不再重定向的地址。"),
    "{} redirects to {}.": "{} 重定向到 {}。",
    "The proxy at {} answers {}: it does not reach mnema.": "{} 的代理回答 {}：它连不上 mnema。",
    "Let it pass to {}.": "请让它转发到 {}。",
    "Let it pass every path of this host to {}, with no login and no pages of its own.": (
        "请让它把这个主机的所有路径转发到 {}，不要有自己的登录和页面。"
    ),
    "Something else answers at {}, with {}.": "{} 上是别的程序在回答，状态码 {}。",
    "Let it pass Host on as it is; nginx: proxy_set_header Host $http_host; then {} arrives.": (
        "请让它原样传递 Host；nginx：proxy_set_header Host $http_host;，这样收到的就是 {}。"
    ),
    "The proxy changes Host to {}.": "代理把 Host 改成了 {}。",
    "Let it pass Origin on as it is: without it no one can sign in or write.": (
        "请让它原样传递 Origin：否则谁也不能登录或发消息。"
    ),
    "The proxy removes Origin.": "代理去掉了 Origin。",
    "The proxy changes Origin to {}.": "代理把 Origin 改成了 {}。",
    "The proxy takes no uploads of 36 MB.": "代理不接受 36 MB 的上传。",
    "Raise its limit; nginx: client_max_body_size 40m;": (
        "请提高上限；nginx：client_max_body_size 40m;"
    ),
    "The proxy buffers the event stream: answers do not appear as they are written.": (
        "代理缓冲了事件流：回答不会随写随显示。"
    ),
    "Switch its buffering and compression off; nginx: proxy_buffering off; Caddy: flush_interval -1": (  # noqa: E501
        "请关闭它的缓冲和压缩；nginx：proxy_buffering off；Caddy：flush_interval -1"
    ),
    "All clients count as one at wrong tokens: list {} in channels.web.trusted_proxies, and let the proxy send X-Forwarded-For.": (  # noqa: E501, RUF100
        "输错令牌时，所有访问者被算作一个：请把 {} 列入 channels.web.trusted_proxies，并让代理发送 "
        "X-Forwarded-For。"
    ),
    # Tools.
    "{} of {} are on.": "已启用 {} 个，共 {} 个。",
    "{} of {} are on. {}: {}.": "已启用 {} 个，共 {} 个。{}：{}。",
    "Correct it, or remove the folder.": "请改正，或删除这个文件夹。",
    "Changed, so off: {}. mnema skills on NAME": "内容变了，因此停用：{}。mnema skills on 名称",
    "{} of {} files are on.": "已启用 {} 个文件，共 {} 个。",
    "{} of {} files are on. {} lacks {}.": "已启用 {} 个文件，共 {} 个。{} 缺少 {}。",
    "Set plugins.{}.env.": "请设置 plugins.{}.env。",
    "{} of {} files are on. They cannot run: {}.": "已启用 {} 个文件，共 {} 个，但无法运行：{}。",
    "Changed, so off: {}. mnema tools on NAME": "内容变了，因此停用：{}。mnema tools on 名称",
    "The client is not installed.": "没有安装客户端。",
    "There is no program {}.": "没有 {} 这个程序。",
    "Correct mcp.{}.command.": "请改正 mcp.{}.command。",
    "It cannot be run: {}.": "无法运行：{}。",
    f"Correct mcp.{{}}.files; {WITHOUT_SANDBOX}.": (
        f"请改正 mcp.{{}}.files；{WITHOUT_SANDBOX.text('zh')}。"
    ),
    "Its tools are not reviewed, so none is offered.": "它的工具还没有审阅，因此都不提供。",
    "{} of {} tools are offered; its process reaches this machine's network.": (
        "提供 {} 个工具，共 {} 个；它的进程可以使用本机的网络。"
    ),
    "{} of {} tools are offered; its process has no network.": (
        "提供 {} 个工具，共 {} 个；它的进程没有网络。"
    ),
    "{} of {} tools are offered; it is at {}.": "提供 {} 个工具，共 {} 个；地址是 {}。",
    "{} changed since the review: {}": "审阅之后有 {} 个变了：{}",
    "Off: the model cannot run commands. tools.exec.enabled turns it on.": (
        "已关闭：模型不能执行命令。用 tools.exec.enabled 打开。"
    ),
    "Not offered: {}.": "不提供：{}。",
    "Set tools.exec.enabled to false, or use SQLite.": (
        "请把 tools.exec.enabled 设为 false，或改用 SQLite。"
    ),
    "Commands run in a sandbox (level A, bubblewrap), each once its owner has approved it.": (
        "命令在沙箱里执行（A 级，bubblewrap），每条都要先经所有者批准。"
    ),
    "It needs bubblewrap 0.8 and user namespaces. Ubuntu 24.04 forbids these by AppArmor, and containers by their seccomp profile; docs/tools/exec.md says what to change. Or set tools.exec.enabled to false.": (  # noqa: E501, RUF100
        "需要 bubblewrap 0.8 和用户命名空间。Ubuntu 24.04 用 AppArmor 禁止它们，容器用 seccomp "
        "配置禁止；docs/tools/exec.zh-CN.md 说明要改什么。也可以把 tools.exec.enabled 设为 false。"
    ),
    "An earlier version renamed these, so what is in them is not in use: {}.": (
        "旧版本把这些改了名，里面的内容现在没有被使用：{}。"
    ),
    "It may be your memory or that of other people. Stop the bot, look for what a command has written there, and move the rest back under the former name; docs/tools/exec.md says how.": (  # noqa: E501, RUF100
        "里面可能是你或其他人的记忆。先停下机器人，看看有没有命令写进去的东西，"
        "其余的移回原来的名字下；做法见 docs/tools/exec.zh-CN.md。"
    ),
    "Off: tools.web.fetch is false, and there is no search provider.": (
        "已关闭：tools.web.fetch 是 false，也没有搜索服务。"
    ),
    "Public pages are opened; searches go to {}.": "可以打开公开网页；搜索用 {}。",
    "No pages are opened; searches go to {}.": "不打开网页；搜索用 {}。",
    "Public pages are opened; there is no search, for tools.web.providers is empty.": (
        "可以打开公开网页；tools.web.providers 是空的，所以不能搜索。"
    ),
    "For the main text of a page instead of all its text: {}": "想只取网页的正文而不是全部文字：{}",
}
_BOOK = PhraseBook(SENTENCES)


def title_of(name: str, lang: str) -> str:
    """Return what a check is called for people."""
    if lang != "zh":
        return name
    first, _, rest = name.partition(" ")
    return TITLES.get(name) or (f"{TITLES[first]} {rest}" if first in TITLES else name)


def to_language(check: DoctorCheck, lang: str) -> DoctorCheck:
    """Translate message and hint; the name stays, for programs."""
    if lang != "zh":
        return check
    return replace(check, message=_BOOK.translate(check.message), hint=_BOOK.translate(check.hint))


def choose_language(home: HomeFolder) -> str:
    """Return the language of config.json, "zh" or "en"; where it says "auto", that of the
    terminal.
    """
    file = ConfigFile(home.config)
    with suppress(ConfigError):
        file.load()
    if file.current.language in ("zh", "en"):
        return file.current.language
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if locale.lower().startswith("zh") else "en"
