// Plans the names of a certificate: everything that edges answer for, with as few names as possible.

export interface PlannedNames {
  /** Starts with the apex. */
  readonly names: readonly string[];
  /** Proxied names that the certificate does not include, and why. */
  readonly left: readonly { readonly name: string; readonly why: LeftOut }[];
}

type LeftOut = 'characters' | 'too_many';

const MAX_NAMES = 100;
/** Names that authorities accept: labels of letters, digits and hyphens (RFC 5280 §7.2). */
const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}$/;

/**
 * For a domain whose zone is served here: its apex, `*.` below it, and one more wildcard for each deeper level with a
 * proxied name.
 */
export function planWildcards(domain: string, levels: readonly string[]): PlannedNames {
  const deeper = levels.filter((level) => level !== domain && level.endsWith(`.${domain}`));
  return bounded(
    [domain, `*.${domain}`],
    deeper.map((level) => `*.${level}`),
  );
}

/**
 * For a domain with external DNS: the proxied names themselves, since authorities do not issue wildcards after HTTP
 * validation (CA/Browser Forum, Baseline Requirements §3.2.2.4.19).
 */
export function planHosts(proxied: readonly string[]): PlannedNames {
  return bounded(
    [],
    proxied.filter((name) => !name.startsWith('*.')),
  );
}

function bounded(first: readonly string[], more: readonly string[]): PlannedNames {
  const left: PlannedNames['left'][number][] = [];
  const names = [...first];
  for (const name of [...new Set(more)].sort(byDepth)) {
    if (!HOST.test(name) || name.length > 253) left.push({ name, why: 'characters' });
    else if (names.length === MAX_NAMES) left.push({ name, why: 'too_many' });
    else names.push(name);
  }
  return { names, left };
}

function byDepth(a: string, b: string): number {
  return a.split('.').length - b.split('.').length || (a < b ? -1 : 1);
}

/** True if a certificate for `have` covers everything in `wanted`. */
export function areCovered(wanted: readonly string[], have: readonly string[]): boolean {
  const names = new Set(have);
  return wanted.every(
    (name) =>
      names.has(name) || (!name.startsWith('*.') && names.has(`*.${name.slice(name.indexOf('.') + 1)}`)),
  );
}
