// Words of signing in. Every key is in entry.zh.ts too.

export const entryEn = {
  login_hint: "Run mnema login on the bot's machine and open the link that it prints. Or paste the token of the first start: it is stored in data/web_token.",
  enter: "Sign in",
  wrong_token: "This token is wrong.",
  slow_down: "Too many attempts. Wait a moment.",
  passkey_enter: "Use a passkey",
  relogin: "Confirm that it is you",
  relogin_why: "This needs a login within the last ten minutes, and yours is older. Sign in again and it will continue.",
  relogin_do: "Continue",
};
