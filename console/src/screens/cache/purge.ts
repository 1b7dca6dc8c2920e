// What a purge is to take away, as a person chose it, and how far it is.

export const SCOPES = ['all', 'host', 'url', 'prefix'] as const;
export type Scope = (typeof SCOPES)[number];

type Wish = { host: string } | { url: string } | { prefix: string };

/** Undefined: everything of the domain. */
export function wishOf(scope: Scope, typed: string): Wish | undefined {
  const text = typed.trim();
  switch (scope) {
    case 'all':
      return undefined;
    case 'host':
      return { host: text };
    case 'url':
      return { url: withScheme(text) };
    case 'prefix':
      return { prefix: withScheme(text) };
    default:
      return scope satisfies never;
  }
}

/** A URL is purged over http and https alike, so that which one was meant does not count. */
function withScheme(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text === '' ? text : `https://${text}`;
}

interface Progress {
  readonly edges: number;
  readonly done: number;
  readonly finished: boolean;
  readonly replaced_by?: number | undefined;
  readonly nodes: readonly { readonly live: boolean; readonly done_at?: string | undefined }[];
}

/** `silent`: none of those that are left is heard, so that waiting for it is in vain. */
export function stateOf({
  finished,
  nodes,
  replaced_by: replacedBy,
}: Progress): 'done' | 'replaced' | 'silent' | 'going' {
  if (finished) return 'done';
  if (replacedBy !== undefined) return 'replaced';
  const left = nodes.filter(({ done_at: doneAt }) => doneAt === undefined);
  return left.length > 0 && left.every(({ live }) => !live) ? 'silent' : 'going';
}
