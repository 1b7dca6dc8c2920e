// Finds records that are probably wrong, by comparing them with the other records of the zone. Zone files, imports and
// single writes use the same search; `ZoneView` is the known part of the zone.

import {
  isWildcard,
  isWithin,
  type Name,
  nameInRdata,
  parentOf,
  printName,
  ROOT,
  wildcardBelow,
} from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { namesBetween } from '../records/record-name.ts';
import { isSpfPolicy, isSplitSpfPolicy } from '../records/spf-policy.ts';
import { beginsWithUnderscore, hostOf, type JudgedRecord, type ZoneView } from './zone-view.ts';
import { type WarningCode, WarningList, type ZoneWarning } from './zone-warning.ts';

/** Small, because a name may have 127 labels, and each is looked up. */
const PIECE_RECORDS = 100;

/** Runs in pieces, so that the caller can do other work in between. */
export function* findWarnings(
  view: ZoneView,
  records: Iterable<JudgedRecord>,
): Generator<undefined, ZoneWarning[]> {
  const search = new WarningSearch(view);
  let judged = 0;
  for (const record of records) {
    if (search.warnings.isFull) break;
    if (++judged % PIECE_RECORDS === 0) yield;
    search.judge(record);
  }
  return search.warnings.list;
}

class WarningSearch {
  readonly warnings = new WarningList();
  readonly #view: ZoneView;
  /** The owners whose MX set, or whose SPF policies, were already checked. */
  readonly #mxJudged = new Set<Name>();
  readonly #spfJudged = new Set<Name>();

  constructor(view: ZoneView) {
    this.#view = view;
  }

  judge(record: JudgedRecord): void {
    const { owner, type, onlyHost } = record;
    const host = hostOf(record);
    if (onlyHost === true) {
      if (host !== undefined) this.#judgeHost(record, host);
      return;
    }
    const cut = this.#cutAbove(owner, type);
    if (cut !== undefined && !this.#isGlue(record)) {
      this.#warn(
        record,
        'BELOW_ZONE_CUT',
        `${printName(owner)} ${relationTo(cut, owner)}, so this record is never answered`,
      );
      return;
    }
    if (type === TYPE.MX) this.#judgeMx(record);
    else if (type === TYPE.TXT) this.#judgeSpf(record);
    else if (type === TYPE.HTTPS || type === TYPE.SVCB) this.#judgeAliasMode(record);
    if (host !== undefined) this.#judgeHost(record, host);
    this.#judgeShadow(record);
  }

  /** A null MX means that the domain accepts no mail, so it must be the only MX (RFC 7505 §3). */
  #judgeMx(record: JudgedRecord): void {
    if (this.#mxJudged.has(record.owner)) return;
    this.#mxJudged.add(record.owner);
    const hosts = (this.#view.rdataAt(record.owner, TYPE.MX) ?? []).map((rdata) => nameInRdata(rdata, 2));
    if (hosts.length > 1 && hosts.includes(ROOT)) {
      const message = `${printName(record.owner)} has a null MX ("."), which means that it accepts no mail, in addition to other MX records`;
      this.#warn(record, 'NULL_MX_NOT_ALONE', message);
    }
  }

  /** The host of an MX, NS or SRV must have addresses and must not be an alias (RFC 2181 §10.3, RFC 2782). */
  #judgeHost(record: JudgedRecord, host: Name): void {
    const { apex } = this.#view;
    if (host === ROOT || !isWithin(host, apex)) return;
    const type = typeMnemonic(record.type);
    const answering = this.#view.hasRecords(host) ? host : (this.#wildcardFor(host) ?? host);
    const has = (of: number) => this.#view.rdataAt(answering, of) !== undefined;
    if (has(TYPE.A) || has(TYPE.AAAA)) return;
    const text = printName(host);
    const warn = (code: WarningCode, message: string) => this.#warn(record, code, message, host);
    if (has(TYPE.CNAME)) {
      warn(
        'TARGET_IS_CNAME',
        `${text} is a CNAME: the host of an ${type} record must have addresses of its own`,
      );
    } else if (record.type === TYPE.NS && isWithin(host, record.owner) && record.owner !== apex) {
      warn(
        'MISSING_GLUE',
        `${text} is in the delegated zone that it serves, so it must have an address here`,
      );
    } else if (this.#cutAbove(host, TYPE.A) === undefined) {
      warn('TARGET_WITHOUT_ADDRESS', `${text} has no address`);
    }
  }

  /** Two policies are an error for every receiver (RFC 7208 §4.5). */
  #judgeSpf(record: JudgedRecord): void {
    if (isSplitSpfPolicy(record.rdata)) {
      this.#warn(
        record,
        'SPF_SPLIT',
        'the policy is several strings, which are joined without spaces: make it one string, in quotes',
      );
    }
    if (!isSpfPolicy(record.rdata) || this.#spfJudged.has(record.owner)) return;
    this.#spfJudged.add(record.owner);
    const policies = (this.#view.rdataAt(record.owner, TYPE.TXT) ?? []).filter(isSpfPolicy);
    if (policies.length < 2) return;
    this.#warn(
      record,
      'MANY_SPF',
      `${printName(record.owner)} has ${policies.length} SPF policies, so receivers use none of them`,
    );
  }

  /** In alias mode, recipients ignore the parameters (RFC 9460 §2.4.2). */
  #judgeAliasMode(record: JudgedRecord): void {
    const { rdata } = record;
    if (rdata[0] !== 0 || rdata[1] !== 0) return;
    if (rdata.length === 2 + nameInRdata(rdata, 2).length) return;
    this.#warn(
      record,
      'ALIAS_MODE_PARAMETERS',
      'the parameters are ignored, because the priority 0 makes this an alias',
    );
  }

  /**
   * A name that exists because of a name below it no longer matches a wildcard (RFC 4592 §2.2.2). Skips names at and
   * below a label such as `_tcp`.
   */
  #judgeShadow(record: JudgedRecord): void {
    const { apex } = this.#view;
    if (record.owner === apex || !this.#view.hasWildcards) return;
    for (const name of [...namesBetween(record.owner, apex)].reverse()) {
      if (beginsWithUnderscore(name)) return;
      if (isWildcard(name) || !this.#view.isNew(name, record) || this.#view.hasRecords(name)) continue;
      const wildcard = wildcardBelow(parentOf(name));
      if (wildcard === undefined || !this.#view.hasRecords(wildcard)) continue;
      const message = `${printName(name)} is no longer answered by ${printName(wildcard)}, because ${printName(record.owner)} is below it`;
      this.#warn(record, 'WILDCARD_SHADOWED', message);
    }
  }

  /** Returns the wildcard that matches a host without records. */
  #wildcardFor(host: Name): Name | undefined {
    const { apex, hasWildcards } = this.#view;
    for (let name = host; hasWildcards && name !== apex; name = parentOf(name)) {
      if (this.#view.hasRecords(name)) return undefined;
      const wildcard = wildcardBelow(parentOf(name));
      if (wildcard !== undefined && this.#view.hasRecords(wildcard)) return wildcard;
    }
    return undefined;
  }

  /** Returns the topmost delegation whose child zone would answer a query for the name and type. */
  #cutAbove(owner: Name, type: number): Name | undefined {
    const { apex, nameservers } = this.#view;
    let cut: Name | undefined;
    for (let name = owner; nameservers.size > 0 && name !== apex; name = parentOf(name)) {
      const isCut = this.#view.rdataAt(name, TYPE.NS) !== undefined;
      if (isCut && (name !== owner || !OF_PARENT.has(type))) cut = name;
    }
    return cut;
  }

  /** Returns true if the record is an address of a nameserver that a delegation names. */
  #isGlue({ owner, type }: JudgedRecord): boolean {
    return (type === TYPE.A || type === TYPE.AAAA) && this.#view.nameservers.has(owner);
  }

  #warn(
    { owner, type, shownType, line, column, file }: JudgedRecord,
    code: WarningCode,
    message: string,
    host?: Name,
  ) {
    this.warnings.add({
      code,
      owner,
      type: shownType ?? typeMnemonic(type),
      message,
      ...(host !== undefined && { host }),
      ...(line !== undefined && { line, column: column as number, file }),
    });
  }
}

/** The types that the parent zone, not the child zone, answers at a delegation. */
const OF_PARENT: ReadonlySet<number> = new Set([TYPE.NS, TYPE.DS, TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3]);

function relationTo(cut: Name, owner: Name): string {
  return owner === cut ? 'is delegated' : `is below the delegation ${printName(cut)}`;
}
