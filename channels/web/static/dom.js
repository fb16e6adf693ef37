// Making elements without ever parsing text as HTML.

/** An element with properties (on… are listeners, data and aria go to attributes) and children (strings become text). */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** A line that comes and goes. */
export function toast(text) {
  const node = el("div", { className: "toast" }, text);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 4500);
}
