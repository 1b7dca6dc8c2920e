// The one stream of a page: what happens to a domain, as it happens. It is closed while the tab is hidden, and goes on by itself
// from where it was.

import { api } from './client.ts';

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

const TYPES = ['open', 'check', 'verification', 'change', 'status', 'progress', 'nodes', 'reset'];
/** Before a stream that was refused is asked for again; the last one stands for all further. */
const PAUSES_MS = [1000, 5000, 15_000, 30_000];

/** Ends when the function that it returns is called. */
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
    // A stream that ends is asked for again by the browser; one that is refused is not (HTML, "Server-sent events").
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
    // An EventSource tells no status: a session that is over leads to the sign-in by this call.
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
    onEvent({ type: 'reset', data: undefined }); // what happened meanwhile was not heard
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
