// The demo's registered names and their nameservers, stored in a file. A real registry would authenticate its users; this
// one serves only this machine.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { GLUE_HOSTS, type Registrations, TLD } from './demo-net.ts';

export interface Registration {
  readonly nameservers: readonly string[];
  /** Milliseconds since 1970. 0 if it was never changed. */
  readonly changedAt: number;
}

type Changed =
  | { readonly kind: 'changed' }
  | { readonly kind: 'problem'; readonly field: 'name' | 'nameservers'; readonly message: string };

const MAX_NAMES = 200;
const MAX_NAMESERVERS = 13;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_CHARACTERS = 253;

export class Registry {
  readonly #file: string;
  readonly #names: Map<string, Registration>;
  /** Called after each change has been written to the file. */
  onChange: () => void = () => {};

  /** `first`: the registrations if there is no file yet. */
  constructor(file: string, first: Registrations) {
    this.#file = file;
    this.#names =
      readNames(file) ??
      new Map([...first].map(([name, nameservers]) => [name, { nameservers, changedAt: 0 }]));
  }

  list(): [string, Registration][] {
    return [...this.#names].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  registrations(): Registrations {
    return new Map([...this.#names].map(([name, { nameservers }]) => [name, nameservers]));
  }

  /** Registers the name if it is new. `nameservers` replace all previous ones. */
  change(nameText: string, texts: readonly string[], nowMs: number): Changed {
    const name = nameText.trim().toLowerCase().replace(/\.$/, '');
    const problem =
      judgeName(name, this.#names) ??
      judgeNameservers(
        name,
        texts.map(fold).filter((text) => text !== ''),
      );
    if (problem !== undefined) return problem;
    const nameservers = [...new Set(texts.map(fold).filter((text) => text !== ''))].sort();
    const before = new Map(this.#names);
    this.#names.set(name, { nameservers, changedAt: nowMs });
    try {
      this.#save();
    } catch (error) {
      this.#names.clear();
      for (const [each, registration] of before) this.#names.set(each, registration);
      throw error;
    }
    this.onChange();
    return { kind: 'changed' };
  }

  /** Writes the file completely or not at all. */
  #save(): void {
    writeFileSync(`${this.#file}.new`, `${JSON.stringify(Object.fromEntries(this.#names))}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function fold(text: string): string {
  return text.trim().toLowerCase().replace(/\.$/, '');
}

function readNames(file: string): Map<string, Registration> | undefined {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Registration>));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function judgeName(name: string, names: ReadonlyMap<string, unknown>): Changed | undefined {
  const problem = (message: string): Changed => ({ kind: 'problem', field: 'name', message });
  const [label = '', ...rest] = name.split('.');
  if (!LABEL.test(label) || rest.join('.') !== TLD)
    return problem(`expected one label of letters, digits and hyphens below .${TLD}, such as shop.${TLD}`);
  if (label === 'nic') return problem(`nic.${TLD} is reserved by the registry`);
  if (!names.has(name) && names.size >= MAX_NAMES)
    return problem(`the registry is full: it has room for ${MAX_NAMES} names`);
  return undefined;
}

function judgeNameservers(name: string, hosts: readonly string[]): Changed | undefined {
  const problem = (message: string): Changed => ({ kind: 'problem', field: 'nameservers', message });
  if (hosts.length > MAX_NAMESERVERS) return problem(`expected at most ${MAX_NAMESERVERS} nameservers`);
  for (const host of hosts) {
    const labels = host.split('.');
    const shown = JSON.stringify(host.slice(0, 80));
    if (host.length > MAX_CHARACTERS || labels.length < 2 || !labels.every((label) => LABEL.test(label)))
      return problem(`${shown} is not a host name such as ns1.zonefleet.example`);
    const isBelow = labels.at(-1) === TLD;
    if (isBelow && host !== name && !GLUE_HOSTS.includes(host))
      return problem(
        `${shown} is below .${TLD}, where the registry needs its address: it has only those of ${GLUE_HOSTS.join(' and ')}`,
      );
    if (host === name) return problem(`${shown} is the registered name itself`);
  }
  return undefined;
}
