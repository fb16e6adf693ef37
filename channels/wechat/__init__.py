"""Personal WeChat, by the iLink bot API."""
