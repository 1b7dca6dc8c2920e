// @ts-check
// Shared parts of all rule types. A rule that nginx does not support is omitted and reported.

import { isSearch, KEYS, matchesOf } from './match.mjs';
import { quote, Unwritable, whole } from './quote.mjs';

/**
 * @typedef {import('../../src/edge/edge-rule.ts').EdgeRule} EdgeRule
 * @typedef {import('./match.mjs').Maps} Maps
 * @typedef {import('./domain.mjs').RuleReport} RuleReport
 * @typedef {readonly (readonly [regex: string, value: string])[]} Entries for a map; values are quoted
 */

/** Maximum number of entries: a request may be compared with all of them. */
const MAX_ENTRIES = 2_000;
/** Maximum number of entries that need a search, each of which may use the maximum number of steps. */
const MAX_SEARCHES = 400;

/**
 * @template {EdgeRule['type']} T
 * @typedef {Extract<EdgeRule, { type: T }>} RuleOf
 */

/**
 * Prints the rules of one type, in their order, and reports those that cannot be printed.
 * @template {EdgeRule['type']} T
 * @template U
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {RuleReport} report
 * @param {(rule: RuleOf<T>) => U} write
 * @returns {{ rule: RuleOf<T>, written: U }[]}
 */
export function writeEach(rules, type, report, write) {
  return rules.flatMap((each) => {
    if (each.type !== type) return [];
    const rule = /** @type {RuleOf<T>} */ (each);
    try {
      whole(rule.id, 1, Number.MAX_SAFE_INTEGER);
      return { rule, written: write(rule) };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      report.add(rule.id, error.message);
      return [];
    }
  });
}

/**
 * Returns the rules up to a limit of the cost per request, and reports the others.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {RuleReport} report
 */
export function affordable(written, report) {
  let entries = 0;
  let searches = 0;
  return written.filter((each) => {
    const more = each.written.filter(([regex]) => isSearch(regex)).length;
    if (entries + each.written.length > MAX_ENTRIES)
      report.add(each.rule.id, `more than ${MAX_ENTRIES} patterns`);
    else if (searches + more > MAX_SEARCHES)
      report.add(each.rule.id, `more than ${MAX_SEARCHES} patterns that are searched for`);
    else {
      entries += each.written.length;
      searches += more;
      return true;
    }
    return false;
  });
}

/**
 * Returns the entries of a map.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {RuleReport} report
 */
export function entriesOf(written, report) {
  return affordable(written, report).flatMap((each) => each.written);
}

/** Value of a map if it is unknown whether a rule matches. */
export const UNKNOWN = 'unknown';

/** Rejects such requests, so that a path that takes long to match does not bypass a rule. @param {string} name */
export const refuseUnknown = (name) => `  if ($${name} = ${UNKNOWN}) { return 400; }\n`;

/**
 * Prints rules that may be in dry run, which only set `zf_dry` for the log.
 * @template {EdgeRule} R
 * @param {readonly { rule: R, written: Entries }[]} written
 * @param {string} key
 * @param {Maps} maps
 * @param {RuleReport} report
 * @param {(name: string) => string} print
 * @param {string} [unknown] as for a map
 */
export function printEnding(written, key, maps, report, print, unknown) {
  const of = (/** @type {string} */ mode) => written.filter(({ rule }) => rule.action_mode === mode);
  const enforced = entriesOf(of('enforce'), report);
  const noted = of('dry_run').map(({ rule, written: entries }) => {
    const id = quote(`${rule.id} `);
    return { rule, written: entries.map(([regex]) => /** @type {const} */ ([regex, id])) };
  });
  const dry = entriesOf(noted, report);
  const dryPart = dry.length === 0 ? '' : `  set $zf_dry "\${zf_dry}\${${maps.add(key, dry)}}";\n`;
  return dryPart + (enforced.length === 0 ? '' : print(maps.add(key, enforced, '""', unknown)));
}

/**
 * Selects the first rule of a type that matches: returns the name of a variable that has the rule's index.
 * @template {EdgeRule['type']} T
 * @param {readonly EdgeRule[]} rules
 * @param {T} type
 * @param {string} letter
 * @param {Maps} maps
 * @param {RuleReport} report
 * @param {(rule: RuleOf<T>) => void} judge
 */
export function firstOf(rules, type, letter, maps, report, judge) {
  const written = writeEach(rules, type, report, (rule) => {
    const matches = matchesOf(rule);
    judge(rule);
    return matches;
  });
  const entries = entriesOf(
    written.map(({ rule, written: matches }, i) => ({
      rule,
      written: matches.map(({ regex }) => /** @type {const} */ ([regex, quote(`${letter}${i + 1}`)])),
    })),
    report,
  );
  const chosen = written.map(({ rule }) => rule);
  return entries.length === 0
    ? { chosen, part: `${letter}0` }
    : { chosen, part: `\${${maps.add(KEYS.plain, entries, quote(`${letter}0`))}}` };
}
