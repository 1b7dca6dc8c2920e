// A zone's name as an operator types it: with or without the final dot, in any case. Unicode is refused with the
// A-label to write instead: mapping it silently needs UTS 46, which Node's URL parser only resembles.

import { domainToASCII } from 'node:url';
import { TextError } from '../dns/errors.ts';
import { foldCase, type Name, parseName, ROOT } from '../dns/name.ts';
import { Failure } from './failure.ts';

export function parseZoneName(text: string): Name {
  if (/[^\0-\x7f]/.test(text)) throw new Failure('usage', `"${text}" is not in ASCII; ${suggestion(text)}`);
  if (text === '@') throw new Failure('usage', '"@" stands for no zone here; write the name');
  try {
    return foldCase(parseName(text, ROOT));
  } catch (error) {
    if (error instanceof TextError) throw new Failure('usage', `not a zone's name: ${error.message}`);
    throw error;
  }
}

function suggestion(text: string): string {
  const ascii = domainToASCII(text);
  return ascii.includes('xn--') ? `write its A-label: ${ascii}` : 'write its A-label (xn--…)';
}
