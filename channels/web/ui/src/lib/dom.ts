// Making elements without ever parsing text as HTML.

type Child = Node | string | null | undefined;

/** An element with properties (names with a dash, and role, are attributes) and children (strings become text). */
export function el(tag: string, props: Record<string, unknown> = {}, ...children: Child[]): HTMLElement {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes("-") || name === "role") node.setAttribute(name, String(value));
    else (node as unknown as Record<string, unknown>)[name] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Open a dialog over the page as soon as it is there. */
export const modal = (node: HTMLDialogElement): void => node.showModal();

/** Let what scrolls be reached by the keyboard. */
export const reachable = (node: HTMLElement): void => void (node.tabIndex = 0);

/** Select a line of a text and bring it into view, however the lines above it are wrapped. */
export function showLine(box: HTMLTextAreaElement, number: number): void {
  const whole = box.value;
  const lines = whole.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  const end = start + (lines[number - 1] ?? "").length;
  box.value = whole.slice(0, end);
  box.scrollTop = box.scrollHeight;
  const down = box.scrollTop ? box.scrollTop + box.clientHeight / 2 : 0;
  box.value = whole;
  box.scrollTop = down;
  box.focus({ preventScroll: true });
  box.setSelectionRange(start, end);
}
