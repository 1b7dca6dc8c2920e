// The servers of random chains on loopback sockets: one address for the root, one for each level below it. The resolver and
// the validator that it is compared with ask the same ones.

import { decodeMessage, type Message } from '../../../src/dns/message/message.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeMessage } from '../answer/encode-message.ts';
import { type Place, type Seat, sitDown } from '../world/fake-internet.ts';
import { type Chain, chainOf } from './random-chains.ts';
import { zoneFor } from './signed-exchange.ts';
import type { SignedZone } from './signed-zone.ts';

const MIN_UDP_OCTETS = 512;
const MAX_OCTETS = 65_535;
const LEVELS = 3;

export interface ChainInternet {
  /** Of the root, and of each level below it. */
  readonly ports: readonly number[];
  close(): Promise<void>;
}

export async function serveChains(root: SignedZone, chains: readonly Chain[]): Promise<ChainInternet> {
  const seats: Seat[] = [];
  for (let level = 0; level < LEVELS; level++) {
    const answer = (asked: Name, type: number): Message | undefined => {
      if (level === 0) return root.answer({ name: asked, type });
      const chain = chainOf(chains, asked);
      const zone = chain?.zones[level - 1];
      if (chain === undefined || zone === undefined || zoneFor([zone], { name: asked, type }) === undefined)
        return undefined;
      const message = zone.answer({ name: asked, type });
      const isAltered = zone === chain.zones.at(-1) && (asked === chain.asked || type === TYPE.DNSKEY);
      return isAltered ? chain.alter(message, type) : message;
    };
    seats.push(await serveAt({ address: '127.0.0.1', port: 0 }, answer));
  }
  return {
    ports: seats.map(({ place }) => place.port),
    close: async () => {
      for (const seat of seats) await seat.close();
    },
  };
}

/** UDP and TCP at one place. No answer: silence. */
function serveAt(place: Place, answer: (asked: Name, type: number) => Message | undefined): Promise<Seat> {
  return sitDown(place, {
    receive(bytes, transport) {
      const query = decodeMessage(bytes);
      const question = query.questions[0];
      const message = question && answer(foldCase(question.name), question.type);
      if (message === undefined) return [];
      const room = transport === 'tcp' ? MAX_OCTETS : (query.edns?.udpPayloadSize ?? MIN_UDP_OCTETS);
      const { id, questions } = query;
      const edns = { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] };
      const reply = encodeMessage({ ...message, id, questions, edns }, Math.max(MIN_UDP_OCTETS, room));
      return [{ bytes: reply, delayMs: 0, elsewhere: false }];
    },
    refusesTcp: () => false,
    deliver: (_, send) => send(),
  });
}
