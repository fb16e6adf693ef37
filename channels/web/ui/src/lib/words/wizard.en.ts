// Words around what the server says of a wizard. Every key is in wizard.zh.ts too.

export const wizardEn = {
  key_where: "Get it at {host}",
  look_again: "Look again",
  looking: "Asking the server…",
  server_said: "The server said:",
  found_none: "The server has none yet. Type a name.",
  found_unlisted: "Nothing in the list has this in its name. The name is used as typed.",
  more_found: "{count} more: type a part of the name.",
  test_passed: "It can be finished now.",
  test_failed: "The test has failed.",
  state_ok: "✓ ok",
  state_no: "– no",
  state_unknown: "? look at it",
  state_failed: "✗ failed",
};
