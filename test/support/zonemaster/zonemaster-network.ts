// A network namespace with the addresses of small internets on its loopback interface, in which port 53 is free; and our
// own process and zonemaster-cli in it. It needs root; everything is removed at the end.

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isInstalled } from '../peers/peers.ts';
import { missingForNamespaces, NetworkNamespace } from '../world/network-namespace.ts';

const CHILD = fileURLToPath(new URL('./world-child.ts', import.meta.url));
const run = promisify(execFile);

/** One try of one second, for servers that are silent on purpose. */
const PROFILE = { resolver: { defaults: { timeout: 2, retrans: 1, retry: 1 } } };
const ZONEMASTER_MS = 120_000;

/** A message of Zonemaster. */
export interface ZonemasterMessage {
  /** The test case, like `delegation01`. */
  readonly test: string;
  readonly tag: string;
  readonly args: string;
}

/** What our own check came to: see world-child.ts. */
export interface Looked {
  readonly codes: readonly string[];
  readonly isAnswered: boolean;
  readonly isKnown: boolean;
}

/** Returns what is missing for a comparison; empty if nothing is. */
export function missingForZonemaster(): string {
  return isInstalled('zonemaster-cli') ? missingForNamespaces() : 'zonemaster-cli';
}

export class ZonemasterNetwork {
  readonly #namespace: NetworkNamespace;

  private constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
  }

  static async make(addresses: readonly string[], rootHints: string): Promise<ZonemasterNetwork> {
    const namespace = await NetworkNamespace.make('', addresses);
    await writeFile(join(namespace.folder, 'hints'), rootHints);
    await writeFile(join(namespace.folder, 'profile.json'), JSON.stringify(PROFILE));
    namespace.startChild(CHILD);
    return new ZonemasterNetwork(namespace);
  }

  /** Serves a world from now on, and looks at it with our own check. */
  async look(folder: string, servers: readonly string[] = []): Promise<Looked> {
    return JSON.parse(await this.#namespace.ask([folder, ...servers].join(' '))) as Looked;
  }

  /** Runs these test cases, like `Delegation/delegation01`, on the world that is served. */
  async zonemaster(
    domain: string,
    tests: readonly string[],
    servers: readonly string[] = [],
  ): Promise<ZonemasterMessage[]> {
    const { folder } = this.#namespace;
    const { command, args } = this.#namespace.within('zonemaster-cli');
    const words = [
      ...args,
      ...[domain, '--raw', '--no-time', '--show_testcase', '--level=INFO'],
      ...['--hints', join(folder, 'hints'), '--profile', join(folder, 'profile.json')],
      ...tests.flatMap((test) => ['--test', test]),
      ...servers.flatMap((server) => ['--ns', server]),
    ];
    const env = { ...process.env, HOME: folder };
    const { stdout } = await run(command, words, { timeout: ZONEMASTER_MS, env });
    const messages = stdout.split('\n').flatMap((line): ZonemasterMessage[] => {
      const [, test, tag, rest = ''] = /^\s*[\d.]+\s+[A-Z]+\s+(\S+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
      return test === undefined || tag === undefined ? [] : [{ test: test.toLowerCase(), tag, args: rest }];
    });
    if (messages.length === 0) throw new Error(`zonemaster-cli said nothing: ${stdout}`);
    return messages;
  }

  remove(): Promise<void> {
    return this.#namespace.remove();
  }
}
