import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Connection,
  Connections,
  type Exchange,
  networkOf,
  type Wire,
} from '../../../src/process/http/connections.ts';

const STALL_SECONDS = 15;
const MIN_BYTES_PER_SECOND = 1024;
const REST_SECONDS = 3;

class FakeWire implements Wire {
  isTrusted = false;
  unreadBytes = 0;
  takenBytes = 0;
  receivedBytes = 0;
  isCut = false;
  cut(): void {
    this.isCut = true;
  }
}

const exchange = (state: Partial<Exchange>): Exchange => ({
  isWhole: true,
  isHeldByUs: false,
  isAnswered: false,
  ...state,
});

let connections: Connections;
let nowMs = 0;
beforeEach(() => {
  connections = new Connections({ connections: 5, perNetwork: 3, unreadBytes: 8000 });
  nowMs = 0;
});

function open(network = 'a', trusted = false): { wire: FakeWire; connection: Connection | undefined } {
  const wire = new FakeWire();
  wire.isTrusted = trusted;
  return { wire, connection: connections.open(network, wire, nowMs++) };
}

/** One entry per second, with its events. */
function seconds(count: number, happens: () => void = () => {}): void {
  for (let i = 0; i < count; i++) {
    nowMs += 1000;
    happens();
    connections.sweep(nowMs);
  }
}

describe('a connection beyond the limit of its network', () => {
  it('replaces the oldest that does not wait for us, and none of another network', () => {
    const opened = [open(), open(), open()];
    const { connection } = open();
    expect(connection).toBeDefined();
    expect(opened.map(({ wire }) => wire.isCut)).toEqual([true, false, false]);
    expect(connections.size).toBe(3);
    const other = open('b');
    const busy = [open(), open(), open()];
    for (const { connection } of busy) (connection as Connection).exchange = exchange({});
    expect(open().connection).toBeUndefined();
    expect([other, ...busy].some(({ wire }) => wire.isCut)).toBe(false);
    expect(connections.size).toBe(4);
  });

  it('replaces one that does not read its response', () => {
    const opened = [open(), open(), open()];
    for (const { connection } of opened) (connection as Connection).exchange = exchange({});
    const [, lazy] = opened;
    (lazy?.connection as Connection).exchange = exchange({ isAnswered: true });
    expect(open().connection).toBeDefined();
    expect(lazy?.wire.isCut).toBe(true);
  });

  it('replaces a trusted one only if there is no other: the one idle for longest, and none in progress', () => {
    const [first, second, third] = [open('a', true), open('a', true), open('a')];
    (first.connection as Connection).usedAtMs = 100;
    (second.connection as Connection).usedAtMs = 50;
    nowMs = 1000;
    open('a', true);
    expect(third.wire.isCut).toBe(true);
    open('a', true);
    expect([first.wire.isCut, second.wire.isCut]).toEqual([false, true]);
    for (const state of [{ isWhole: false }, {}, { isAnswered: true, isWhole: false }]) {
      const { connection } = open('a', true);
      (connection as Connection).exchange = exchange(state);
    }
    expect(open('a', true).connection).toBeUndefined();
  });
});

describe('connections of all networks together', () => {
  it('have a limit, and those without a key are closed first', () => {
    const keyed = open('a', true);
    for (const network of ['b', 'c', 'd', 'e']) open(network);
    for (let i = 0; i < 100; i++) expect(open(`n${i}`).connection).toBeDefined();
    expect(connections.size).toBe(5);
    expect(keyed.wire.isCut).toBe(false);
  });

  it('leave no state behind when they end', () => {
    const { connection } = open();
    connections.close(connection as Connection);
    connections.close(connection as Connection);
    expect(connections.size).toBe(0);
    for (let i = 0; i < 3; i++) expect(open().connection).toBeDefined();
  });
});

describe('a response that is not read', () => {
  it('ends the connection after a while', () => {
    const { wire } = open();
    wire.unreadBytes = 500;
    seconds(STALL_SECONDS - 1);
    expect(wire.isCut).toBe(false);
    seconds(1);
    expect(wire.isCut).toBe(true);
    expect(connections.size).toBe(0);
  });

  it('is awaited as long as it progresses well, regardless of its size', () => {
    connections = new Connections({ connections: 5, perNetwork: 3, unreadBytes: 1e9 });
    const { wire } = open();
    wire.unreadBytes = 100_000_000;
    seconds(600, () => (wire.takenBytes += 2 * MIN_BYTES_PER_SECOND));
    expect(wire.isCut).toBe(false);
  });

  it('is not awaited at one byte per second', () => {
    const { wire } = open();
    wire.unreadBytes = 900;
    seconds(STALL_SECONDS + 1, () => (wire.takenBytes += 1));
    expect(wire.isCut).toBe(true);
  });

  it('never gains more patience than at the start', () => {
    const { wire } = open();
    wire.unreadBytes = 900;
    seconds(1, () => (wire.takenBytes += 100_000_000));
    seconds(STALL_SECONDS);
    expect(wire.isCut).toBe(true);
  });
});

describe('unread responses', () => {
  const LIMIT = 8000;
  const UNTRUSTED = LIMIT / 2;
  const NETWORK = LIMIT / 8;

  /** A connection with a finished response, of which this many bytes are unread. */
  function answered(bytes: number, network = 'a', trusted = false): FakeWire {
    const { wire, connection } = open(network, trusted);
    wire.unreadBytes = bytes;
    connections.countUnread(connection as Connection);
    return wire;
  }
  const cut = (wires: FakeWire[]) => wires.map(({ isCut }) => isCut);

  it('of one network, or of all, end the connection that has waited longest, first of peers that do not read', () => {
    const other = answered(NETWORK, 'b');
    const near = [answered(NETWORK / 2), answered(NETWORK / 2), answered(1)];
    expect(cut([other, ...near])).toEqual([false, true, false, false]);
    const wires = Array.from({ length: UNTRUSTED / NETWORK }, (_, i) => answered(NETWORK, `n${i}`));
    expect(cut(wires)).toEqual(wires.map(() => false));
    wires.push(answered(1, 'one more'));
    expect(cut(wires)).toEqual(wires.map((_, i) => i === 0));
    const [reading, lazy] = [answered(NETWORK / 2), answered(NETWORK / 2)];
    reading.takenBytes += 1;
    const last = answered(NETWORK / 2);
    expect(cut([reading, lazy, last])).toEqual([false, true, false]);
  });

  it('do not end the connection with the newest response, and first end those without a key', () => {
    expect(answered(LIMIT).isCut).toBe(false);
    expect(answered(10 * LIMIT, 'b', true).isCut).toBe(false);
    const keyed = answered(LIMIT - NETWORK, 'a', true);
    const other = answered(NETWORK, 'b');
    const second = answered(1, 'c', true);
    expect(cut([keyed, other, second])).toEqual([false, true, false]);
    expect(cut([answered(NETWORK, 'c', true), keyed])).toEqual([false, true]);
  });

  it('are counted again every second, because a response may be sent in pieces', () => {
    const streaming = Array.from({ length: 3 }, () => open().wire);
    for (const wire of streaming) wire.unreadBytes = NETWORK / 2;
    seconds(1);
    expect(cut(streaming)).toEqual([true, false, false]);
  });

  it('no longer count when they are read or the connection has ended', () => {
    for (let i = 0; i < 100; i++) {
      const { wire, connection } = open();
      wire.unreadBytes = NETWORK;
      connections.countUnread(connection as Connection);
      if (i % 2 === 0) wire.unreadBytes = 0;
      connections.countUnread(connection as Connection);
      connections.close(connection as Connection);
      expect(wire.isCut).toBe(false);
    }
  });
});

describe('a body that does not arrive', () => {
  const sending = () => {
    const { wire, connection } = open('a', true);
    (connection as Connection).exchange = exchange({ isWhole: false });
    return { wire, connection: connection as Connection };
  };

  it('ends the connection after a while, even if it arrives byte by byte', () => {
    const { wire } = sending();
    seconds(STALL_SECONDS + 1, () => (wire.receivedBytes += 1));
    expect(wire.isCut).toBe(true);
  });

  it('is awaited as long as it progresses well', () => {
    const { wire } = sending();
    seconds(100, () => (wire.receivedBytes += MIN_BYTES_PER_SECOND));
    expect(wire.isCut).toBe(false);
  });

  it('does not count against the caller while received data waits for us', () => {
    const { wire, connection } = sending();
    connection.exchange = exchange({ isWhole: false, isHeldByUs: true });
    seconds(100);
    expect(wire.isCut).toBe(false);
  });

  it('is not awaited after its response, regardless of its speed', () => {
    const { wire, connection } = sending();
    connection.exchange = exchange({ isWhole: false, isAnswered: true });
    seconds(REST_SECONDS, () => (wire.receivedBytes += 1_000_000));
    expect(wire.isCut).toBe(true);
  });
});

it('a caller who waits for us is kept for any time', () => {
  const { wire, connection } = open();
  (connection as Connection).exchange = exchange({});
  seconds(1000);
  expect(wire.isCut).toBe(false);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
