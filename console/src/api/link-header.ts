// The cursors of the pages beside this one, from the `Link` header of a list.

const NEXT = /<([^>]*)>\s*;\s*rel="?next"?/;
const PREVIOUS = /<([^>]*)>\s*;\s*rel="?prev"?/;

/** Undefined: this page is the last one. */
export function nextCursor(link: string | null): string | undefined {
  return cursorOf(NEXT, link);
}

/** Undefined: this page is the first one, or the list goes forward only. */
export function previousCursor(link: string | null): string | undefined {
  return cursorOf(PREVIOUS, link);
}

function cursorOf(relation: RegExp, link: string | null): string | undefined {
  const [, target] = relation.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const at = target.indexOf('?');
  return (at < 0 ? undefined : new URLSearchParams(target.slice(at)).get('cursor')) ?? undefined;
}
