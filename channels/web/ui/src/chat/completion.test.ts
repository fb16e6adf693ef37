import { expect, test } from "vitest";
import { complete, takesWords } from "./completion";

const named = (name: string, usage = "") => ({ name, usage, zh: "", en: "" });
const COMMANDS = [named("context", "[clear|fold|undo]"), named("config", "[KEY [VALUE]]"), named("remember", "TEXT")];
const texts = (text: string): string[] => complete(text, COMMANDS).map((one) => one.text);

test("a begun name is completed, all else is not", () => {
  expect(texts("/co")).toEqual(["/context", "/config"]);
  expect(texts("/")).toHaveLength(3);
  for (const text of ["", "co", "a /co", "/nothing"]) expect(texts(text)).toEqual([]);
});

test("the choices that a command names are completed once one is begun", () => {
  expect(texts("/context f")).toEqual(["/context fold"]);
  for (const text of ["/context ", "/context fold", "/context fold now", "/config K"]) expect(texts(text)).toEqual([]);
});

test("a command that needs words is told from one that may have some", () => {
  expect(COMMANDS.map((one) => takesWords({ ...one, text: "" }))).toEqual([false, false, true]);
});
