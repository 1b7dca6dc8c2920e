// Detects the kind of a zone from existing names, and suggests the names that such zones have. These names are many, and
// most other zones have none of them.

import { labelsOf, type Name } from '../../dns/name.ts';
import type { Kind } from './scan-kind.ts';
import { LANGUAGES } from './scan-languages.ts';
import { TRADES } from './scan-trades.ts';

const KINDS: readonly Kind[] = [...LANGUAGES, ...TRADES];

export class ScanHints {
  readonly #domain: Name;
  readonly #seen = new Map<Kind, Set<string>>();
  readonly #told = new Set<Kind>();

  constructor(domain: Name) {
    this.#domain = domain;
  }

  /** Returns names relative to the domain that its own name suggests. */
  ofDomain(): string[] {
    const domain = labelsOf(this.#domain).join('.');
    return KINDS.flatMap((kind) => (kind.domains?.test(domain) ? this.#tell(kind) : []));
  }

  /**
   * Returns names relative to the domain that reveal its kind if its own name does not. Includes names for languages only
   * if no language was detected.
   */
  probes(): string[] {
    const isSpoken = LANGUAGES.some((kind) => this.#told.has(kind));
    return [...(isSpoken ? [] : LANGUAGES), ...TRADES].flatMap(({ probes = [] }) => probes);
  }

  /** Returns names relative to the domain that an existing name suggests. */
  of(name: Name): readonly string[] {
    const below = labelsOf(name).slice(0, -labelsOf(this.#domain).length).join('.');
    return KINDS.flatMap((kind) => {
      if (!kind.signs.has(below)) return [];
      const seen = this.#seen.get(kind) ?? new Set();
      this.#seen.set(kind, seen.add(below));
      return seen.size < kind.needed ? [] : this.#tell(kind);
    });
  }

  #tell(kind: Kind): readonly string[] {
    if (this.#told.has(kind)) return [];
    this.#told.add(kind);
    return kind.names;
  }
}

/**
 * The target of an alias reveals which service had to verify the alias's name by a TXT record below it. `%` is the host's
 * first label.
 */
const CLAIMS: readonly (readonly [end: string, name: string])[] = [
  ['azurewebsites.net', 'asuid'],
  ['azurecontainerapps.io', 'asuid'],
  ['azurefd.net', '_dnsauth'],
  ['azurestaticapps.net', '_dnsauth'],
  ['azureedge.net', 'cdnverify'],
  ['blob.core.windows.net', 'asverify'],
  ['github.io', '_github-pages-challenge-%'],
  ['gitlab.io', '_gitlab-pages-verification-code'],
  ['fly.dev', '_acme-challenge'],
  ['fly.dev', '_fly-ownership'],
  ['vercel-dns.com', '_vercel'],
  ['cdn.cloudflare.net', '_cf-custom-hostname'],
];

/** `target`: in lower case without a trailing dot. */
export function claimsOf(target: string): string[] {
  return CLAIMS.filter(([end]) => target.endsWith(`.${end}`)).map(([, name]) =>
    name.replace('%', target.slice(0, target.indexOf('.'))),
  );
}
