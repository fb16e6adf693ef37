// The server's jobs, followed by a stream for as long as somebody looks at them.

import { address } from "../lib/api";
import type { Job } from "../lib/types";

const AGAIN_MS = 2000;

/** Follow all jobs; returns how to end it. changed: called with each job that has changed. */
export function follow(changed: (job: Job) => void): () => void {
  let source: EventSource | null = null;
  let due = 0;
  const open = (): void => {
    source = new EventSource(address("/events?topics=jobs"));
    source.addEventListener("job", (event) => changed(JSON.parse((event as MessageEvent).data) as Job));
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) due = window.setTimeout(open, AGAIN_MS);
    };
  };
  open();
  return () => {
    clearTimeout(due);
    source?.close();
  };
}
