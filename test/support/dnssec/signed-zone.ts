// A signed zone that answers as an authoritative server does (RFC 4035 §3.1, RFC 5155 §7.2), made for validators to look
// at: sets are signed when they are first asked for.

import type { Message, MessageRecord } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import {
  encodeName,
  foldCase,
  isWithin,
  type Name,
  parentOf,
  printName,
  replaceSuffix,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { SOA } from '../../../src/dns/record/types/soa.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { reply } from '../world/zone-exchange.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { DenialChain, type DenialStyle } from './denial-chain.ts';
import { type SigningKey, type SigningTime, signSet } from './signing.ts';

export interface ZoneSettings {
  readonly apex: Name;
  /** Records as in a zone file, without SOA; NS of the apex included. */
  readonly text: string;
  /** Added as they are: DS sets of children. */
  readonly ds?: ReadonlyMap<Name, readonly Uint8Array[]>;
  readonly keys: {
    /** They sign the DNSKEY set, and everything else. */
    readonly entry: readonly SigningKey[];
    readonly others: readonly SigningKey[];
    /** DNSKEY records that sign nothing. */
    readonly idle?: readonly Uint8Array[];
  };
  readonly time: SigningTime;
  readonly denial: DenialStyle;
  /** Without signatures at all. */
  readonly isUnsigned?: boolean;
}

export type Sets = Map<Name, Map<number, Uint8Array[]>>;

const TTL = 3600;

export class SignedZone {
  readonly apex: Name;
  readonly #settings: ZoneSettings;
  readonly #sets: Sets = new Map();
  readonly #chain: DenialChain;
  readonly #signed = new Map<string, MessageRecord[]>();
  /** Names that exist, empty non-terminals too. */
  readonly #names = new Set<Name>();

  constructor(settings: ZoneSettings) {
    this.#settings = settings;
    this.apex = settings.apex;
    const { apex, keys } = settings;
    for (const { owner, type, rdata } of recordsOf(settings.text, printName(apex)))
      this.#add(owner, type, rdata);
    for (const [owner, ds] of settings.ds ?? []) for (const rdata of ds) this.#add(owner, TYPE.DS, rdata);
    const soa = { mname: apex, rname: apex, serial: 1, refresh: 1, retry: 1, expire: 1, minimum: TTL };
    this.#add(apex, TYPE.SOA, Uint8Array.from(SOA.encode(soa)));
    if (settings.isUnsigned !== true) {
      const published = [...keys.entry, ...keys.others].map(({ rdata }) => rdata);
      for (const rdata of [...new Set([...published, ...(keys.idle ?? [])])])
        this.#add(apex, TYPE.DNSKEY, rdata);
    }
    this.#chain = new DenialChain(apex, this.#sets, settings.denial);
  }

  answer(question: { readonly name: Name; readonly type: number }): Message {
    const { type } = question;
    const asked = foldCase(question.name);
    const cut = this.#cutAbove(asked);
    if (cut !== undefined && !(cut === asked && type === TYPE.DS)) return this.#referral(cut);
    if (this.#names.has(asked)) return this.#atName(asked, asked, type, []);
    const dname = this.#dnameAbove(asked);
    if (dname !== undefined) {
      const target = replaceSuffix(asked, dname, this.#rdataAt(dname, TYPE.DNAME)) as Name;
      const cname = record(asked, TYPE.CNAME, Uint8Array.from(encodeName(target)));
      return reply({ aa: true, answers: [...this.#set(dname, TYPE.DNAME), cname] });
    }
    const encloser = this.#encloserOf(asked);
    const wildcard = wildcardBelow(encloser) as Name;
    if (this.#sets.has(wildcard))
      return this.#atName(asked, wildcard, type, this.#chain.noCloser(asked, encloser));
    return this.#negative(RCODE.NXDOMAIN, this.#chain.noName(asked, encloser));
  }

  /** `from` owns the data: the name itself, or a wildcard. `proof`: that the name itself is not there. */
  #atName(asked: Name, from: Name, type: number, proof: readonly Name[]): Message {
    const sets = this.#sets.get(from);
    const found = sets?.has(type) ? type : sets?.has(TYPE.CNAME) ? TYPE.CNAME : undefined;
    if (found === undefined) {
      const more = from === asked ? [] : this.#chain.encloserOf(from);
      const own = this.#chain.noType(from);
      return this.#negative(RCODE.NOERROR, [...proof, ...more, ...own]);
    }
    const answers = this.#set(from, found).map((each) => ({ ...each, owner: asked }));
    return reply({ aa: true, answers, authorities: this.#proof(proof) });
  }

  #referral(cut: Name): Message {
    const ns = (this.#sets.get(cut)?.get(TYPE.NS) ?? []).map((rdata) => record(cut, TYPE.NS, rdata));
    const hasDs = this.#sets.get(cut)?.has(TYPE.DS) === true;
    const more = hasDs ? this.#set(cut, TYPE.DS) : this.#proof(this.#chain.noType(cut));
    return reply({ authorities: [...ns, ...more], additionals: this.#glue(ns) });
  }

  #negative(rcode: number, proof: readonly Name[]): Message {
    return reply({
      rcode,
      aa: true,
      authorities: [...this.#set(this.apex, TYPE.SOA), ...this.#proof(proof)],
    });
  }

  #glue(ns: readonly MessageRecord[]): MessageRecord[] {
    return ns.flatMap(({ rdata }) => {
      const host = Buffer.from(rdata).toString('latin1') as Name;
      return (this.#sets.get(host)?.get(TYPE.A) ?? []).map((address) => record(host, TYPE.A, address));
    });
  }

  #proof(owners: readonly Name[]): MessageRecord[] {
    if (this.#settings.isUnsigned === true) return [];
    return [...new Set(owners)].flatMap((owner) => {
      const { type, rdata } = this.#chain.recordAt(owner);
      return this.#sign(owner, type, [rdata]);
    });
  }

  #set(owner: Name, type: number): MessageRecord[] {
    return this.#sign(owner, type, this.#sets.get(owner)?.get(type) ?? []);
  }

  #sign(owner: Name, type: number, rdata: readonly Uint8Array[]): MessageRecord[] {
    const key = `${type} ${owner}`;
    const known = this.#signed.get(key);
    if (known !== undefined) return known;
    const { apex, keys, time, isUnsigned } = this.#settings;
    const others = keys.others.length > 0 ? keys.others : keys.entry;
    const signers = isUnsigned === true ? [] : type === TYPE.DNSKEY ? keys.entry : others;
    const made = [
      ...rdata.map((octets) => record(owner, type, octets)),
      ...signers.map((each) =>
        record(owner, TYPE.RRSIG, signSet({ owner, type, ttl: TTL, rdata }, each, { zone: apex, time })),
      ),
    ];
    this.#signed.set(key, made);
    return made;
  }

  #add(owner: Name, type: number, rdata: Uint8Array): void {
    const at = foldCase(owner);
    const sets = this.#sets.get(at) ?? new Map<number, Uint8Array[]>();
    sets.set(type, [...(sets.get(type) ?? []), rdata]);
    this.#sets.set(at, sets);
    for (let above = at; isWithin(above, this.apex); above = parentOf(above)) {
      this.#names.add(above);
      if (above === this.apex) break;
    }
  }

  #cutAbove(asked: Name): Name | undefined {
    let cut: Name | undefined;
    for (let at = asked; at !== this.apex; at = parentOf(at)) if (this.#sets.get(at)?.has(TYPE.NS)) cut = at;
    return cut;
  }

  #dnameAbove(asked: Name): Name | undefined {
    for (let at = asked; at !== this.apex; ) {
      at = parentOf(at);
      if (this.#sets.get(at)?.has(TYPE.DNAME)) return at;
    }
    return undefined;
  }

  #encloserOf(asked: Name): Name {
    let encloser = asked;
    while (!this.#names.has(encloser)) encloser = parentOf(encloser);
    return encloser;
  }

  #rdataAt(owner: Name, type: number): Name {
    return Buffer.from(this.#sets.get(owner)?.get(type)?.[0] ?? []).toString('latin1') as Name;
  }
}

function record(owner: Name, type: number, rdata: Uint8Array): MessageRecord {
  return { owner, type, class: CLASS.IN, ttl: TTL, rdata };
}
