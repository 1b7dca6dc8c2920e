// An exchange over a world that is kept in memory: packets go to its servers as calls, and the time limit of an attempt
// that nothing answers ends immediately.

import type { AttemptResult, Transport } from '../../../src/resolver/exchange/attempt-result.ts';
import { setId } from '../../../src/resolver/exchange/encode-query.ts';
import { createExchange, type Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { matchReply } from '../../../src/resolver/exchange/match-reply.ts';
import { canonicalAddress, type World } from './read-world.ts';
import { type Seen, WorldServer } from './world-server.ts';

export interface WorldExchange {
  readonly exchange: Exchange;
  /** All queries that arrived, in order. */
  readonly seen: Seen[];
  /** Number of the next packets that are lost, by address. */
  readonly losses: Map<string, number>;
  readonly violations: string[];
}

/** Leaves out delays, and replies from other ports. */
export function worldExchange(world: World, now: () => number): WorldExchange {
  const seen: Seen[] = [];
  const violations: string[] = [];
  const losses = new Map<string, number>();
  const servers = new Map(
    [...world.servers].map(([address, script]) => {
      const zoneOf: ConstructorParameters<typeof WorldServer>[1] = (apex, variant = '') => {
        const zone = world.zones.get(apex)?.get(variant);
        if (zone === undefined) throw new Error(`there is no zone ${apex}`);
        return zone;
      };
      return [address, new WorldServer(script, zoneOf, (text) => violations.push(text))];
    }),
  );
  let id = 0;
  const transport = (over: 'udp' | 'tcp'): Transport => ({
    async ask({ address }, query, { signal, onPacket }): Promise<AttemptResult> {
      signal.throwIfAborted();
      onPacket();
      signal.throwIfAborted();
      setId(query, ++id & 0xffff);
      const at = canonicalAddress(address);
      const lost = losses.get(at) ?? 0;
      if (lost > 0) {
        losses.set(at, lost - 1);
        return { kind: 'silence', error: undefined };
      }
      const has = (kind: string) =>
        world.servers.get(at)?.faults.some((fault) => fault.kind === kind) === true;
      if (has('closed') || (over === 'tcp' && has('no-tcp'))) return { kind: 'closed', error: 'refused' };
      const received = servers.get(at)?.receive(Uint8Array.from(query), over);
      if (received === undefined) throw new Error(`no server has that address: ${at}`);
      seen.push(received.seen);
      let error: string | undefined;
      for (const { bytes, elsewhere } of received.packets) {
        const match = elsewhere ? undefined : matchReply(query, Uint8Array.from(bytes), over);
        if (match === undefined || match.kind === 'unrelated') continue;
        if (match.kind === 'reply') return { ...match, rttMs: 10 };
        if (match.kind !== 'unreadable') return match;
        error = match.error;
      }
      return { kind: 'silence', error };
    },
    close() {},
  });
  const transports = { udp: transport('udp'), tcp: transport('tcp') };
  return { exchange: createExchange({ port: 53, transports, now }), seen, losses, violations };
}
