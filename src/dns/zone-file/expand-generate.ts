// The range and templates of $GENERATE, BIND's notation for many similar records on one line. Note that `\$` remains an
// escape (the octet "$"), while `$$` becomes a plain "$".

import { TextError } from '../errors.ts';
import type { Token } from '../record/token.ts';
import { ZoneFileLexer } from './zone-file-lexer.ts';

interface GenerateRange {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly count: number;
}

const MAX_RANGE_VALUE = 2 ** 31 - 1;
const MAX_TEMPLATE_CHARACTERS = 2048; // the size of BIND's buffers
const MAX_WIDTH = 255;

/** Parses `start-stop` or `start-stop/step`. */
export function parseGenerateRange(text: string): GenerateRange {
  const match = /^([0-9]{1,10})-([0-9]{1,10})(?:\/([0-9]{1,10}))?$/.exec(text);
  if (match === null) throw new TextError(`"${text}" is not a range such as 1-254 or 0-100/4`);
  const [start, stop, step] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 1)];
  if (Math.max(start, stop, step) > MAX_RANGE_VALUE) {
    throw new TextError(`"${text}" has a number above ${MAX_RANGE_VALUE}`);
  }
  if (start > stop) throw new TextError(`the range "${text}" runs backwards`);
  if (step === 0) throw new TextError(`the range "${text}" has a step of 0`);
  return { start, stop, step, count: Math.floor((stop - start) / step) + 1 };
}

/** Compiles a template with `$` and `${offset[,width[,base]]}` to a function of the number that they represent. */
export function compileTemplate(text: string): (value: number) => string {
  if (text.length > MAX_TEMPLATE_CHARACTERS) {
    throw new TextError(`a $GENERATE template is longer than ${MAX_TEMPLATE_CHARACTERS} characters`);
  }
  const parts: (string | ((value: number) => string))[] = [];
  for (let i = 0; i < text.length; ) {
    if (text[i] === '\\') {
      parts.push(text.slice(i, i + 2));
      i += 2;
    } else if (text.startsWith('$$', i)) {
      parts.push('$');
      i += 2;
    } else if (text.startsWith('${', i)) {
      const end = text.indexOf('}', i);
      parts.push(compileModifier(end < 0 ? text.slice(i) : text.slice(i, end + 1)));
      i = end < 0 ? text.length : end + 1;
    } else if (text[i] === '$') {
      parts.push(String);
      i++;
    } else {
      parts.push(text[i] as string);
      i++;
    }
  }
  return (value) => parts.map((part) => (typeof part === 'string' ? part : part(value))).join('');
}

function compileModifier(text: string): (value: number) => string {
  const match = /^\$\{([+-]?[0-9]{1,10})(?:,([0-9]{1,3})(?:,([doxXnN]))?)?\}$/.exec(text);
  const width = Number(match?.[2] ?? 0);
  if (match === null || width > MAX_WIDTH) {
    throw new TextError(
      `"${text}" is not \${offset,width,base} with a width up to 255 and a base of d o x X n N`,
    );
  }
  const offset = Number(match[1]);
  const base = match[3] ?? 'd';
  return (value) => printNumber(value + offset, width, base);
}

function printNumber(value: number, width: number, base: string): string {
  if (value < 0) throw new TextError(`the offset yields ${value}, a number below 0`);
  switch (base) {
    case 'o':
      return value.toString(8).padStart(width, '0');
    case 'x':
      return value.toString(16).padStart(width, '0');
    case 'X':
      return value.toString(16).toUpperCase().padStart(width, '0');
    case 'n':
      return printNibbles(value.toString(16), width);
    case 'N':
      return printNibbles(value.toString(16).toUpperCase(), width);
    default:
      return String(value).padStart(width, '0');
  }
}

/** Prints hex digits, lowest first, as labels. The width includes the dots, as in BIND. */
function printNibbles(hex: string, width: number): string {
  const digits = [...hex].reverse();
  while (digits.length * 2 < width) digits.push('0');
  const text = digits.join('.');
  return text.length < width ? `${text}.` : text;
}

/**
 * Compiles rdata that is generated for each number. A single quoted word is a template that is split into words
 * afterwards, as in BIND; otherwise each word is a template.
 */
export function compileRdata(words: readonly Token[]): (value: number) => Token[] {
  const [only] = words;
  if (only !== undefined && words.length === 1 && only.quoted) {
    const expand = compileTemplate(only.text.replace(/\\(.)/gs, (all, char) => (char === '"' ? char : all)));
    return (value) => cutWords(expand(value), only);
  }
  const templates = words.map((word) => ({ word, expand: compileTemplate(word.text) }));
  return (value) => templates.map(({ word, expand }) => ({ ...word, text: expand(value) }));
}

function cutWords(text: string, { line, column }: Token): Token[] {
  const lexer = new ZoneFileLexer(text, (_line, _column, message) => {
    throw new TextError(message);
  });
  const words: Token[] = [];
  for (let entry = lexer.next(); entry !== undefined; entry = lexer.next()) words.push(...entry.tokens);
  return words.map((word) => ({ ...word, line, column }));
}
