// @ts-check
// The one way for texts of customers into a file that nginx reads. What cannot be written is refused, and its rule is reported.

/** nginx reads its files in pieces of 4,096 octets, and no word may be longer. */
const MAX_WORD = 3_900;
const MAX_STEPS = 50_000;
/** A variable whose value is a dollar. */
const DOLLAR = `\${zf_dollar}`;

/** A text that nginx cannot be told; the message says why, for the report. */
export class Unwritable extends Error {}

/** A variable of nginx, beside which texts stay texts. */
export class Variable {
  /** @param {string} name */
  constructor(name) {
    if (!/^[a-z0-9_]+$/.test(name)) throw new Error(`not the name of a variable: ${name}`);
    this.name = name;
  }
}

/** A group of the regular expression that has just matched, as `$1`. */
export class Capture {
  /** @param {number} group */
  constructor(group) {
    this.group = whole(group, 1, 9);
  }
}

/** @param {string} name */
export const variable = (name) => new Variable(name);

/**
 * One word of the configuration. Within double quotes only the backslash, the quote and `$` mean something; for the last there
 * is no escape, so a variable stands for it (`zf_dollar`, defined by `geo`, whose values are taken as they are).
 * @param {readonly (string | Variable | Capture)[]} parts
 */
export function quote(...parts) {
  return `"${boundWord(parts.map(printPart).join(''))}"`;
}

/** @param {string | Variable | Capture} part */
function printPart(part) {
  if (part instanceof Variable) return `\${${part.name}}`;
  if (part instanceof Capture) return `$${part.group}`;
  return plainText(part)
    .replaceAll(/[\\"]/g, '\\$&')
    .replaceAll('$', () => DOLLAR);
}

/**
 * A regular expression as the first word of an entry of `map`, where variables are not looked for. PCRE gives up after so many
 * steps, some 0.1 ms; nginx goes on with the map's default then, and does not try later entries.
 * @param {string} regex made by regex.mjs
 */
export function quoteRegex(regex) {
  if (regex.includes('$')) throw new Error('a regular expression that was not translated');
  return quote(`~(*LIMIT_MATCH=${MAX_STEPS})${regex}`);
}

/** @param {string} word */
function boundWord(word) {
  if (Buffer.byteLength(word) > MAX_WORD) throw new Unwritable('a text of it is too long for nginx');
  return word;
}

/** @param {string} text */
function plainText(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text)) throw new Unwritable('control characters');
  // A half of a surrogate pair has no UTF-8.
  if (/\p{Surrogate}/u.test(text)) throw new Unwritable('text that is not Unicode');
  return text;
}

/**
 * A number that a rule brings.
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 */
export function whole(value, least, most) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new Unwritable(`expected a whole number from ${least} to ${most}`);
  return value;
}

/**
 * A word of a known list.
 * @template {string | number} T
 * @param {T} value
 * @param {readonly T[]} known
 */
export function oneOf(value, known) {
  if (!known.includes(value)) throw new Unwritable(`expected one of ${known.join(', ')}`);
  return value;
}

const HOST = /^(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** @param {string} host */
export function isHostName(host) {
  return typeof host === 'string' && host.length <= 253 && HOST.test(host);
}
