// @ts-check
// The only way in which customers' texts get into an nginx file. A text that cannot be written is rejected, and its rule is reported.

/** nginx reads its files in buffers of 4,096 octets, and no word may be longer. */
const MAX_WORD = 3_900;
const MAX_STEPS = 50_000;
/** A variable with the value `$`. */
const DOLLAR = `\${zf_dollar}`;

/** A text that cannot be written for nginx. The message is the reason for the report. */
export class Unwritable extends Error {}

/** A variable of nginx, in contrast to literal text. */
export class Variable {
  /** @param {string} name */
  constructor(name) {
    if (!/^[a-z0-9_]+$/.test(name)) throw new Error(`not the name of a variable: ${name}`);
    this.name = name;
  }
}

/** A group of the regular expression that has just matched, such as `$1`. */
export class Capture {
  /** @param {number} group */
  constructor(group) {
    this.group = whole(group, 1, 9);
  }
}

/** @param {string} name */
export const variable = (name) => new Variable(name);

/**
 * Prints one word of the configuration. Within double quotes only the backslash, the quote and `$` are special. `$` cannot be escaped,
 * so a variable replaces it (`zf_dollar`, defined by `geo`, whose values are literal).
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
 * Prints a regular expression as the first word of a `map` entry, where variables are not expanded. PCRE stops after a number of steps,
 * about 0.1 ms; nginx then uses the map's default without trying later entries.
 * @param {string} regex made by regex.mjs
 */
export function quoteRegex(regex) {
  if (regex.includes('$')) throw new Error('the regular expression was not translated');
  return quote(`~(*LIMIT_MATCH=${MAX_STEPS})${regex}`);
}

/** @param {string} word */
function boundWord(word) {
  if (Buffer.byteLength(word) > MAX_WORD) throw new Unwritable('a text is too long for nginx');
  return word;
}

/** @param {string} text */
function plainText(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for these
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text))
    throw new Unwritable('a text has control characters');
  // Unpaired surrogates have no UTF-8 encoding.
  if (/\p{Surrogate}/u.test(text)) throw new Unwritable('a text is not valid Unicode');
  return text;
}

/** Validates a number of a rule. @param {unknown} value @param {number} least @param {number} most */
export function whole(value, least, most) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new Unwritable(`expected a whole number from ${least} to ${most}`);
  return value;
}

/**
 * Validates a word from a known list.
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
