// Colours for code: loaded once there is code to colour.

import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import xml from "highlight.js/lib/languages/xml";
import { TRUSTED } from "./trusted";
import "./highlight.css";

const LONGEST = 20_000;
const LANGUAGES = { bash, c, css, diff, go, java, javascript, json, python, rust, sql, xml };
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);
hljs.registerAliases(["ts", "typescript", "tsx"], { languageName: "javascript" });
hljs.registerAliases(["cpp", "c++", "h"], { languageName: "c" });
hljs.registerAliases(["console", "shell", "sh", "zsh"], { languageName: "bash" });

const PURE = { ...TRUSTED, ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"], RETURN_DOM_FRAGMENT: true as const };

/** Colour a block of code; what is too long, or of another language, stays as it is. */
export function colour(code: Element, language: string): void {
  const text = code.textContent ?? "";
  if (text.length > LONGEST || !hljs.getLanguage(language)) return;
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  code.replaceChildren(DOMPurify.sanitize(value, PURE));
}
