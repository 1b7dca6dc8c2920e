// The one stream of a page: what happens to a domain, as it happens. It is closed while the tab is hidden, and reconnects by
// itself from where it was.

export interface DomainEvent {
  readonly type: string;
  readonly data: unknown;
}

const TYPES = ['open', 'check', 'verification', 'change', 'status', 'progress', 'nodes', 'reset'];

/** Ends when the function that it returns is called. */
export function followDomain(domain: string, onEvent: (event: DomainEvent) => void): () => void {
  let source: EventSource | undefined;

  const open = () => {
    if (source !== undefined || document.hidden) return;
    source = new EventSource(`/domains/${encodeURIComponent(domain)}/events`);
    for (const type of TYPES) {
      source.addEventListener(type, (event) => onEvent({ type, data: parse(event.data) }));
    }
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  const turn = () => {
    if (document.hidden) return close();
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
