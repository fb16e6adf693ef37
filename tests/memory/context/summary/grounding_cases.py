"""Sentences beside what they were made from: some say it in another way, some say something
else.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A source, true sentences about it, and altered ones by what was altered."""

    source: str
    true: tuple[str, ...]
    altered: tuple[tuple[str, str], ...]


CASES = (
    Case(
        source="搬家定在 1 月 23 到 24 号。The fair runs from 3 to 5 June.",
        true=("The move is on 23 and 24 January.", "1月24日搬家。", "展会6月3日开始，6月5日结束。"),
        altered=(
            ("date", "1月25日搬家。"),
            ("date", "The fair opens on 4 June."),
            ("date", "搬家在2月23日。"),
        ),
    ),
    Case(
        source="我叫林小雨，预算是三百元，3月5日下午3点在西湖国宾馆开会，一共二十五个人。",
        true=(
            "用户叫林小雨。",
            "预算 300 元。",
            "预算三百块。",
            "预算是￥300。",
            "三月五日 15:00 开会。",
            "3月5日下午三点在西湖国宾馆开会，25 人参加。",
            "会议在 March 5 下午3:00。",
            "用户计划5日开会。",
            "共二十五人。",
            "预算３００元，２５人。",
        ),
        altered=(
            ("name", "用户叫林小雪。"),
            ("number", "预算五百元。"),
            ("number", "预算 3000 元。"),
            ("number", "预算三百五十元。"),
            ("unit", "预算 300 美元。"),
            ("unit", "预算三百万元。"),
            ("date", "3月6日开会。"),
            ("date", "四月五日开会。"),
            ("date", "会议在 May 5。"),
            ("time", "上午3点开会。"),
            ("time", "16:00 开会。"),
            ("time", "下午三点半开会。"),
            ("number", "一共二十六个人。"),
            ("number", "共２６人。"),
        ),
    ),
    Case(
        source=(
            "The invoice INV-2087 over $1,200 is due on November 20, 2026; Bob Lee pays 30% by "
            "Friday at 3:30 pm."
        ),
        true=(
            "Invoice INV-2087 over 1200 dollars is due on 2026-11-20.",
            "The invoice is for $1.2k.",
            "Bob Lee pays 30 percent by Friday.",
            "Bob pays at 15:30.",
            "The date is Nov 20th, 2026.",
            "It is due on 20 November.",
            "Due: 2026年11月20日, USD 1,200.",
            "Bob 周五下午3点半付 30％。",
            "百分之三十在周五付。",
        ),
        altered=(
            ("id", "Invoice INV-2088 is due."),
            ("number", "The invoice is for $1,250."),
            ("number", "The invoice is for $12k."),
            ("unit", "The invoice is for €1,200."),
            ("unit", "Bob pays 30 euros."),
            ("date", "It is due on November 21, 2026."),
            ("date", "It is due on 2025-11-20."),
            ("date", "It is due on December 20."),
            ("number", "Bob Lee pays 35%."),
            ("time", "Bob pays at 3:30 am."),
            ("time", "Bob pays at 4:30 pm."),
            ("date", "Bob pays by Monday."),
            ("date", "Bob 周四付款。"),
            ("name", "The payer is Alice."),
        ),
    ),
    Case(
        source="部署失败：日志在 /var/log/app/deploy.log，提交 "
        "a3f9c2e81b77d0，版本 v1.2.3，端口 8080，服务器 10.0.3.17:5432。"
        "脚本是 `scripts/设置/初始化.sh`，表格是预算表.xlsx。",
        true=(
            "日志：/var/log/app/deploy.log。",
            "失败的提交是 a3f9c2e。",
            "版本 1.2.3 部署失败。",
            "Version v1.2.3 uses port 8080.",
            "数据库在 10.0.3.17，端口 5432。",
            "服务器 10.0.3.17:5432 没有响应。",
            "脚本是 scripts/设置/初始化.sh。",
            "打开了预算表.xlsx。",
            "见 deploy.log。",
            "服务监听 :8080。",
        ),
        altered=(
            ("path", "日志在 /var/log/app/deploy.txt。"),
            ("path", "日志在 /var/log/web/deploy.log。"),
            ("hash", "失败的提交是 a3f9c2f。"),
            ("hash", "提交 a3f9c2e81b77d1。"),
            ("version", "版本 v1.2.4 部署失败。"),
            ("version", "版本 1.2.30。"),
            ("version", "版本 1.2。9 也失败。"),
            ("port", "端口 8081。"),
            ("port", "服务器 10.0.3.17:5433。"),
            ("number", "服务器是 10.0.3.18。"),
            ("path", "脚本是 scripts/设置/清理.sh。"),
            ("path", "脚本是 scripts/配置/初始化.sh。"),
            ("path", "打开了预算单.xlsx。"),
        ),
    ),
    Case(
        source="See https://docs.example.com/v2/guide?id=42#top and mail chen.wei@example.com, "
        "job_id build_4711. "
        'Alice said "ship it on green only" and `make deploy ENV=prod` took 90 minutes; disk is 12 '
        "GB, 1.5TB total.",
        true=(
            "The guide is https://docs.example.com/v2/guide?id=42#top.",
            "Mail goes to chen.wei@example.com.",
            "Job build_4711 was named.",
            'Alice said "ship it on green only".',
            "`make deploy ENV=prod` took 90 min.",
            "The 90-minute deploy was Alice's.",
            "磁盘 12GB，共 1.5 TB。",
            "部署用了90分钟。",
            "Alice 说“ship it on green only”。",
            "见 https://docs.example.com/v2/guide?id=42#top，邮箱 chen.wei@example.com。",
        ),
        altered=(
            ("url", "The guide is https://docs.example.com/v3/guide?id=42#top."),
            ("url", "The guide is https://docs.example.com/v2/guide?id=43."),
            ("url", "The guide is https://docs.example.org/v2/guide."),
            ("url", "The guide is http://docs.example.com/v2/guide."),
            ("mail", "Mail goes to chen.wei@example.org."),
            ("mail", "Mail goes to chan.wei@example.com."),
            ("id", "Job build_4712 was named."),
            ("quote", 'Alice said "ship it on red only".'),
            ("quote", "Alice 说“ship it on green”不够，要“ship it now”。"),
            ("quote", "`make deploy ENV=test` was run."),
            ("unit", "It took 90 seconds."),
            ("unit", "磁盘 12 MB。"),
            ("number", "共 1.6 TB。"),
            ("unit", "部署用了90小时。"),
        ),
    ),
    Case(
        source="王医生说每天吃两片药，连续三周；血压 135/85，体重 68.5 "
        "公斤，下次复诊 2026年12月1日上午9点，诊室在三楼302。"
        "药费一千二百元，医保报百分之七十。",
        true=(
            "王医生让用户每天吃 2 片药，连吃 3 周。",
            "血压 135/85，体重 68.5kg。",
            "复诊：2026-12-01 9:00。",
            "复诊在十二月一日上午九点。",
            "诊室在3楼302。",
            "药费 1,200 元，医保报 70%。",
            "药费 1.2k。",
            "药费1200块，报销七成以外的部分自付。",
            "两片药，连续三周。",
        ),
        altered=(
            ("name", "李医生让用户吃药。"),
            ("number", "连续四周吃药。"),
            ("unit", "连吃 3 个月。"),
            ("number", "血压 145/85。"),
            ("number", "体重 69.5 公斤。"),
            ("unit", "体重 68.5 斤。"),
            ("date", "复诊 2026-12-02。"),
            ("time", "复诊在上午10点。"),
            ("time", "复诊在下午9点。"),
            ("number", "诊室在五楼。"),
            ("number", "药费两千元。"),
            ("number", "药费 12,000 元。"),
            ("number", "医保报 80%。"),
        ),
    ),
    Case(
        source="I moved the call with Priya from Tuesday to Wednesday "
        "14:00, room B-204, dial +44 20 7946 0958, PIN 884213. "
        "She wants 3 quotes, a 15% discount and delivery in two weeks. The model is qwen2-7b with "
        "32k context.",
        true=(
            "The call with Priya is on Wednesday at 2 pm.",
            "The call moved from Tuesday to Wednesday.",
            "Room B-204, PIN 884213.",
            "Dial +44 20 7946 0958.",
            "Priya wants 3 quotes and a 15 % discount.",
            "Delivery in 2 weeks.",
            "Priya 要 3 份报价和 15% 的折扣。",
            "会议在周三 14:00。",
            "The model qwen2-7b has 32k context.",
            "qwen2-7b has a context of 32,000.",
        ),
        altered=(
            ("date", "The call is on Thursday."),
            ("time", "The call is at 3 pm."),
            ("id", "Room B-205."),
            ("number", "The PIN is 884231."),
            ("number", "Dial +44 20 7946 0959."),
            ("number", "Priya wants 4 quotes."),
            ("number", "A 50% discount."),
            ("unit", "Delivery in 2 months is impossible, and 15 days too."),
            ("name", "Then Olga called."),
            ("id", "The model is qwen2-72b."),
            ("number", "It has 320k context."),
            ("date", "会议在周二到周四。"),
        ),
    ),
    Case(
        source="我女儿上小学二年级，喜欢《小王子》，生日是 2018 年 "
        "6 月 1 日。她说「我想养一只猫」。学费每学期 1.2 万，"
        "校车早上7点一刻到，住址是建国路88号3单元1201室，车牌京A·88D21。",
        true=(
            "女儿喜欢《小王子》。",
            "女儿生于2018-06-01。",
            "她说「我想养一只猫」。",
            "学费每学期 12000 元。",
            "学费一万二。",
            "学费 1.2万元。",
            "校车 7:15 到。",
            "住建国路 88 号 3 单元 1201 室。",
            "女儿的生日是6月1日。",
            "女儿上小学，生日在 June。",
        ),
        altered=(
            ("quote", "女儿喜欢《小公主》。"),
            ("date", "女儿生于2019-06-01。"),
            ("date", "生日是 6月11日。"),
            ("quote", "她说「我想养一只狗」。"),
            ("number", "学费 1.3 万。"),
            ("number", "学费一万三千元。"),
            ("unit", "学费 1.2 亿。"),
            ("time", "校车 7:25 到。"),
            ("time", "校车晚上7点一刻到。"),
            ("number", "住建国路 89 号。"),
            ("number", "住 1202 室。"),
            ("date", "生日在 July。"),
        ),
    ),
    Case(
        source='{"status": 503, "retry_after": 30, "region": "eu-west-1", "items": [{"sku": '
        '"KX-9920", "qty": 14}], "total": 4189.60, "at": "2026-10-02T08:45:10Z"} Error E1045: '
        "access denied for user "
        "'mnema'@'localhost'.",
        true=(
            "The status was 503, retry after 30 seconds.",
            "Region eu-west-1, 14 of KX-9920.",
            "The total is 4,189.60.",
            "总价 4189.6 元。",
            "It failed on 2026-10-02 with E1045.",
            "错误 E1045：access denied。",
            "14 件 KX-9920，状态码 503。",
            'The region is "eu-west-1".',
        ),
        altered=(
            ("number", "The status was 502."),
            ("id", "Region eu-west-2."),
            ("id", "KX-9921 was ordered."),
            ("number", "15 件 KX-9920。"),
            ("number", "The total is 4,198.60."),
            ("date", "It failed on 2026-10-03."),
            ("id", "错误 E1054。"),
            ("quote", 'The answer was "access granted".'),
            ("number", "重试等待 40 秒。"),
            ("amount", "The refund is 99 euros."),
        ),
    ),
    Case(
        source="昨天跑了五公里，用时 28 分 30 秒，心率 162；下周目标十公里。鞋子 899 元在 Nike "
        "买的，会员价打八五折，省了一百三十四块八毛五。教练是 Marco Rossi，训练计划在 "
        "~/跑步/计划2026.md。",
        true=(
            "用户跑了 5 公里，心率 162。",
            "下周目标 10km。",
            "Marco Rossi coaches the user.",
            "鞋子 899 块，Nike 的。",
            "计划在 ~/跑步/计划2026.md。",
            "跑五公里用了28分30秒。",
            "用户的教练是 Marco。",
            "The user ran 5 km.",
        ),
        altered=(
            ("number", "用户跑了六公里。"),
            ("unit", "用户跑了 5 英里，心率 162，用时 35 分钟。"),
            ("number", "下周目标十二公里。"),
            ("number", "心率 126。"),
            ("name", "The coach is Maria."),
            ("number", "鞋子 998 元。"),
            ("name", "鞋子是 Adidas 的。"),
            ("path", "计划在 ~/跑步/计划2025.md。"),
            ("path", "计划在 ~/骑行/计划2026.md。"),
            ("amount", "报名费 200 元。"),
        ),
    ),
    Case(
        source="We chose Postgres 16 over MySQL because of JSONB; migration "
        "0042_add_index.sql ran 2.5 hours on 1,250,000 rows. "
        "Rollback: git checkout 9f8e7d6, then `alembic downgrade "
        "-1`. Port 5432 stays open to 192.168.1.0/24 until 6pm.",
        true=(
            "Postgres 16 was chosen over MySQL because of JSONB.",
            "Migration 0042_add_index.sql took 2.5 hours.",
            "It ran over 1250000 rows.",
            "It ran over 1.25 million rows.",
            "迁移跑了 125 万行，用了 2.5 小时。",
            "Rollback is `alembic downgrade -1` after git checkout 9f8e7d6.",
            "Port 5432 is open to 192.168.1.0/24 until 18:00.",
            "5432 端口开放到下午6点。",
        ),
        altered=(
            ("number", "Postgres 15 was chosen."),
            ("name", "They chose Oracle over Postgres."),
            ("path", "Migration 0043_add_index.sql took 2.5 hours."),
            ("number", "It took 3.5 hours."),
            ("unit", "It took 2.5 minutes."),
            ("number", "It ran over 1,260,000 rows."),
            ("number", "迁移跑了 12.5 万行。"),
            ("hash", "Rollback is git checkout 9f8e7d5."),
            ("quote", "Rollback is `alembic upgrade head`."),
            ("number", "It is open to 192.168.2.0/24."),
            ("time", "Port 5432 is open until 19:00."),
            ("time", "开放到上午6点。"),
        ),
    ),
    Case(
        source="我想换工作，目前月薪两万八，期望三万五以上。面试安排：11月24日（周二）10:30 "
        "字节跳动二面，联系人赵敏 zhaomin@bytedance.com；11月26号下午两点美团终面，会议号 "
        "889-302-175。简历放在 D:\\求职\\resume_v3.pdf。",
        true=(
            "用户月薪 28000，期望 35000 以上。",
            "用户目前月薪2.8万。",
            "11月24日周二上午10:30 字节跳动二面。",
            "字节的联系人是赵敏，邮箱 zhaomin@bytedance.com。",
            "美团终面在11-26 14:00，会议号 889-302-175。",
            "美团终面：11月26日下午2点。",
            "简历是 resume_v3.pdf。",
            "The final interview with 美团 is on November 26 at 2 pm.",
        ),
        altered=(
            ("number", "用户月薪 38000。"),
            ("number", "期望月薪三万八。"),
            ("date", "11月25日字节跳动二面。"),
            ("date", "周三字节跳动二面。"),
            ("time", "二面在 11:30。"),
            ("mail", "邮箱 zhaomin@bytedance.cn。"),
            ("time", "美团终面在下午三点。"),
            ("number", "会议号 889-302-157。"),
            ("path", "简历是 resume_v2.pdf。"),
            ("amount", "签字费 50,000 元。"),
        ),
    ),
    Case(
        source="Flight LH 723 from Munich to Beijing leaves at 19:25 on 14 February 2027, gate "
        "K12, seat 34A. The hotel “Grand Hyatt” costs 1,850 yuan per night for 4 nights; booking "
        "code QX7R2M. Luggage limit 23 kg. Emergency contact: Dr. Hannah Vogel, +49 89 2180 0.",
        true=(
            "Flight LH 723 leaves Munich at 7:25 pm on February 14, 2027.",
            "Seat 34A, gate K12.",
            "The hotel “Grand Hyatt” costs 1850 yuan a night.",
            "Four nights at Grand Hyatt, booking code QX7R2M.",
            "Luggage may weigh 23kg.",
            "航班 LH 723，2027年2月14日 19:25 起飞，座位 34A。",
            "酒店每晚 1850 元，住四晚，预订码 QX7R2M。",
            "行李限重 23 公斤。",
            "Hannah Vogel is the emergency contact: +49 89 2180 0.",
        ),
        altered=(
            ("number", "Flight LH 732 leaves Munich."),
            ("time", "It leaves at 19:35."),
            ("time", "It leaves at 7:25 am."),
            ("date", "It leaves on 15 February 2027."),
            ("date", "It leaves on February 14, 2026."),
            ("id", "Seat 35A."),
            ("id", "Gate K13."),
            ("quote", "The hotel is the “Park Hyatt”."),
            ("unit", "The hotel costs 1,850 euros."),
            ("id", "The booking code is QX7R2N."),
            ("unit", "Luggage may weigh 23 lbs."),
            ("name", "The contact is Dr. Martha Vogel."),
            ("number", "酒店每晚 1580 元。"),
        ),
    ),
    Case(
        source="基金净值 1.8342，涨了 2.35%，持有 15,300 份，总值约 "
        "2.8 万；止损线设在 1.65。用户说：“跌破就全卖，不要犹豫”。"
        "研报链接 https://fund.example.cn/report/2026Q3?code=110022 ，代码 110022，经理萧楠管理了 "
        "14 年。",
        true=(
            "净值 1.8342，涨 2.35％。",
            "持有 15300 份，约 28000。",
            "止损线 1.65。",
            "用户要求“跌破就全卖，不要犹豫”。",
            "研报：https://fund.example.cn/report/2026Q3?code=110022",
            "基金 110022 的经理管了十四年。",
            "The fund 110022 rose 2.35 percent.",
            "The user holds 15.3k shares.",
        ),
        altered=(
            ("number", "净值 1.8324。"),
            ("number", "涨 2.53%。"),
            ("number", "持有 13500 份。"),
            ("number", "总值约 28 万。"),
            ("number", "止损线 1.56。"),
            ("quote", "用户要求“跌破就加仓，不要犹豫”。"),
            ("url", "研报：https://fund.example.cn/report/2026Q2?code=110022"),
            ("url", "研报：https://fund.example.com/report/2026Q3?code=110022"),
            ("number", "代码 110023。"),
            ("unit", "经理管了 14 个月。"),
            ("number", "经理管了十六年。"),
        ),
    ),
    Case(
        source="CI run #8841 on branch feature/login-v2 failed in 12m "
        "41s: test_auth.py::test_refresh raised KeyError('exp'). "
        "Fix by Tomasz in PR 1207, commit 4be19c7d2. Memory peaked at 3.6 GB, coverage fell from "
        "91.4% to 88.9%. 设置了环境变量 JWT_TTL=3600，镜像 registry.example.io/auth:2.4.1 已推送。",
        true=(
            "CI run #8841 on feature/login-v2 failed.",
            "test_auth.py::test_refresh raised KeyError('exp').",
            "Tomasz fixed it in PR 1207, commit 4be19c7d2.",
            "Coverage fell from 91.4 % to 88.9 %.",
            "内存峰值 3.6GB，覆盖率降到 88.9%。",
            "`JWT_TTL=3600` was set.",
            "镜像 registry.example.io/auth:2.4.1 已推送。",
            "The image version is v2.4.1.",
            "CI 失败在 12m 41s。",
        ),
        altered=(
            ("number", "CI run #8814 failed."),
            ("path", "It ran on feature/login-v3."),
            ("path", "test_user.py::test_refresh failed."),
            ("id", "test_auth.py::test_rotate raised it."),
            ("quote", "It raised KeyError('iat')."),
            ("number", "Fixed in PR 1270."),
            ("hash", "Fixed in commit 4be19c7d3."),
            ("name", "Then Tomas fixed it."),
            ("unit", "Memory peaked at 3.6 MB."),
            ("number", "Coverage fell to 88.6%."),
            ("id", "`JWT_TTL=7200` was set."),
            ("version", "镜像 registry.example.io/auth:2.4.2。"),
        ),
    ),
    Case(
        source="奶奶八十三岁，住在成都市武侯区桐梓林路 17 号，"
        "糖尿病史二十年，每晚打 12 个单位胰岛素。她爱听《锁麟囊》，"
        "电话 028-8512-3366。周六我们六点半去接她，吃饭订在「陈麻婆豆腐」，一桌十个人，人均一百五。",  # noqa: E501
        true=(
            "奶奶 83 岁，住桐梓林路17号。",
            "糖尿病史 20 年，每晚 12 个单位胰岛素。",
            "她爱听《锁麟囊》。",
            "电话 028-8512-3366。",
            "星期六六点半接奶奶。",
            "周六 6:30 接人，吃「陈麻婆豆腐」。",
            "十人一桌，人均 150。",
            "Grandmother is 83 years old and likes 《锁麟囊》.",
        ),
        altered=(
            ("number", "奶奶 85 岁。"),
            ("number", "奶奶八十五岁。"),
            ("number", "住桐梓林路 71 号。"),
            ("number", "糖尿病史三十年。"),
            ("number", "每晚 14 个单位胰岛素。"),
            ("quote", "她爱听《贵妃醉酒》。"),
            ("number", "电话 028-8512-3367。"),
            ("date", "周日去接奶奶。"),
            ("time", "七点半接奶奶。"),
            ("quote", "吃饭订在「陈记豆腐」。"),
            ("number", "人均一百八。"),
            ("number", "一桌十二个人。"),
        ),
    ),
)
