// Calls of the server: JSON in, JSON out, one kind of error.

let csrf = "";

/** A call that was refused. status 0: the server was not reached. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Call the server; returns {body, headers}. A lost login leads to the login page. */
export async function call(method, path, body, headers = {}) {
  const options = { method, headers: { accept: "application/json", ...headers }, credentials: "same-origin" };
  if (method !== "GET") {
    options.headers["content-type"] = "application/json";
    options.headers["x-csrf-token"] = csrf;
    options.body = JSON.stringify(body ?? {});
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ApiError(0, "unreachable", "");
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return { body: told, headers: answer.headers };
  if (answer.status === 401 && path !== "/login") location.reload();
  throw new ApiError(answer.status, told.error?.code ?? "http", told.error?.message ?? `HTTP ${answer.status}`);
}

export const get = async (path) => (await call("GET", path)).body;
export const post = async (path, body) => (await call("POST", path, body)).body;
export const conversationPath = (name, rest) => `/api/conversations/${encodeURIComponent(name)}/${rest}`;
export const filePath = (path) => `/api/memory/files/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Take up the session of this login; waits while the server is starting. */
export async function begin() {
  for (;;) {
    try {
      csrf = (await get("/api/session")).csrf;
      return;
    } catch (err) {
      if (err.status !== 503 && err.status !== 0) throw err;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}
