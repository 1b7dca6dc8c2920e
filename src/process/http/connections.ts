// Limits the connections of an HTTP server: their number, their number per network, how long each may keep us waiting, and
// the bytes of unread responses. It has no clock and no sockets.
//
//     idle ── a request's header ──▶ worked on ── its answer is made ──▶ answered ── the answer is taken ──▶ idle
//
// A connection that has shown a valid key is trusted. When the limit is reached, the oldest connection that is neither
// trusted nor being served is closed, so that connections without a key cannot lock others out. If there is none, the
// trusted connection with the longest idle time is closed.

export interface ConnectionLimits {
  readonly connections: number;
  /** Maximum connections from one IPv4 address or IPv6 /64. Undefined means no limit. */
  readonly perNetwork: number | undefined;
  /**
   * Maximum bytes of all responses that callers have not read. Callers without a key may use half of it, and one network an
   * eighth.
   */
  readonly unreadBytes: number;
  /** A peer that moves no data for this long while we wait for it is disconnected. Default: 15 s. */
  readonly stallMs?: number;
}

/** Operations on a socket. */
export interface Wire {
  readonly isTrusted: boolean;
  /** Bytes of responses that the system has not yet accepted. */
  readonly unreadBytes: number;
  /** Grows as the system accepts bytes, completely or partly. */
  readonly takenBytes: number;
  readonly receivedBytes: number;
  /** Destroys the connection immediately; data not yet sent is discarded. */
  cut(): void;
}

/** The current or last request of a connection. */
export interface Exchange {
  /** True if its whole body has arrived. */
  readonly isWhole: boolean;
  /** True if received parts of its body have not been read yet. */
  readonly isHeldByUs: boolean;
  /** True if the whole response has been written. */
  readonly isAnswered: boolean;
}

export interface Connection {
  readonly network: string;
  readonly wire: Wire;
  exchange: Exchange | undefined;
  usedAtMs: number;
  creditMs: number;
  takenBytes: number;
  receivedBytes: number;
  sweptAtMs: number;
  /** The unread response as of the last count. */
  unread:
    | { readonly bytes: number; readonly takenBytes: number; readonly groups: readonly Unread[] }
    | undefined;
}

/** Connections with unread responses, in the order in which they were counted. */
class Unread {
  readonly connections = new Set<Connection>();
  bytes = 0;
}

const STALL_MS = 15_000;
/** Peers with a lower average rate are disconnected eventually. */
const MIN_BYTES_PER_SECOND = 1024;
/** How long the rest of a body is received and discarded after its response. */
const REST_MS = 3000;
/** Fractions of `unreadBytes` for connections without a key. */
const UNTRUSTED_SHARE = 1 / 2;
const NETWORK_SHARE = 1 / 8;

interface Network {
  readonly connections: Set<Connection>;
  /** Unread responses of its connections without a key. */
  readonly unread: Unread;
}

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #stallMs: number;
  readonly #all = new Set<Connection>();
  readonly #byNetwork = new Map<string, Network>();
  readonly #unread = new Unread();
  readonly #untrusted = new Unread();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
    this.#stallMs = limits.stallMs ?? STALL_MS;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Returns undefined if there is no room and no connection can be closed. */
  open(network: string, wire: Wire, nowMs: number): Connection | undefined {
    const { connections, perNetwork = Number.POSITIVE_INFINITY } = this.#limits;
    const near = this.#byNetwork.get(network) ?? { connections: new Set(), unread: new Unread() };
    if (near.connections.size >= perNetwork && !this.#makeRoom(near.connections)) return undefined;
    if (this.#all.size >= connections && !this.#makeRoom(this.#all)) return undefined;
    const connection: Connection = {
      network,
      wire,
      exchange: undefined,
      usedAtMs: nowMs,
      creditMs: this.#stallMs,
      takenBytes: 0,
      receivedBytes: 0,
      sweptAtMs: nowMs,
      unread: undefined,
    };
    this.#all.add(connection);
    near.connections.add(connection);
    this.#byNetwork.set(network, near);
    return connection;
  }

  close(connection: Connection): void {
    if (!this.#all.delete(connection)) return;
    setUnread(connection, undefined);
    const near = this.#byNetwork.get(connection.network);
    near?.connections.delete(connection);
    if (near?.connections.size === 0) this.#byNetwork.delete(connection.network);
  }

  /**
   * Counts the unread bytes of the connection's response. If the total is too high, other connections are closed, starting
   * with the one counted longest ago that has read nothing since.
   */
  countUnread(connection: Connection): void {
    if (!this.#all.has(connection)) return;
    this.#count(connection);
    this.#endUnread(connection);
  }

  /** Disconnects peers that keep us waiting. */
  sweep(nowMs: number): void {
    for (const connection of this.#all) {
      if (spendCredit(connection, nowMs, this.#stallMs) <= 0) this.#cut(connection);
      else if (connection.unread?.bytes !== connection.wire.unreadBytes) this.#count(connection);
    }
    this.#endUnread();
  }

  #count(connection: Connection): void {
    const { wire, network } = connection;
    const { unreadBytes: bytes, takenBytes, isTrusted } = wire;
    const near = this.#byNetwork.get(network) as Network;
    const groups = isTrusted ? [this.#unread] : [near.unread, this.#untrusted, this.#unread];
    setUnread(connection, bytes === 0 ? undefined : { bytes, takenBytes, groups });
  }

  /** `spared` was just counted, so its peer had no time to read. */
  #endUnread(spared?: Connection): void {
    const { unreadBytes, perNetwork } = this.#limits;
    const ofNetwork = perNetwork === undefined ? 1 : NETWORK_SHARE; // without a limit, all clients may share one network
    const networks = spared === undefined ? this.#byNetwork.values() : [this.#byNetwork.get(spared.network)];
    for (const near of networks)
      if (near !== undefined) this.#endFirst(near.unread, near.unread, unreadBytes * ofNetwork, spared);
    this.#endFirst(this.#untrusted, this.#untrusted, unreadBytes * UNTRUSTED_SHARE, spared);
    this.#endFirst(this.#untrusted, this.#unread, unreadBytes, spared);
    this.#endFirst(this.#unread, this.#unread, unreadBytes, spared);
  }

  /** Closes connections of `among` until `all` has no more than this many bytes. */
  #endFirst(among: Unread, all: Unread, bytes: number, spared: Connection | undefined): void {
    for (const connection of among.connections) {
      if (all.bytes <= bytes) return;
      if (connection === spared) continue;
      if (connection.wire.takenBytes > (connection.unread?.takenBytes ?? 0))
        this.#count(connection); // moves it to the end
      else this.#cut(connection);
    }
  }

  #makeRoom(among: ReadonlySet<Connection>): boolean {
    let idle: Connection | undefined;
    for (const connection of among) {
      if (connection.wire.isTrusted) {
        if (isIdle(connection) && connection.usedAtMs < (idle?.usedAtMs ?? Number.POSITIVE_INFINITY)) {
          idle = connection;
        }
      } else if (connection.exchange === undefined || connection.exchange.isAnswered) {
        this.#cut(connection);
        return true;
      }
    }
    if (idle === undefined) return false;
    this.#cut(idle);
    return true;
  }

  #cut(connection: Connection): void {
    this.close(connection);
    connection.wire.cut();
  }
}

function isIdle({ exchange, wire }: Connection): boolean {
  return exchange === undefined || (exchange.isAnswered && exchange.isWhole && wire.unreadBytes === 0);
}

/** Remaining time for which a peer may keep us waiting. It decreases while we wait, and transferred bytes increase it. */
function spendCredit(connection: Connection, nowMs: number, stallMs: number): number {
  const { wire, exchange } = connection;
  const { takenBytes, receivedBytes } = wire;
  const elapsedMs = nowMs - connection.sweptAtMs;
  const isRest = exchange?.isAnswered === true && !exchange.isWhole;
  const sends = exchange !== undefined && !exchange.isWhole && !exchange.isHeldByUs;
  const moved =
    wire.unreadBytes > 0
      ? takenBytes - connection.takenBytes
      : sends
        ? receivedBytes - connection.receivedBytes
        : undefined;
  connection.sweptAtMs = nowMs;
  connection.takenBytes = takenBytes;
  connection.receivedBytes = receivedBytes;
  if (isRest) {
    // The rest of the body is discarded.
    connection.creditMs = Math.min(connection.creditMs, REST_MS) - elapsedMs;
  } else if (moved === undefined) {
    connection.creditMs = stallMs;
  } else {
    const earnedMs = (moved / MIN_BYTES_PER_SECOND) * 1000;
    connection.creditMs = Math.min(stallMs, connection.creditMs - elapsedMs + earnedMs);
  }
  return connection.creditMs;
}

function setUnread(connection: Connection, unread: Connection['unread']): void {
  for (const group of connection.unread?.groups ?? []) {
    group.connections.delete(connection);
    group.bytes -= connection.unread?.bytes ?? 0;
  }
  for (const group of unread?.groups ?? []) {
    group.connections.add(connection);
    group.bytes += unread?.bytes ?? 0;
  }
  connection.unread = unread;
}

/**
 * Returns the key that identifies one caller: the IPv4 address, or the /64 of an IPv6 address, since a customer has all of
 * it.
 */
export function networkOf(address: string): string {
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const whole = [
    ...groups,
    ...Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0'),
    ...after,
  ];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
