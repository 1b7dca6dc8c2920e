// Returns the cursor of the next page from the `Link` header (RFC 8288).

export function nextCursor(link: string | null): string | undefined {
  const next = link?.split(/,\s*(?=<)/).find((each) => /;\s*rel="?next"?/.test(each));
  const query = /^\s*<[^>?]*\?([^>]*)>/.exec(next ?? '')?.[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get('cursor') ?? undefined);
}
