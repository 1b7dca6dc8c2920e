// The cursor of the next page, from the `Link` header of a list.

const NEXT = /<([^>]*)>\s*;\s*rel="?next"?/;

/** Undefined: this page is the last one. */
export function nextCursor(link: string | null): string | undefined {
  const [, target] = NEXT.exec(link ?? '') ?? [];
  if (target === undefined) return undefined;
  const at = target.indexOf('?');
  return (at < 0 ? undefined : new URLSearchParams(target.slice(at)).get('cursor')) ?? undefined;
}
