// Parses the cursors of the next and previous pages in the `Link` header of a list.

const NEXT = /<([^>]*)>\s*;\s*rel="?next"?/;
const PREVIOUS = /<([^>]*)>\s*;\s*rel="?prev"?/;

/** Undefined on the last page. */
export function nextCursor(link: string | null): string | undefined {
  return cursorOf(NEXT, link);
}

/** Undefined on the first page, and in lists without previous pages. */
export function previousCursor(link: string | null): string | undefined {
  return cursorOf(PREVIOUS, link);
}

function cursorOf(relation: RegExp, link: string | null): string | undefined {
  const [, target] = relation.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const at = target.indexOf('?');
  return (at < 0 ? undefined : new URLSearchParams(target.slice(at)).get('cursor')) ?? undefined;
}
