"""Feishu and Lark, by long connection or webhook."""
