// Footnotes of a text, numbered, at its end and reached by buttons; and parts that fold. Loaded once a text has any.

import { el } from "./dom";
import { t } from "./locale.svelte";
import "./notes.css";

export { BLOCKS } from "./blocks";

/** Number the footnotes of a whole text and put them at its end. They have no ids: buttons lead there and back. */
export function tieNotes(tree: DocumentFragment): void {
  const defined = [...tree.querySelectorAll("section.note")].map((note) => {
    const label = note.firstElementChild!;
    label.remove();
    note.remove();
    return { label: label.textContent ?? "", item: el("li", { tabIndex: -1 }, ...note.childNodes), mentions: [] as Element[] };
  });
  const byLabel = new Map(defined.toReversed().map((note) => [note.label, note]));
  const order = new Set<(typeof defined)[number]>();
  const tie = (within: ParentNode): void => {
    for (const mention of within.querySelectorAll("sup.ref")) {
      const label = mention.textContent ?? "";
      const note = byLabel.get(label);
      if (!note) {
        mention.replaceWith(`[^${label}]`);
        continue;
      }
      const isNew = !order.has(note);
      order.add(note);
      const number = [...order].indexOf(note) + 1;
      const props = { type: "button", className: "linklike", "aria-label": t("footnote", { number }), onclick: () => show(note.item) };
      const button = el("button", props, String(number));
      mention.replaceChildren(button);
      note.mentions.push(button);
      if (isNew) tie(note.item);
    }
  };
  tie(tree);
  for (const note of defined) {
    order.add(note);
    tie(note.item);
  }
  for (const { item, mentions } of order) {
    if (mentions[0]) (item.lastElementChild ?? item).append(" ", back(mentions[0]));
  }
  if (order.size) tree.append(el("ol", { className: "notes" }, ...[...order].map(({ item }) => item)));
}

function back(mention: Element): HTMLElement {
  return el("button", { type: "button", className: "linklike", "aria-label": t("back"), onclick: () => show(mention as HTMLElement) }, "↩");
}

function show(place: HTMLElement): void {
  for (let box = place.closest("details"); box; box = box.parentElement?.closest("details") ?? null) box.open = true;
  place.focus();
}
