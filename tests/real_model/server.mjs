// Serves a GGUF model with the chat completions API, and refuses what is too long in the words of llama.cpp.
// node server.mjs MODEL WINDOW; prints its port. One request at a time, as `llama-server --parallel 1`.

import { createServer } from "node:http";
import { getLlama, LlamaCompletion } from "node-llama-cpp";

const [path, size] = process.argv.slice(2);
const window = Number(size);
const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: path });
// One thread: several wait for one another in a loop, and stand still on a machine that others use.
const context = await model.createContext({ contextSize: window, sequences: 1, threads: 1 });
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });
let last = Promise.resolve();
let newest = {}; // the last request with tools, which is one of a turn

const text = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n"));

function prompt(body) {
  const tools = body.tools?.length ? [{ role: "system", content: `Tools: ${JSON.stringify(body.tools)}` }] : [];
  const rows = [...tools, ...body.messages].map((row) => {
    const calls = row.tool_calls ? JSON.stringify(row.tool_calls) : "";
    return `<|im_start|>${row.role === "tool" ? "user" : row.role}\n${text(row.content)}${calls}<|im_end|>\n`;
  });
  return model.tokenize(`${rows.join("")}<|im_start|>assistant\n`, true);
}

async function answer(body, response) {
  const tokens = prompt(body);
  const most = body.max_tokens ?? body.max_completion_tokens ?? 256;
  if (tokens.length >= window) {
    const message = "the request exceeds the available context size, try increasing it";
    const error = { code: 400, message, type: "exceed_context_size_error", n_prompt_tokens: tokens.length, n_ctx: window };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, finish = null, more = {}) =>
    response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: body.model, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`);
  const stopped = new AbortController();
  response.on("close", () => stopped.abort());
  let count = 0;
  const done = await completion.generateCompletionWithMeta(tokens, {
    maxTokens: Math.min(most, window - tokens.length - 1, Number(process.env.REAL_MODEL_MOST ?? 160)),
    temperature: body.temperature ?? 0.7,
    customStopTriggers: ["<|im_end|>", "<|im_start|>"],
    repeatPenalty: { penalty: 1.1 },
    signal: stopped.signal,
    stopOnAbortSignal: true,
    onTextChunk: (piece) => {
      count += 1;
      send({ content: piece });
    },
  });
  const usage = { prompt_tokens: tokens.length, completion_tokens: count, total_tokens: tokens.length + count };
  send({}, done.metadata.stopReason === "maxTokens" ? "length" : "stop", { usage });
  response.end("data: [DONE]\n\n");
}

const server = createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const url = new URL(request.url, "http://localhost").pathname;
  const json = (value) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (url === "/props") return json({ default_generation_settings: { n_ctx: window }, total_slots: 1 });
  if (url === "/v1/models") return json({ object: "list", data: [{ id: "smollm2-135m", object: "model" }] });
  if (url === "/newest") return json(newest);
  if (url !== "/v1/chat/completions") return response.writeHead(404).end("{}");
  if (request.method === "GET") return response.writeHead(404).end("{}");
  const body = JSON.parse(Buffer.concat(pieces).toString());
  if (body.tools) newest = body;
  last = last.then(() => answer(body, response)).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
