// What the shell shows of the chat, as one file of the built page: other pages are opened without it.

export { default as Chat } from "./Chat.svelte";
export { default as List } from "./List.svelte";
export { default as Bar } from "../context/Bar.svelte";
