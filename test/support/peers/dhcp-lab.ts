// A network for tests of DHCP, which requires root. Clients run in a network namespace, and servers at the other end of its
// only link.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../validators/run-program.ts';

const PREFIX = '203.0.113';
/** Addresses of the two ends of the link. The clients' end also gets the addresses that are leased. */
const [SERVER, CLIENTS] = [`${PREFIX}.254/24`, `${PREFIX}.253/24`];

export class DhcpLab {
  /** Interface on which servers listen. */
  readonly link: string;
  readonly #peer: string;
  readonly #namespace: string;
  readonly #directory: string;

  /** Creates the network. Clients write their files to `directory`. */
  static async create(directory: string): Promise<DhcpLab> {
    const lab = new DhcpLab(directory);
    await lab.#build();
    return lab;
  }

  private constructor(directory: string) {
    this.link = `zfs${process.pid}`;
    this.#peer = `zfc${process.pid}`;
    this.#namespace = `zonefleet-${process.pid}`;
    this.#directory = directory;
  }

  async #build(): Promise<void> {
    await ip('netns', 'add', this.#namespace);
    await ip('link', 'add', this.link, 'type', 'veth', 'peer', 'name', this.#peer, 'netns', this.#namespace);
    await ip('address', 'add', SERVER, 'dev', this.link);
    await ip('link', 'set', this.link, 'up');
    await ip('-n', this.#namespace, 'address', 'add', CLIENTS, 'dev', this.#peer);
    await ip('-n', this.#namespace, 'link', 'set', this.#peer, 'up');
  }

  /** Starts a client that requests a lease with a host name. Returns the address. */
  async lease(client: string, name: string): Promise<string> {
    const conf = `send host-name "${name}";\nsend dhcp-client-identifier "${client}";\n`;
    await writeFile(join(this.#directory, `${client}.conf`), conf);
    const text = await this.#dhclient(client, '-1', '-v');
    const [, address] = /bound to ([\d.]+)/.exec(text) ?? [];
    if (address === undefined) throw new Error(`no lease: ${text}`);
    return address;
  }

  async release(client: string): Promise<void> {
    await this.#dhclient(client, '-r');
  }

  async #dhclient(client: string, ...args: readonly string[]): Promise<string> {
    const file = (end: string) => join(this.#directory, `${client}.${end}`);
    const files = ['-cf', file('conf'), '-lf', file('leases'), '-pf', file('pid')];
    const command = ['dhclient', '-4', ...args, ...files, '-sf', '/bin/true', this.#peer];
    const { text } = await runProgram('ip', ['netns', 'exec', this.#namespace, ...command]);
    return text;
  }

  /** Ends the clients, and deletes the link and the namespace. */
  async remove(): Promise<void> {
    const { text } = await runProgram('ip', ['netns', 'pids', this.#namespace]);
    for (const pid of text.split(/\s+/).map(Number)) if (pid > 0) process.kill(pid);
    await ip('link', 'delete', this.link);
    await ip('netns', 'delete', this.#namespace);
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  const { code, text } = await runProgram('ip', args);
  if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${text}`);
}
