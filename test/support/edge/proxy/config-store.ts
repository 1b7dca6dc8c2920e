// What an edge knows: the newest config of each domain, taken from the lines of the stream in whatever order they come.

import type { EdgeConfig } from '../../../../src/edge/edge-config.ts';

interface Known {
  readonly version: number;
  readonly config: EdgeConfig | null;
}

export class ConfigStore {
  readonly #byDomain = new Map<string, Known>();
  #mentioned: Set<string> | undefined;
  /** Where the stream goes on after a break. */
  cursor: string | undefined;
  /** Lines that were no JSON, or nothing that the contract knows. */
  garbage = 0;
  /** Whole snapshots that have been read. */
  snapshots = 0;

  applyText(text: string): void {
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      this.garbage++;
      return;
    }
    this.apply(line);
  }

  /** At least once, and in any order: an older version never replaces a newer one. */
  apply(line: unknown): void {
    if (!isObject(line) || typeof line.cursor !== 'string') {
      this.garbage++;
      return;
    }
    if (line.snapshot === 'begin') this.#mentioned = new Set();
    else if (line.snapshot === 'end') this.#endSnapshot();
    else if ('domain' in line && !this.#save(line)) return;
    this.cursor = line.cursor;
  }

  #save({ domain, version, config }: Record<string, unknown>): boolean {
    if (typeof domain !== 'string' || typeof version !== 'number' || !isConfig(config)) {
      this.garbage++;
      return false;
    }
    // Versions of before a snapshot may be of another history: what it tells first counts.
    const isFirst = this.#mentioned?.has(domain) === false;
    this.#mentioned?.add(domain);
    const known = this.#byDomain.get(domain);
    if (isFirst || known === undefined || known.version <= version)
      this.#byDomain.set(domain, { version, config });
    return true;
  }

  /** A snapshot that broke off says nothing of the domains that it did not reach; a whole one does. */
  #endSnapshot(): void {
    for (const domain of this.#byDomain.keys()) {
      if (this.#mentioned?.has(domain) === false) this.#byDomain.delete(domain);
    }
    this.#mentioned = undefined;
    this.snapshots++;
  }

  of(domain: string): EdgeConfig | undefined {
    return this.#byDomain.get(domain)?.config ?? undefined;
  }

  /** Also of one that is served no more; undefined: it was never told. */
  versionOf(domain: string): number | undefined {
    return this.#byDomain.get(domain)?.version;
  }

  /** Of the domain with the longest name that the host ends with. */
  find(host: string): EdgeConfig | undefined {
    for (let name = host; name !== ''; name = name.slice(name.indexOf('.') + 1)) {
      const config = this.of(name);
      if (config !== undefined) return config;
      if (!name.includes('.')) return undefined;
    }
    return undefined;
  }

  all(): EdgeConfig[] {
    return [...this.#byDomain.values()].flatMap(({ config }) => config ?? []);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As much as an edge needs in order not to fall over it. */
function isConfig(value: unknown): value is EdgeConfig | null {
  if (value === null) return true;
  return (
    isObject(value) &&
    isObject(value.settings) &&
    [value.hosts, value.rules, value.http01, value.certificates].every(Array.isArray)
  );
}
