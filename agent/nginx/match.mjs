// @ts-check
// Prints the requests of a rule as entries of a `map`. The map's key has a line for the host and one for the path, and optionally one
// before them; an entry matches the whole key. The first matching entry decides, like the first matching rule.

import { createHash } from 'node:crypto';
import { quoteRegex, Unwritable } from './quote.mjs';
import { literal, translateRegex, translateWildcard } from './regex.mjs';

/** @typedef {import('../../src/edge/edge-rule.ts').EdgeRule} EdgeRule */
/** @typedef {{ regex: string, groups: number }} Match */

const LINE = String.raw`[^\n]*+\n`;
const END_OF_HOST = String.raw`(?=\n)`;
const END_OF_PATH = String.raw`\z`;

/** Keys of maps. `zf_path` is decoded once, without dot segments and repeated slashes. */
export const KEYS = {
  plain: String.raw`"$host\n$zf_path"`,
  country: String.raw`"$zf_country\n$host\n$zf_path"`,
  agent: String.raw`"$http_user_agent\n$host\n$zf_path"`,
};

/**
 * Returns an expression for each include.
 * @param {EdgeRule} rule
 * @param {string} lead expression for the line before the host, with its end
 * @returns {Match[]}
 */
export function matchesOf(rule, lead = '') {
  if ('needs_linear_engine' in rule) {
    throw new Unwritable('nginx does not support a regular expression with nested repetitions');
  }
  const { type, includes, excludes } = rule.path;
  const excluded = excludes.map((text) => patternOf(type, text, false).regex);
  const except = excluded.length === 0 ? '' : `(?!${excluded.join('|')})`;
  return includes.map((text) => {
    const { regex, groups } = patternOf(type, text, true);
    const whole = `\\A${lead}${hostOf(rule)}${except}${regex}`;
    quoteRegex(whole); // validated here, so that errors are reported for this rule
    return { regex: whole, groups };
  });
}

/**
 * @param {'wildcard' | 'regex'} type
 * @param {string} text
 * @param {boolean} captures
 */
function patternOf(type, text, captures) {
  if (type !== 'regex') return { regex: translateWildcard(text, END_OF_PATH), groups: 0 };
  const { written, groups } = translateRegex(text, { end: END_OF_PATH, captures });
  return { regex: String.raw`[^\n]*?${written}`, groups };
}

/** @param {EdgeRule} rule */
function hostOf({ host }) {
  switch (host?.type) {
    case undefined:
      return LINE;
    case 'exact':
      return String.raw`${literal(host.pattern)}\n`;
    case 'wildcard':
      return `(?=${translateWildcard(host.pattern, END_OF_HOST)})${LINE}`;
    default: {
      const { written } = translateRegex(host?.pattern ?? '', { end: END_OF_HOST, captures: false });
      return String.raw`(?=[^\n]*?${written})${LINE}`;
    }
  }
}

/** True if a search needs more than one pass over the text. @param {string} regex */
export function isSearch(regex) {
  return /\[\^\\n\]\*(?!\+|\\z|\(\?=\\n\))/.test(regex);
}

/** The maps of one domain. Hosts share equal maps, because each nginx variable costs every request 16 octets. */
export class Maps {
  /** @type {Map<string, string>} */
  #texts = new Map();
  bytes = 0;

  /** @param {string} prefix */
  constructor(prefix) {
    this.prefix = prefix;
  }

  /**
   * @param {string} key
   * @param {readonly (readonly [regex: string, value: string])[]} entries values are quoted
   * @param {string} otherwise
   * @param {string} unknown value if an entry took too many steps, so that it is unknown whether it or a later one matches
   * @returns {string} the name of the variable
   */
  add(key, entries, otherwise = '""', unknown = otherwise) {
    const last = unknown === otherwise ? [] : [/** @type {const} */ (['\\A', otherwise])];
    const lines = [...entries, ...last].map(([regex, value]) => `  ${quoteRegex(regex)} ${value};\n`);
    const body = `{\n  default ${unknown};\n${lines.join('')}}\n`;
    const name = `${this.prefix}_${createHash('sha256').update(`${key}${body}`).digest('hex').slice(0, 12)}`;
    if (!this.#texts.has(name)) this.bytes += body.length;
    this.#texts.set(name, `map ${key} $${name} ${body}`);
    return name;
  }

  print() {
    return [...this.#texts.values()].join('');
  }
}
