// Tables of a text as CSV: loaded once there is a table.

import { toCsv } from "./csv";
import { el } from "./dom";
import { t } from "./locale.svelte";

/** Put a button below a table that saves it as a file; once. */
export function saveable(scroll: Element): void {
  if (scroll.nextElementSibling?.matches(".table-acts")) return;
  const lines = [...scroll.querySelectorAll("tr")];
  const rows = lines.map((line) => [...line.children].map((cell) => (cell.textContent ?? "").trim()));
  const button = el("button", { type: "button", className: "small", onclick: () => save(toCsv(rows)) }, t("as_csv"));
  scroll.after(el("div", { className: "table-acts" }, button));
}

function save(csv: string): void {
  const url = URL.createObjectURL(new Blob(["\ufeff", csv], { type: "text/csv" })); // the mark tells spreadsheets it is UTF-8
  const link = el("a", { href: url, download: "table.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
