// Random zones against an oracle that knows no tree and no walk: for every step of an answer it goes through all
// records of the zone and decides by comparing lists of labels.

import { describe, expect, it } from 'vitest';
import { foldCase, labelsOf, type Name, nameInRdata, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { findAnswer } from '../../src/zone/find-answer.ts';
import type { Zone, ZoneRecord } from '../../src/zone/zone.ts';
import { lineOf, linesOfSets } from '../support/answer/observed-answer.ts';
import { pick, randomFrom, randomQuestion, randomZone } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { recordsOf, zonesOf } from '../support/zone/zone-text.ts';

/** Rightmost label first, so that an ancestor is a prefix. */
type Labels = readonly string[];

interface Held extends ZoneRecord {
  readonly at: Labels;
}

interface Verdict {
  rcode: number;
  aa: boolean;
  answer: string[];
  authority: string[];
  glue: string[];
}

function labelsFromRoot(name: Name): Labels {
  return labelsOf(foldCase(name)).reverse();
}

function isPrefix(short: Labels, long: Labels): boolean {
  return short.length <= long.length && short.every((label, index) => label === long[index]);
}

function isEqual(a: Labels, b: Labels): boolean {
  return a.length === b.length && isPrefix(a, b);
}

class Oracle {
  readonly #records: readonly Held[];
  readonly #apex: Labels;

  constructor(apex: Name, records: readonly ZoneRecord[]) {
    // A record that is there twice, its names in another case, is one (RFC 2181 §5).
    const distinct = new Map(records.map((record) => [lineOf(record), record]));
    this.#records = [...distinct.values()].map((record) => ({ ...record, at: labelsFromRoot(record.owner) }));
    this.#apex = labelsFromRoot(apex);
  }

  judge(qname: Name, qtype: number): Verdict {
    const verdict: Verdict = { rcode: 0, aa: true, answer: [], authority: [], glue: [] };
    if (!isPrefix(this.#apex, labelsFromRoot(qname))) return { ...verdict, rcode: 5, aa: false };
    const passed: string[] = [];
    let name = qname;
    while (passed.length < 16 && !passed.includes(name) && isPrefix(this.#apex, labelsFromRoot(name))) {
      passed.push(name);
      const next = this.#step(name, qtype, verdict);
      if (next === undefined) break;
      name = next;
    }
    return verdict;
  }

  /** One link: adds to the verdict, and gives the name where the chain goes on. */
  #step(name: Name, qtype: number, verdict: Verdict): Name | undefined {
    const at = labelsFromRoot(name);
    const above = this.#records.filter((record) => isPrefix(record.at, at));
    const isCut = ({ type, at: owner }: Held) =>
      type === TYPE.NS && owner.length > this.#apex.length && (qtype !== TYPE.DS || owner.length < at.length);
    const turns = above
      .filter((record) => isCut(record) || (record.type === TYPE.DNAME && record.at.length < at.length))
      .sort((a, b) => a.at.length - b.at.length);
    const turn = turns[0];
    if (turn?.type === TYPE.NS) {
      this.#refer(turn.at, verdict);
      return undefined;
    }
    if (turn !== undefined) return this.#substitute(name, at, turn, qtype, verdict);
    return this.#match(name, at, qtype, verdict);
  }

  #refer(cut: Labels, verdict: Verdict): void {
    verdict.aa = verdict.answer.length > 0;
    const servers = this.#records.filter((record) => record.type === TYPE.NS && isEqual(record.at, cut));
    verdict.authority = servers.map(lineOf);
    const hosts = servers
      .map(({ rdata }) => labelsFromRoot(nameInRdata(rdata)))
      .filter((host) => isPrefix(cut, host));
    verdict.glue = this.#records
      .filter(
        ({ type, at }) => (type === TYPE.A || type === TYPE.AAAA) && hosts.some((host) => isEqual(host, at)),
      )
      .map(lineOf);
  }

  #substitute(name: Name, at: Labels, dname: Held, qtype: number, verdict: Verdict): Name | undefined {
    const line = lineOf(dname);
    if (!verdict.answer.includes(line)) verdict.answer.push(line);
    const kept = at.slice(dname.at.length).reverse();
    const prefix = kept.map((label) => String.fromCharCode(label.length) + label).join('');
    const target = (prefix + nameInRdata(dname.rdata)) as Name;
    if (target.length > 255) {
      verdict.rcode = 6;
      return undefined;
    }
    verdict.answer.push(`${printName(name)} ${dname.ttl} CNAME ${printName(target).toLowerCase()}`);
    return qtype === TYPE.CNAME ? undefined : foldCase(target);
  }

  #match(name: Name, at: Labels, qtype: number, verdict: Verdict): Name | undefined {
    const exists = (other: Labels) => this.#records.some((record) => isPrefix(other, record.at));
    let source: Labels = at;
    if (!exists(at)) {
      let encloser = at;
      while (!exists(encloser)) encloser = encloser.slice(0, -1);
      source = [...encloser, '*'];
      if (!exists(source)) {
        verdict.rcode = 3;
        verdict.authority = [this.#negativeSoa()];
        return undefined;
      }
    }
    const here = this.#records
      .filter((record) => isEqual(record.at, source))
      .map((record) => ({ ...record, owner: name }));
    const lowest = Math.min(...here.map(({ type }) => type));
    const wanted = here.filter(({ type }) => type === (qtype === TYPE.ANY ? lowest : qtype));
    const alias = here.find(({ type }) => type === TYPE.CNAME);
    if (wanted.length > 0) {
      verdict.answer.push(...wanted.map(lineOf));
    } else if (alias !== undefined && qtype !== TYPE.RRSIG && qtype !== TYPE.NSEC) {
      verdict.answer.push(lineOf(alias));
      return foldCase(nameInRdata(alias.rdata));
    } else {
      verdict.authority = [this.#negativeSoa()];
    }
    return undefined;
  }

  #negativeSoa(): string {
    const soa = this.#records.find(({ type }) => type === TYPE.SOA) as Held;
    const minimum = Number(lineOf(soa).split(' ').at(-1));
    return lineOf({ ...soa, ttl: Math.min(soa.ttl, minimum) });
  }
}

/** Every existing name with every type of the zone, then questions around them. */
function questionsFor(random: () => number, zone: Zone, count: number): { name: Name; type: number }[] {
  const names = [...zone.nodes.keys()];
  const types = [...new Set([...zone.nodes.values()].flatMap(({ sets }) => [...sets.keys()]))];
  const existing = names.flatMap((name) => types.map((type) => ({ name, type })));
  return [
    ...Array.from({ length: count }, () => pick(random, existing)),
    ...Array.from({ length: count }, () => randomQuestion(random, zone, names)),
  ];
}

describe('findAnswer says what an oracle without a tree says', () => {
  it('for random questions to random zones', { timeout: 300_000 }, () => {
    const random = randomFrom(Number(process.env.ZONEFLEET_SEED ?? 7));
    const kinds = new Map<string, number>();
    for (let round = 0; round < scale(100, 12); round++) {
      const { zone, text, apex } = randomZone(random, 'o.test.', 10 + Math.floor(random() * 70), [
        'other.test.',
      ]);
      const oracle = new Oracle(zone.apex, recordsOf(text, apex));
      for (const { name, type } of questionsFor(random, zone, scale(500, 150))) {
        const folded = foldCase(name);
        const found = findAnswer(zonesOf(zone), folded, type);
        const verdict = oracle.judge(folded, type);
        kinds.set(found.kind, (kinds.get(found.kind) ?? 0) + 1);
        expect({
          question: `${printName(name)} ${typeMnemonic(type)}`,
          rcode: found.rcode,
          aa: found.authoritative,
          answer: linesOfSets(found.answer),
          authority: linesOfSets(found.authority),
          glue: linesOfSets(found.glue),
        }).toEqual({
          question: `${printName(name)} ${typeMnemonic(type)}`,
          rcode: verdict.rcode,
          aa: verdict.aa,
          answer: verdict.answer.sort(),
          authority: verdict.authority.sort(),
          glue: verdict.glue.sort(),
        });
      }
    }
    for (const kind of ['answer', 'nodata', 'nxdomain', 'referral'])
      expect(kinds.get(kind)).toBeGreaterThan(50);
  });
});
