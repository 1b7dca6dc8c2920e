// Signs a zone file for servers that answer from it as it is: one key, and a chain of NSEC records (RFC 4034 §4).

import type { Name } from '../../../src/dns/name.ts';
import { parentOf, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { DenialChain } from './denial-chain.ts';
import { type SigningKey, type SigningTime, signSet } from './signing.ts';

interface TextSet {
  readonly ttl: number;
  readonly rdata: Uint8Array[];
}

export function signZoneText(
  { apex: apexText, text }: ZoneText,
  key: SigningKey,
  time: SigningTime,
): ZoneText {
  const apex = parseName(apexText);
  const sets = new Map<Name, Map<number, TextSet>>();
  const add = (owner: Name, type: number, ttl: number, rdata: Uint8Array) => {
    const types = sets.get(owner) ?? new Map<number, TextSet>();
    types.set(type, { ttl, rdata: [...(types.get(type)?.rdata ?? []), rdata] });
    sets.set(owner, types);
  };
  for (const { owner, type, ttl, rdata } of recordsOf(text, apexText)) add(owner, type, ttl, rdata);
  const ttl = sets.get(apex)?.get(TYPE.SOA)?.ttl ?? 30;
  add(apex, TYPE.DNSKEY, ttl, key.rdata);
  const cutAbove = (name: Name): Name | undefined => {
    for (let at = name; at !== apex; at = parentOf(at)) if (sets.get(at)?.has(TYPE.NS)) return at;
    return undefined;
  };
  const chained = new Map(
    [...sets].map(([owner, types]) => [owner, new Map([...types].map(([type, set]) => [type, set.rdata]))]),
  );
  const chain = new DenialChain(apex, chained, { kind: 'nsec' });
  for (const owner of [...sets.keys()]) {
    const cut = cutAbove(owner);
    if (cut !== undefined && cut !== owner) continue; // glue
    const { type, rdata } = chain.recordAt(owner);
    add(owner, type, ttl, rdata);
  }
  const lines: string[] = [];
  for (const [owner, types] of sets) {
    const cut = cutAbove(owner);
    for (const [type, set] of types) {
      const line = (mnemonic: string, rdata: string) =>
        lines.push(`${printName(owner)} ${set.ttl} ${mnemonic} ${rdata}`);
      for (const rdata of set.rdata) line(typeMnemonic(type), printRdata(type, rdata));
      // The NS of a delegation are never signed (RFC 4035 §2.2).
      const isSigned = cut === undefined || (cut === owner && (type === TYPE.DS || type === TYPE.NSEC));
      if (!isSigned) continue;
      const signature = signSet({ owner, type, ttl: set.ttl, rdata: set.rdata }, key, { zone: apex, time });
      line('RRSIG', printRdata(TYPE.RRSIG, signature));
    }
  }
  return { apex: apexText, text: lines.join('\n') };
}
