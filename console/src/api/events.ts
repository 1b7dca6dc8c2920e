// The event stream of a page, with events of one domain. It is closed while the tab is hidden, and then resumes where it stopped.

import { api } from './client.ts';

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

const TYPES = ['open', 'check', 'verification', 'change', 'status', 'progress', 'nodes', 'reset'];
/** Delays before a rejected stream is requested again. The last one repeats. */
const PAUSES_MS = [1000, 5000, 15_000, 30_000];

/** Returns a function that ends the stream. */
export function followDomain(domain: string, onEvent: (event: DomainEvent) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refusals = 0;
  let known = '';

  const open = () => {
    if (source !== undefined || document.hidden) return;
    const after = known === '' ? '' : `?after=${encodeURIComponent(known)}`;
    const opened = new EventSource(`/domains/${encodeURIComponent(domain)}/events${after}`);
    source = opened;
    for (const type of TYPES) {
      opened.addEventListener(type, (event) => {
        refusals = 0;
        known = event.lastEventId || known;
        onEvent({ type, data: parse(event.data) });
      });
    }
    // The browser reconnects after a stream ends, but not if it was rejected (HTML, "Server-sent events").
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED && source === opened) retry();
    });
  };
  const retry = () => {
    close();
    timer = setTimeout(reopen, PAUSES_MS[Math.min(refusals++, PAUSES_MS.length - 1)]);
  };
  const reopen = async () => {
    const asked = timer;
    // An EventSource has no status. This call shows the sign-in if the session has ended.
    const answer = await api.GET('/whoami').catch(() => undefined);
    if (timer !== asked) return;
    if (answer === undefined) retry();
    else open();
  };
  const close = () => {
    clearTimeout(timer);
    timer = undefined;
    source?.close();
    source = undefined;
  };
  const turn = () => {
    close();
    if (document.hidden) return;
    open();
    onEvent({ type: 'reset', data: undefined }); // events in the meantime were missed
  };
  open();
  document.addEventListener('visibilitychange', turn);
  return () => {
    document.removeEventListener('visibilitychange', turn);
    close();
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
