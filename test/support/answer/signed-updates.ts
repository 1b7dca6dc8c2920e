// A client that signs UPDATE messages, given as lines of `updateOf`, and reads the answers.

import { randomInt } from 'node:crypto';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { signMessage, type TsigKey } from '../../../src/dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import type { Name } from '../../../src/dns/name.ts';
import { CLASS } from '../../../src/dns/type-codes.ts';
import { encodeUpdate, updateOf } from './update-text.ts';

export interface SentUpdate {
  readonly octets: Uint8Array;
  readonly mac: Uint8Array;
  readonly key: TsigKey;
}

export function signedUpdate(
  zone: Name,
  text: string,
  key: TsigKey,
  { nowSeconds = Math.floor(Date.now() / 1000), zoneClass = CLASS.IN as number } = {},
): SentUpdate {
  const edns = { udpPayloadSize: 1232, version: 0, dnssecOk: false, options: [] };
  const octets = encodeUpdate(zone, updateOf(zone, text), { id: randomInt(65_536), zoneClass, edns });
  const { message, mac } = signMessage(octets, key, { nowSeconds });
  return { octets: message, mac, key };
}

/** Verifies an answer. Returns its rcode, and the text of EDE: `REFUSED: the key has no grant in example.com.` */
export function readAnswer({ octets, mac, key }: SentUpdate, answer: Uint8Array): string {
  const verified = new TsigStreamVerifier(key, mac).accept(answer, Math.floor(Date.now() / 1000));
  const { id, rcode, edns, opcode } = decodeMessage(answer);
  if (id !== decodeMessage(octets).id || opcode !== 5)
    throw new Error('the answer belongs to another message');
  const ede = edns?.options.find(({ code }) => code === 15)?.value ?? Buffer.alloc(2);
  const text = Buffer.from(ede).subarray(2).toString();
  const why = verified.kind === 'bad' ? ` (${verified.error})` : '';
  return `${rcodeMnemonic(rcode)}${why}${text === '' ? '' : `: ${text}`}`;
}
