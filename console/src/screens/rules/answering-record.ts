// Finds the records that answer for a host: its own, or those of a wildcard (RFC 4592).

import type { Schemas } from '../../api/client.ts';

type HostRecord = Pick<Schemas['Record'], 'id' | 'proxied' | 'captcha'>;

interface Answering<R> {
  /** Relative to the domain: `www`, `@`, `*`. */
  readonly name: string;
  readonly records: readonly R[];
}

interface Zone<R> {
  /** Returns the records with a relative name. */
  readonly load: (name: string) => Promise<readonly R[]>;
  /** True if there are records below a relative name. It exists then, even without records of its own (RFC 4592 §2.2.2). */
  readonly hasBelow: (name: string) => Promise<boolean>;
}

/** Returns undefined if no record answers. */
export async function answeringRecords<R extends HostRecord>(
  host: string,
  domain: string,
  { load, hasBelow }: Zone<R>,
): Promise<Answering<R> | undefined> {
  const own = host === domain ? '@' : host.slice(0, -domain.length - 1);
  const records = await load(own);
  if (records.length > 0) return { name: own, records };
  if (own === '@' || (await hasBelow(own))) return undefined;
  const labels = own.split('.').slice(1);
  for (let at = 0; at <= labels.length; at++) {
    const parent = labels.slice(at).join('.');
    const wildcard = parent === '' ? '*' : `*.${parent}`;
    const found = await load(wildcard);
    if (found.length > 0) return { name: wildcard, records: found };
    // The closest existing name decides: wildcards above it do not apply.
    if (parent !== '' && ((await load(parent)).length > 0 || (await hasBelow(parent)))) return undefined;
  }
  return undefined;
}

/** True if the host is the domain or below it. */
export function isOwnHost(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
