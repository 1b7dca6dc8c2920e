// A signed zone that answers like an authoritative server (RFC 4035 §3.1, RFC 5155 §7.2), with valid and invalid keys,
// times and denials for tests of validators.

import { readNsec3 } from '../../../src/dns/dnssec/denial.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import { foldCase, type Name, printName } from '../../../src/dns/name.ts';
import { SOA } from '../../../src/dns/record/types/zone.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone, Zones } from '../../../src/zone/zone.ts';
import { findAnswer } from '../reference/find-answer.ts';
import { recordsIn, reply } from '../world/zone-exchange.ts';
import { zoneOfRecords } from '../zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../zone/zone-text.ts';
import { replyOf } from './answer-records.ts';
import type { DenialStyle } from './denial-chain.ts';
import { type SigningKeys, signRecords } from './sign-records.ts';
import type { SigningTime } from './signing.ts';

export interface ZoneSettings {
  readonly apex: Name;
  /** Records as in a zone file, without the SOA but with the NS of the apex. */
  readonly text: string;
  /** Added unchanged: DS sets of children. */
  readonly ds?: ReadonlyMap<Name, readonly Uint8Array[]>;
  readonly keys: SigningKeys;
  readonly time: SigningTime;
  readonly denial: DenialStyle;
  readonly isUnsigned?: boolean;
}

const TTL = 3600;

export class SignedZone {
  readonly apex: Name;
  readonly #zones: Zones;

  constructor(settings: ZoneSettings) {
    const { apex, text, ds = [], isUnsigned = false } = settings;
    this.apex = apex;
    const soa = { mname: apex, rname: apex, serial: 1, refresh: 1, retry: 1, expire: 1, minimum: TTL };
    const records = [
      ...recordsOf(`$TTL ${TTL}\n${text}`, printName(apex)),
      ...[...ds].flatMap(([owner, all]) => all.map((rdata) => ({ owner, type: TYPE.DS, ttl: TTL, rdata }))),
      { owner: apex, type: TYPE.SOA, ttl: TTL, rdata: Uint8Array.from(SOA.encode(soa)) },
    ];
    const signed = isUnsigned ? records : signRecords(apex, records, settings);
    this.#zones = zonesOf(withChain(zoneOfRecords(apex, signed.filter(isNotParam)), settings.denial));
  }

  answer({ name, type }: { readonly name: Name; readonly type: number }): Message {
    const asked = foldCase(name);
    const answer = findAnswer(this.#zones, asked, type, { dnssecOk: true });
    const { kind, glue, additional } = findAnswer(this.#zones, asked, type);
    const additionals = kind === 'referral' ? recordsIn([...glue, ...additional]) : [];
    return reply({ ...replyOf(answer), additionals });
  }
}

const isNotParam = ({ type }: { readonly type: number }) => type !== TYPE.NSEC3PARAM;

/** A zone without parameters may have a chain with more iterations than Zonefleet serves. */
function withChain(zone: Zone, denial: DenialStyle): Zone {
  if (denial.kind === 'nsec' || zone.idleDenials === undefined) return zone;
  const entries = zone.idleDenials.map((set) => {
    const read = readNsec3(set.owner, set.rdata[0] as Uint8Array, zone.apex);
    return { hash: read?.hash as Uint8Array, set };
  });
  return { ...zone, denials: { ...denial, entries: entries.sort((a, b) => Buffer.compare(a.hash, b.hash)) } };
}
