// Lines that come and go.

export const toasts = $state<{ id: number; text: string }[]>([]);
const SEEN_FOR = 4500;
let last = 0;

export function toast(text: string): void {
  const id = ++last;
  toasts.push({ id, text });
  setTimeout(() => {
    const at = toasts.findIndex((one) => one.id === id);
    if (at >= 0) toasts.splice(at, 1);
  }, SEEN_FOR);
}
