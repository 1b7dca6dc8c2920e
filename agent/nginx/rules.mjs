// @ts-check
// What rules of every type have in common on their way into nginx's file. A rule that nginx cannot obey is left out and told.

import { isSearch, KEYS, matchesOf } from './match.mjs';
import { quote, Unwritable, whole } from './quote.mjs';

/**
 * @typedef {import('../../src/edge/edge-rule.ts').EdgeRule} EdgeRule
 * @typedef {import('./match.mjs').Maps} Maps
 * @typedef {import('./domain.mjs').Told} Told
 * @typedef {readonly (readonly [regex: string, value: string])[]} Entries for a map; values are words already
 */

/** Engines take thousands of entries; a request that walks them all pays for each. */
const MAX_ENTRIES = 2_000;
/** Those that are looked for: each may take all steps that one is given. */
const MAX_SEARCHES = 400;

/**
 * @template {EdgeRule['type']} T
 * @typedef {Extract<EdgeRule, { type: T }>} RuleOf
 */

/**
 * The rules of one type, in their order, with what could be written of each.
 * @template {EdgeRule['type']} T
 * @template U
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {Told} told
 * @param {(rule: RuleOf<T>) => U} write
 * @returns {{ rule: RuleOf<T>, written: U }[]}
 */
export function writeEach(rules, type, told, write) {
  return rules.flatMap((each) => {
    if (each.type !== type) return [];
    const rule = /** @type {RuleOf<T>} */ (each);
    try {
      whole(rule.id, 1, Number.MAX_SAFE_INTEGER);
      return { rule, written: write(rule) };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      told.add(rule.id, error.message);
      return [];
    }
  });
}

/**
 * The rules up to a bound of what they cost a request: those behind it are told.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {Told} told
 */
export function affordable(written, told) {
  let entries = 0;
  let searches = 0;
  return written.filter((each) => {
    const more = each.written.filter(([regex]) => isSearch(regex)).length;
    if (entries + each.written.length > MAX_ENTRIES)
      told.add(each.rule.id, `more than ${MAX_ENTRIES} patterns`);
    else if (searches + more > MAX_SEARCHES)
      told.add(each.rule.id, `more than ${MAX_SEARCHES} patterns that are searched for`);
    else {
      entries += each.written.length;
      searches += more;
      return true;
    }
    return false;
  });
}

/**
 * What a map is made of.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {Told} told
 */
export function entriesOf(written, told) {
  return affordable(written, told).flatMap((each) => each.written);
}

/** What a map says where nobody knows whether a rule matches. */
export const UNKNOWN = 'unknown';

/** Refuses what cannot be judged: nobody gets past a rule by a path that takes long to match. @param {string} name */
export const refuseUnknown = (name) => `  if ($${name} = ${UNKNOWN}) { return 400; }\n`;

/**
 * Rules that count in dry runs: those only set `zf_dry`, for the log.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {string} key
 * @param {Maps} maps
 * @param {Told} told
 * @param {(name: string) => string} print
 * @param {string} [unknown] as of a map
 */
export function printEnding(written, key, maps, told, print, unknown) {
  const of = (/** @type {string} */ mode) => written.filter(({ rule }) => rule.action_mode === mode);
  const enforced = entriesOf(of('enforce'), told);
  const noted = of('dry_run').map(({ rule, written: entries }) => {
    const id = quote(`${rule.id} `);
    return { rule, written: entries.map(([regex]) => /** @type {const} */ ([regex, id])) };
  });
  const dry = entriesOf(noted, told);
  const dryPart = dry.length === 0 ? '' : `  set $zf_dry "\${zf_dry}\${${maps.add(key, dry)}}";\n`;
  return dryPart + (enforced.length === 0 ? '' : print(maps.add(key, enforced, '""', unknown)));
}

/**
 * Which rule of a type is the first one for the request: the name of a variable, with the rule's place in the list.
 * @template {EdgeRule['type']} T
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {string} letter
 * @param {Maps} maps
 * @param {Told} told
 * @param {(rule: RuleOf<T>) => void} judge
 */
export function firstOf(rules, type, letter, maps, told, judge) {
  const written = writeEach(rules, type, told, (rule) => {
    const matches = matchesOf(rule);
    judge(rule);
    return matches;
  });
  const entries = entriesOf(
    written.map(({ rule, written: matches }, i) => ({
      rule,
      written: matches.map(({ regex }) => /** @type {const} */ ([regex, quote(`${letter}${i + 1}`)])),
    })),
    told,
  );
  const chosen = written.map(({ rule }) => rule);
  return entries.length === 0
    ? { chosen, part: `${letter}0` }
    : { chosen, part: `\${${maps.add(KEYS.plain, entries, quote(`${letter}0`))}}` };
}
