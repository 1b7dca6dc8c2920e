// The scope of a purge as chosen by the person, and its progress.

export const SCOPES = ['all', 'host', 'url', 'prefix'] as const;
export type Scope = (typeof SCOPES)[number];

type Wish = { host: string } | { url: string } | { prefix: string };

/** Undefined to purge the whole domain. */
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

/** The scheme is ignored, because a purge of a URL covers http and https. */
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

/** `silent`: all remaining edges are offline, so there is nothing to wait for. */
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
