// What a resolver has to find of zones that are all signed, from their records without signatures: aliases are followed
// through all of them, and what lies in none is not there and insecure.

import { RCODE, rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import {
  foldCase,
  isWildcard,
  isWithin,
  type Name,
  nameInRdata,
  parentOf,
  wildcardBelow,
} from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findAnswer } from '../../../src/zone/find-answer.ts';
import type { RecordSet, Zone } from '../../../src/zone/zone.ts';
import { linesOfSets } from '../answer/observed-answer.ts';
import {
  BARE_WILDCARD_ROW,
  DNAME_CNAME_ROW,
  type ExpectedVerdict,
  WILDCARD_NAME_ROW,
  withoutTtl,
} from './validator.ts';

/** Resolvers give up after some more. */
const MAX_LINKS = 6;

/** undefined: no resolver can say, or it is told elsewhere, below a cut. */
export function resolveByHand(
  zones: ReadonlyMap<Name, Zone>,
  question: Name,
  type: number,
): ExpectedVerdict | undefined {
  const asked = foldCase(question);
  const answer: RecordSet[] = [];
  const visited = new Set<Name>();
  let row = 'random';
  for (let name = asked; ; ) {
    if (visited.has(name) || visited.size > MAX_LINKS) return undefined;
    visited.add(name);
    const end = (rcode: number, security: 'secure' | 'insecure'): ExpectedVerdict => ({
      ...{ name: asked, type, row, security },
      rcode: rcodeMnemonic(rcode),
      answer: linesOfSets(answer).map(withoutTtl),
    });
    if (![...zones.keys()].some((apex) => isWithin(name, apex))) return end(RCODE.NXDOMAIN, 'insecure');
    const found = findAnswer(zones, name, type);
    if (found.kind === 'referral')
      return answer.length > 0 || found.answer.length > 0
        ? undefined
        : resolveByHand(zones, found.authority[0]?.owner as Name, TYPE.DS);
    if (found.kind === 'refused' || found.kind === 'yxdomain' || found.kind === 'failed') return undefined;
    answer.push(...found.answer);
    const last = found.answer.at(-1);
    const isThere = found.zone?.nodes.has(name) ?? true;
    // Resolvers do not agree on a question for a DNAME below one.
    if (type === TYPE.DNAME && found.answer.some((set) => set.owner !== asked)) return undefined;
    if (type === TYPE.CNAME && found.answer.some((set) => set.type === TYPE.DNAME)) row = DNAME_CNAME_ROW;
    if (isWildcard(name) && !isThere && found.answer.length > 0) row = WILDCARD_NAME_ROW;
    const targets = answer.filter((set) => set.type === TYPE.CNAME).map(targetOf);
    if (targets.length > MAX_LINKS) return undefined;
    // The DS of an apex is of the parent zone.
    if (type === TYPE.DS && [asked, ...targets].some((each) => zones.has(each))) return undefined;
    const isAlias = found.kind === 'answer' && last?.type === TYPE.CNAME && type !== TYPE.CNAME;
    if (isAlias) {
      name = targetOf(last);
      continue;
    }
    const lastName = last?.type === TYPE.CNAME ? targetOf(last) : name;
    if (row === 'random' && found.zone !== undefined && isFromBareWildcard(found.zone, lastName))
      row = BARE_WILDCARD_ROW;
    return end(found.rcode, 'secure');
  }
}

function targetOf({ rdata }: RecordSet): Name {
  return foldCase(nameInRdata(rdata[0] as Uint8Array));
}

/** The name is not there, and the wildcard that stands for it is an empty non-terminal. */
function isFromBareWildcard({ apex, nodes, marked }: Zone, name: Name): boolean {
  if (!isWithin(name, apex)) return false;
  let encloser = name;
  while (!nodes.has(encloser)) encloser = parentOf(encloser);
  const wildcard = wildcardBelow(encloser);
  const node = encloser === name || wildcard === undefined ? undefined : nodes.get(wildcard);
  return node !== undefined && node.sets.size === 0 && !marked.has(node.name);
}
