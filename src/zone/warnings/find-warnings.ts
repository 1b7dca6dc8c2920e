// Finds what is likely to be wrong with records, by what stands beside them in the zone. The same judgement serves a zone file,
// an import and a single write; `ZoneView` says what is known of the zone.

import {
  foldCase,
  isWildcard,
  isWithin,
  labelsOf,
  type Name,
  nameInRdata,
  parentOf,
  printName,
  ROOT,
  wildcardBelow,
} from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import type { JudgedRecord, ZoneView } from './zone-view.ts';
import { type WarningCode, WarningList, type ZoneWarning } from './zone-warning.ts';

const PIECE_RECORDS = 1000;

/** Runs in pieces, so that the caller can do other work between them. */
export function* findWarnings(
  view: ZoneView,
  records: Iterable<JudgedRecord>,
): Generator<undefined, ZoneWarning[]> {
  const search = new WarningSearch(view);
  let judged = 0;
  for (const record of records) {
    if (++judged % PIECE_RECORDS === 0) yield;
    search.judge(record);
  }
  return search.warnings.list;
}

const SPF = /^v=spf1(?: |$)/i; // RFC 7208 §4.5

class WarningSearch {
  readonly warnings = new WarningList();
  readonly #view: ZoneView;

  constructor(view: ZoneView) {
    this.#view = view;
  }

  judge(record: JudgedRecord): void {
    const { owner, type, rdata } = record;
    const cut = this.#cutAbove(owner, type);
    if (cut !== undefined && !this.#isGlue(record)) {
      this.#warn(
        record,
        'BELOW_ZONE_CUT',
        `${printName(owner)} ${place(owner, cut)}, so this is never answered`,
      );
      return;
    }
    if (type === TYPE.MX) this.#judgeMx(record);
    else if (type === TYPE.NS) this.#judgeHost(record, nameInRdata(rdata));
    else if (type === TYPE.SRV) this.#judgeHost(record, nameInRdata(rdata, 6));
    else if (type === TYPE.TXT) this.#judgeSpf(record);
    else if (type === TYPE.HTTPS || type === TYPE.SVCB) this.#judgeAliasMode(record);
    this.#judgeShadow(record);
  }

  /** A null MX says that the domain takes no mail: no other may stand beside it (RFC 7505 §3). */
  #judgeMx(record: JudgedRecord): void {
    const hosts = (this.#view.rdataAt(record.owner, TYPE.MX) ?? []).map((rdata) => nameInRdata(rdata, 2));
    if (hosts.length > 1 && hosts.includes(ROOT)) {
      const message = `${printName(record.owner)} has a null MX ("."), which says that it takes no mail, beside other MX records`;
      this.#warn(record, 'NULL_MX_NOT_ALONE', message);
    }
    this.#judgeHost(record, nameInRdata(record.rdata, 2));
  }

  /** The host of an MX, NS or SRV must have addresses and be no alias (RFC 2181 §10.3, RFC 2782). */
  #judgeHost(record: JudgedRecord, target: Name): void {
    const host = foldCase(target);
    const { apex } = this.#view;
    if (host === ROOT || !isWithin(host, apex)) return;
    const type = typeMnemonic(record.type);
    const cut = record.type === TYPE.NS && isWithin(host, record.owner) && record.owner !== apex;
    const answering = this.#view.hasRecords(host) ? host : (this.#wildcardFor(host) ?? host);
    const has = (of: number) => this.#view.rdataAt(answering, of) !== undefined;
    if (has(TYPE.A) || has(TYPE.AAAA)) return;
    const text = printName(host);
    const warn = (code: WarningCode, message: string) => this.#warn(record, code, message, host);
    if (has(TYPE.CNAME)) {
      warn('TARGET_IS_CNAME', `${text} is a CNAME: the host of an ${type} record must have addresses itself`);
    } else if (cut) {
      warn(
        'MISSING_GLUE',
        `${text} is a nameserver of a zone that it lies in, so it must have an address here`,
      );
    } else if (this.#cutAbove(host, TYPE.A) === undefined) {
      warn('TARGET_WITHOUT_ADDRESS', `${text} has no address`);
    }
  }

  /** Two policies are an error for every receiver (RFC 7208 §4.5). */
  #judgeSpf(record: JudgedRecord): void {
    if (!isSpf(record.rdata)) return;
    const policies = (this.#view.rdataAt(record.owner, TYPE.TXT) ?? []).filter(isSpf);
    if (policies.length < 2) return;
    this.#warn(
      record,
      'MANY_SPF',
      `${printName(record.owner)} has ${policies.length} SPF policies: receivers then use none`,
    );
  }

  /** RFC 9460 §2.4.2. */
  #judgeAliasMode(record: JudgedRecord): void {
    const { rdata } = record;
    if (rdata[0] !== 0 || rdata[1] !== 0) return;
    if (rdata.length === 2 + nameInRdata(rdata, 2).length) return;
    this.#warn(
      record,
      'ALIAS_MODE_PARAMETERS',
      'the parameters are ignored, since the priority 0 makes this an alias',
    );
  }

  /**
   * A name that exists because of a name below it is not answered by a wildcard any more (RFC 4592 §2.2.2). Names with a label
   * such as `_tcp` are no hosts.
   */
  #judgeShadow(record: JudgedRecord): void {
    const { apex } = this.#view;
    if (record.owner === apex || !this.#view.hasWildcards) return;
    for (let name = parentOf(record.owner); name !== apex; name = parentOf(name)) {
      if (isWildcard(name) || hasUnderscore(name)) continue;
      if (this.#view.hasRecords(name) || !this.#view.isNew(name, record)) continue;
      const wildcard = wildcardBelow(parentOf(name));
      if (wildcard === undefined || !this.#view.hasRecords(wildcard)) continue;
      const message = `${printName(name)} is no longer answered by ${printName(wildcard)}, since ${printName(record.owner)} lies below it`;
      this.#warn(record, 'WILDCARD_SHADOWED', message);
    }
  }

  /** The wildcard that matches a host without records. */
  #wildcardFor(host: Name): Name | undefined {
    const { apex, hasWildcards } = this.#view;
    for (let name = host; hasWildcards && name !== apex; name = parentOf(name)) {
      if (this.#view.hasRecords(name)) return undefined;
      const wildcard = wildcardBelow(parentOf(name));
      if (wildcard !== undefined && this.#view.hasRecords(wildcard)) return wildcard;
    }
    return undefined;
  }

  /** The topmost delegation at or above the name, if records of the type there belong to the child. */
  #cutAbove(owner: Name, type: number): Name | undefined {
    const { apex, nameservers } = this.#view;
    let cut: Name | undefined;
    for (let name = owner; nameservers.size > 0 && name !== apex; name = parentOf(name)) {
      const isCut = this.#view.rdataAt(name, TYPE.NS) !== undefined;
      if (isCut && (name !== owner || !OF_PARENT.has(type))) cut = name;
    }
    return cut;
  }

  /** Whether it is an address of a nameserver that a delegation names. */
  #isGlue({ owner, type }: JudgedRecord): boolean {
    return (type === TYPE.A || type === TYPE.AAAA) && this.#view.nameservers.has(owner);
  }

  #warn({ owner, type, line, column, file }: JudgedRecord, code: WarningCode, message: string, host?: Name) {
    this.warnings.add({
      code,
      owner,
      type: typeMnemonic(type),
      message,
      ...(host !== undefined && { host }),
      ...(line !== undefined && { line, column: column as number, file }),
    });
  }
}

/** What the parent answers at a delegation. */
const OF_PARENT: ReadonlySet<number> = new Set([TYPE.NS, TYPE.DS, TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3]);

function hasUnderscore(name: Name): boolean {
  return labelsOf(name).some((label) => label.startsWith('_'));
}

function place(owner: Name, cut: Name): string {
  return owner === cut ? 'is delegated' : `lies below the delegation ${printName(cut)}`;
}

function isSpf(rdata: Uint8Array): boolean {
  const length = rdata[0] as number;
  return SPF.test(Buffer.from(rdata.buffer, rdata.byteOffset + 1, Math.min(length, 7)).toString('latin1'));
}
