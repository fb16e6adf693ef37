// The login page: the token is exchanged for a cookie, and stands in no address.

import { call } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./texts.js";

byId("hint").textContent = t("login_hint");
byId("token").placeholder = t("token");
byId("token").setAttribute("aria-label", t("token"));
byId("enter").textContent = t("enter");
byId("token").focus();

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("enter").disabled = true;
  byId("problem").textContent = "";
  try {
    await call("POST", "/login", { token: byId("token").value.trim() });
    if (location.pathname === "/") location.reload(); // keeps the conversation after the #
    else location.replace("/");
  } catch (err) {
    const known = { 401: "wrong_token", 429: "slow_down", 0: "unreachable" }[err.status];
    byId("problem").textContent = known ? t(known) : err.message;
    byId("token").select();
  } finally {
    byId("enter").disabled = false;
  }
});
