// Runs a small internet on loopback sockets. Each public-looking address is a random port that the exchange's `route` maps
// it to. With startWorld, the world has loopback addresses that share one port, for whole programs.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Name, printName, ROOT } from '../../../src/dns/name.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { framed } from '../answer/sockets.ts';
import { freePort } from '../processes/free-port.ts';
import { canonicalAddress, type Fault, nameOf, parseWorld, type World } from './read-world.ts';
import { type Packet, type Seen, type Transport, WorldServer } from './world-server.ts';

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface Seat {
  readonly place: Place;
  close(): Promise<void>;
}

const MAX_TRIES = 50;
/** A port that no program uses (RFC 1078). */
const CLOSED_PORT = 1;

export class FakeInternet {
  /** Addresses that are currently silent, regardless of the world. */
  readonly silenced = new Set<string>();
  readonly seen: Seen[] = [];
  /** Forbidden actions of the resolver that occurred. */
  readonly violations: string[] = [];
  #world: World;
  readonly #seats = new Map<string, Seat>();
  readonly #servers = new Map<string, WorldServer>();
  /** Zones that currently serve another variant than their first. */
  readonly #variants = new Map<Name, string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #elsewhere: UdpSocket | undefined;
  #nowhere: Seat | undefined;

  private constructor(world: World) {
    this.#world = world;
  }

  /** `port`: every address of the world is bound at that port. Without it, each has its own port. */
  static async start(world: World, { port }: { port?: number } = {}): Promise<FakeInternet> {
    const internet = new FakeInternet(world);
    try {
      for (const address of world.servers.keys()) {
        internet.#seats.set(address, await internet.#seatFor(address, port));
      }
      internet.become(world);
      internet.#nowhere = await sitDown(loopbackFor('0'), SWALLOW);
      internet.#elsewhere = createSocket('udp4').unref();
      await new Promise<void>((done) => internet.#elsewhere?.bind(0, '127.0.0.1', done));
    } catch (error) {
      await internet.close();
      throw error;
    }
    return internet;
  }

  /**
   * For the exchange: maps an address to its socket. An address that is not in the world is recorded, and ignores
   * everything.
   */
  readonly route = (address: string): Place => {
    const seat = this.#seats.get(canonicalAddress(address));
    if (seat === undefined) this.violations.push(`${address} is not in the world`);
    else if (address.includes(':') && !this.#world.hasIpv6)
      this.violations.push(`${address} cannot be reached: there is no IPv6`);
    const { place } = seat ?? (this.#nowhere as Seat);
    const isClosed = this.#faultsAt(canonicalAddress(address)).some(({ kind }) => kind === 'closed');
    return isClosed ? { ...place, port: CLOSED_PORT } : place;
  };

  /** Returns the names and addresses of the root's servers. */
  rootServers(): { name: Name; addresses: string[] }[] {
    const byName = new Map<Name, string[]>();
    for (const { name, address, serves } of this.#world.servers.values()) {
      if (!serves.some(({ apex }) => apex === ROOT)) continue;
      byName.set(name, [...(byName.get(name) ?? []), address]);
    }
    return [...byName].map(([name, addresses]) => ({ name, addresses }));
  }

  /** Activates another variant of a zone at every server that is not bound to one. */
  serve(apex: string, variant: string): void {
    const name = nameOf(apex);
    if (!this.#world.zones.get(name)?.has(variant)) throw new Error(`there is no ${apex}/${variant}`);
    this.#variants.set(name, variant);
  }

  /** Replaces the world at the same addresses: other zones, other faults. */
  become(world: World): void {
    for (const script of world.servers.values()) {
      if (!this.#seats.has(script.address)) throw new Error(`${script.address} was not there at the start`);
      const zoneOf = (apex: Name, variant: string | undefined) => this.#zone(apex, variant);
      const server = new WorldServer(script, zoneOf, (violation) => this.violations.push(violation));
      this.#servers.set(script.address, server);
    }
    this.#world = world;
    this.#variants.clear();
  }

  /** Counts queries and replies at one address over both transports. */
  countAt(address: string): number {
    return this.seen.filter((one) => one.address === canonicalAddress(address)).length;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const seat of this.#seats.values()) await seat.close();
    await this.#nowhere?.close();
    this.#elsewhere?.close();
  }

  async #seatFor(address: string, port: number | undefined): Promise<Seat> {
    const conduct = this.#conductOf(address);
    if (port !== undefined) return sitDown({ address, port }, conduct);
    try {
      return await sitDown(loopbackFor(address), conduct);
    } catch (error) {
      if (!['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
      return sitDown(loopbackFor('0'), conduct); // a machine without ::1 gets the same queries on IPv4
    }
  }

  #conductOf(address: string): Conduct {
    return {
      receive: (bytes, transport) => {
        const isDown = this.silenced.has(address);
        const received = this.#servers.get(address)?.receive(bytes, transport, isDown);
        if (received === undefined) return [];
        this.seen.push(received.seen);
        this.#flip(received.seen.name);
        return isDown ? [] : received.packets;
      },
      refusesTcp: () => this.#faultsAt(address).some(({ kind }) => kind === 'no-tcp'),
      deliver: (packet, send, sendFrom) => {
        const go = () => (packet.elsewhere ? sendFrom(this.#elsewhere as UdpSocket) : send());
        if (packet.delayMs === 0) return go();
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          go();
        }, packet.delayMs);
        this.#timers.add(timer);
      },
    };
  }

  #faultsAt(address: string): readonly Fault[] {
    return this.#world.servers.get(address)?.faults ?? [];
  }

  #zone(apex: Name, variant: string | undefined): Zone {
    const zone = this.#world.zones.get(apex)?.get(variant ?? this.#variants.get(apex) ?? '');
    if (zone === undefined) throw new Error(`there is no zone ${printName(apex)}`);
    return zone;
  }

  #flip(name: Name): void {
    for (const flip of this.#world.flips) {
      if (flip.name !== name) continue;
      if (this.seen.filter((one) => one.name === name).length === flip.after)
        this.#variants.set(flip.apex, flip.variant);
    }
  }
}

function loopbackFor(address: string): Place {
  return { address: address.includes(':') ? '::1' : '127.0.0.1', port: 0 };
}

/** The behaviour of an address. */
interface Conduct {
  receive(bytes: Uint8Array, transport: Transport): readonly Packet[];
  refusesTcp(): boolean;
  deliver(packet: Packet, send: () => void, sendFrom: (socket: UdpSocket) => void): void;
}

const SWALLOW: Conduct = { receive: () => [], refusesTcp: () => false, deliver: () => {} };

/** Opens UDP and TCP at one port, a random one for port 0. */
export async function sitDown({ address, port }: Place, conduct: Conduct): Promise<Seat> {
  const connections = new Set<Socket>();
  const tcp = createServer((socket) => {
    socket.on('error', () => {});
    if (conduct.refusesTcp()) return void socket.resetAndDestroy();
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    serveTcp(socket, conduct);
  });
  const { udp, bound } = await listenBoth(tcp, { address, port });
  udp.on('message', (bytes, from) => {
    for (const packet of conduct.receive(bytes, 'udp')) {
      const sendFrom = (socket: UdpSocket) => socket.send(packet.bytes, from.port, from.address, () => {});
      conduct.deliver(packet, () => sendFrom(udp), sendFrom);
    }
  });
  return {
    place: { address, port: bound },
    close: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise<void>((done) => udp.close(done));
      await new Promise((done) => tcp.close(done));
    },
  };
}

/** Retries if the random TCP port is already used for UDP. */
export async function listenBoth(
  tcp: Server,
  { address, port }: Place,
): Promise<{ udp: UdpSocket; bound: number }> {
  for (let tries = 1; ; tries++) {
    const bound = await listenTcp(tcp, address, port);
    const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    try {
      await new Promise<void>((done, fail) => udp.once('error', fail).bind(bound, address, done));
      udp.removeAllListeners('error').on('error', () => {});
      return { udp, bound };
    } catch (error) {
      await new Promise((done) => tcp.close(done));
      if (port !== 0 || tries === MAX_TRIES) throw error;
    }
  }
}

async function listenTcp(server: Server, address: string, port: number): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

function serveTcp(socket: Socket, conduct: Conduct): void {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      const message = pending.subarray(2, end);
      pending = pending.subarray(end);
      for (const packet of conduct.receive(message, 'tcp')) {
        const send = () => void (socket.destroyed || socket.write(framed(packet.bytes)));
        conduct.deliver(packet, send, send);
      }
    }
  });
}

export interface StartedWorld {
  readonly internet: FakeInternet;
  readonly rootHints: string;
  readonly port: number;
  /** For a program's environment, including RESOLVER_ALLOW. */
  readonly settings: Readonly<Record<'ROOT_HINTS' | 'DNS_PORT_OUT' | 'RESOLVER_ALLOW', string>>;
  become(what: WorldText): void;
  close(): Promise<void>;
}

/** A world as in fixtures/worlds, or the text of each zone, in which case each has two servers. */
type WorldText = { readonly text: string } | { readonly zones: Readonly<Record<string, string>> };

/**
 * Starts a world for whole programs: its servers have loopback addresses (127.0.1.x) and share one port. With `zones`, the
 * root, the servers and the delegations are generated.
 */
export async function startWorld(what: WorldText): Promise<StartedWorld> {
  const worldOf = (from: WorldText) =>
    parseWorld('text' in from ? from.text : textOf(from.zones), 'startWorld');
  const world = worldOf(what);
  const foreign = [...world.servers.keys()].find((address) => !address.startsWith('127.'));
  if (foreign !== undefined) throw new Error(`${foreign} is not a loopback address`);
  const { internet, port } = await startAtOnePort(world);
  const folder = await mkdtemp(join(tmpdir(), 'zonefleet-world-'));
  const rootHints = join(folder, 'root.hints');
  const lines = internet
    .rootServers()
    .flatMap(({ name, addresses }) => [
      `. 3600000 NS ${printName(name)}`,
      ...addresses.map((address) => `${printName(name)} 3600000 A ${address}`),
    ]);
  await writeFile(rootHints, `${lines.join('\n')}\n`);
  return {
    internet,
    rootHints,
    port,
    settings: { ROOT_HINTS: rootHints, DNS_PORT_OUT: String(port), RESOLVER_ALLOW: '127.0.0.0/8' },
    become: (other) => internet.become(worldOf(other)),
    close: async () => {
      await internet.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startAtOnePort(world: World): Promise<{ internet: FakeInternet; port: number }> {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    try {
      return { internet: await FakeInternet.start(world, { port }), port };
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
}

/** Two servers per zone: 127.0.1.1 and .2 for the root, .3 and .4 for the first zone, and so on. */
function textOf(zones: Readonly<Record<string, string>>): string {
  const apexes = ['.', ...Object.keys(zones).filter((apex) => apex !== '.')];
  const servers = apexes.map((apex, i) => {
    const below = apex === '.' ? 'root-servers.' : apex;
    return {
      apex,
      names: [`a.nic.${below}`, `b.nic.${below}`],
      addresses: [1, 2].map((n) => `127.0.1.${2 * i + n}`),
    };
  });
  /** NS and address records of a zone, which appear in it and in the delegating zone. */
  const nsOf = ({ apex, names, addresses }: (typeof servers)[number]) =>
    names.flatMap((name, i) => [`  ${apex} NS ${name}`, `  ${name} A ${addresses[i]}`]);
  const parentOf = (apex: string) =>
    servers
      .filter((other) => other.apex === '.' || (apex !== other.apex && apex.endsWith(`.${other.apex}`)))
      .sort((a, b) => b.apex.length - a.apex.length)[0];
  const blocks = servers.flatMap((server) => [
    ...server.names.flatMap((name, i) => [
      `server ${name} ${server.addresses[i]}`,
      `  serves ${server.apex}`,
    ]),
    `zone ${server.apex}`,
    ...nsOf(server),
    ...servers.filter((child) => child.apex !== '.' && parentOf(child.apex) === server).flatMap(nsOf),
    ...(zones[server.apex] ?? '').split('\n').map((line) => `  ${line}`),
  ]);
  return `# A world for a program.\n${blocks.join('\n')}\n`;
}
